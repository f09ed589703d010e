"""Results of a tuning: a table, numbers, a picture, and the parameter file for launch files."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from matplotlib.figure import Figure

from arm_controllers.parameter_values import as_ros_value
from arm_dynamics.checks import Array
from arm_sim import pictures
from arm_sim.experiments.experiment import Experiment
from arm_sim.experiments.report import Listing
from arm_sim.loop.report import write_json
from arm_sim.output_folder import whole_file
from arm_sim.tuning.search import Found, Margins, Outcome

_SHOWN = 1000  # arms as dots


class Tuned(NamedTuple):
    """A tuning with its validation.

    Attributes:
        experiment, margins, found: the request, and the answer.
        names: of the parameters that were varied.
        shipped, tuned: COLUMNS (arms, 4) of fresh arms, the same ones.
    """

    experiment: Experiment
    margins: Margins
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
        title = f'{experiment.law} on {experiment.robot}, {experiment.task}, {experiment.engine}'
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
    title = f'{experiment.robot}, {experiment.task}: {experiment.law}, shipped and tuned'
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
