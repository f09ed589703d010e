"""Every law tuned on one arm: what each was, what it became, and what keeps it from less."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import NamedTuple

from arm_controllers.laws import law_class, law_names
from arm_dynamics.checks import ArmError
from arm_sim.experiments.report import Listing
from arm_sim.tuning.report import Tuned
from arm_sim.tuning.search import Outcome, validate

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
    found = []
    for name in law_names():
        try:
            law = law_class(name)
        except ArmError:  # a plugin that cannot be imported
            continue
        if (law.tuned or law.gains) and law.command_interface != 'voltage':
            found.append(name)
    return found


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
