"""Results of tuning: table, numbers, picture and parameter file of a law; a table of every law."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from matplotlib.figure import Figure

from arm_controllers.laws import LAWS
from arm_controllers.parameter_values import as_ros_value
from arm_dynamics.checks import Array
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.report import Listing
from arm_lab.tuning.search import Found, Outcome, RequiredMargins, validate
from arm_sim import pictures
from arm_sim.loop.report import write_json
from arm_sim.output_folder import whole_file

_SHOWN = 1000  # arms as dots


class Tuned(NamedTuple):
    """A tuning with its validation.

    Attributes:
        experiment, margins, found: the request, and the answer.
        names: of the parameters that were varied.
        shipped, tuned: COLUMNS (arms, 4) of fresh arms, the same ones.
    """

    experiment: Experiment
    margins: RequiredMargins
    found: Found
    names: Sequence[str]
    shipped: Array
    tuned: Array

    @property
    def holds(self) -> bool:
        """Whether no fresh arm is unstable."""
        return not Outcome.of(self.tuned).unstable

    def listing(self) -> Listing:
        """Return the table."""
        experiment, rows = self.experiment, []
        for name, outcome in (
            ('shipped, fresh arms', Outcome.of(self.shipped)),
            ('tuned, the arms it was tuned on', self.found.outcome),
            ('tuned, fresh arms', Outcome.of(self.tuned)),
        ):
            unstable = f'{outcome.unstable} of {outcome.arms}'
            rows.append([
                name, f'{outcome.rms_mm:.4g}', f'{outcome.torque:.0%}', f'{outcome.chatter:.2%}',
                unstable,
            ])  # fmt: skip
        headings = ['gains', '95 % RMS [mm]', 'torque', 'chatter', 'unstable']
        on = f'{experiment.robot_label}, {experiment.task}, {experiment.engine}'
        title = f'{experiment.law} on {on}'
        return Listing(title, headings, rows, [2] if self.holds else [])

    def parameter_file(self) -> str:
        """Return the text of the file that launch files take as `config`."""
        gains = {name: as_ros_value(getattr(self.found.parameters, name)) for name in self.names}
        # The drive's gains are the simulator's as well.
        node = '/**' if 'servo_kp' in gains else f'{self.experiment.law}_controller'
        fresh, e = Outcome.of(self.tuned), self.experiment
        head = (
            f'# {e.law} on {e.robot}, tuned for {e.task}: 95 % of {fresh.arms} drawn arms below '
            f'{fresh.rms_mm:.4g} mm RMS\n'
            f'# (shipped gains: {Outcome.of(self.shipped).rms_mm:.4g} mm), '
            f'{fresh.unstable} unstable.\n'
        )
        return head + yaml.safe_dump({node: {'ros__parameters': gains}}, default_flow_style=None)

    def write(self, folder: Path, command: str) -> list[str]:
        """Write the files; return their names. Gains that are not stable get no parameter file."""
        stem = f'tune_{self.experiment.law}'
        report = {
            'command': command,
            'gains': {name: getattr(self.found.parameters, name) for name in self.names},
            'margins': vars(self.margins),
            'shipped_fresh': Outcome.of(self.shipped)._asdict(),
            'tuned_on': self.found.outcome._asdict(),
            'tuned_fresh': Outcome.of(self.tuned)._asdict(),
            'scores': self.found.scores,
        }
        write_json(folder / f'{stem}.json', report)
        pictures.save(tuning_figure(self), folder / f'{stem}.png')
        names = [f'{stem}.json', f'{stem}.png']
        if self.holds:
            with whole_file(folder / f'{stem}.yaml') as file:
                file.write(self.parameter_file().encode())
            names.insert(0, f'{stem}.yaml')
        return names


def tuning_figure(tuned: Tuned) -> Figure:
    """Return the picture: each fresh arm's error and chatter, before and after."""
    experiment = tuned.experiment
    title = f'{experiment.robot_label}, {experiment.task}: {experiment.law}, shipped and tuned'
    figure = pictures.new_figure(9.5, 4.2, title)
    shares, dots = pictures.panels(figure, 2, 2)
    for name, rows, color in (
        ('shipped', tuned.shipped, pictures.ORANGE),
        ('tuned', tuned.tuned, pictures.BLUE),
    ):
        rms = np.sort(rows[:, 0])
        share = 100.0 * np.arange(1, len(rms) + 1) / len(rms)
        finite = np.isfinite(rms)
        shares.plot(rms[finite], share[finite], color=color, lw=1.8)
        most = Outcome.of(rows).rms_mm
        if np.isfinite(most):
            shares.plot(most, 95.0, 'o', color=color, ms=6)
            shares.annotate(
                f'{name}\n{most:.3g} mm', (most, 95.0), (-8, -4), textcoords='offset points',
                ha='right', va='top', color=color, fontsize=pictures.SMALL,
            )  # fmt: skip
        shown = rows[:_SHOWN]
        shown = shown[np.isfinite(shown[:, 0])]
        dots.plot(
            shown[:, 0], 100.0 * shown[:, 2], '.', color=color, ms=3, alpha=0.5, mew=0, label=name
        )
    shares.axhline(95.0, color=pictures.QUIET, lw=0.8, zorder=0)
    limit = 100.0 * tuned.margins.chatter
    dots.axhline(limit, color=pictures.QUIET, lw=1.2)
    dots.annotate(
        'margin', (1.0, limit), (-2, 3), xycoords=('axes fraction', 'data'),
        textcoords='offset points', ha='right', fontsize=pictures.SMALL, color='0.45',
    )  # fmt: skip
    for axis in (shares, dots):
        axis.set_xscale('log')
    dots.set_yscale('log')
    rms_label = "an arm's tracking error, RMS [mm]"
    pictures.style(shares, '', rms_label, 'fresh arms below [%]', grid='both')
    pictures.style(dots, '', rms_label, 'chatter [% of the torque limits]', grid='both')
    pictures.legend(dots, loc='lower left', markerscale=4)
    return figure


BELIEVED = 500  # arms that are as the law believes
_NEAR = 0.95  # of a margin, or of the error, from which it is what binds


class Surveyed(NamedTuple):
    """A law's tuning.

    Attributes:
        law: by name.
        tuned: its tuning; None where there is none.
        believed_mm: 95 % RMS of the tuned gains where the arm is as the law believes: what noise
            and delay alone leave [mm].
        seconds: that search and both validations took.
        reason: why there is no tuning.
    """

    law: str
    tuned: Tuned | None = None
    believed_mm: float = float('nan')
    seconds: float = float('nan')
    reason: str = ''

    @property
    def binds(self) -> str:
        """What keeps the error from being less, as far as it is plain."""
        if self.tuned is None:
            return ''
        margins, chosen = self.tuned.margins, self.tuned.found.outcome
        words = []
        if chosen.chatter > _NEAR * margins.chatter:
            words.append('chatter')
        if chosen.torque > _NEAR * margins.torque:
            words.append('torque')
        if self.believed_mm > _NEAR * Outcome.of(self.tuned.tuned).rms_mm:
            words.append('noise, delay')
        return ', '.join(words) or 'search'


def tunable_laws() -> list[str]:
    """Return the laws with gains whose commands a batch takes: torques or positions."""
    return [
        name
        for name, law in LAWS.load_all().items()
        if (law.evaluation.tuned or law.gains) and law.command_interface != 'voltage'
    ]


def believed(tuned: Tuned, executor: Executor) -> float:
    """Return the 95 % RMS [mm] of the tuned gains on arms as the law believes them."""
    exact = replace(tuned.experiment.ranges, mass=0.0, friction=0.0, effort=1.0)
    experiment = replace(tuned.experiment, ranges=exact)
    rows = validate(experiment, tuned.found.parameters, BELIEVED, executor, lambda done: None)
    return Outcome.of(rows).rms_mm


def survey_listing(rows: Sequence[Surveyed], title: str) -> Listing:
    """Return the table, a row per law."""
    cells = []
    for row in rows:
        if row.tuned is None:
            cells.append([row.law, *['-'] * 6, 'refused', '-'])
            continue
        before, after = Outcome.of(row.tuned.shipped), Outcome.of(row.tuned.tuned)
        cells.append([
            row.law, f'{before.rms_mm:.4g}', f'{after.rms_mm:.4g}',
            f'{before.rms_mm / after.rms_mm:.3g}', f'{row.believed_mm:.4g}',
            f'{before.chatter:.2%}, {after.chatter:.2%}', f'{after.unstable} of {after.arms}',
            row.binds, f'{row.seconds:.0f}',
        ])  # fmt: skip
    headings = [
        'law', 'shipped [mm]', 'tuned [mm]', 'better', 'as believed [mm]', 'chatter', 'unstable',
        'what binds', 'time [s]',
    ]  # fmt: skip
    return Listing(title, headings, cells)
