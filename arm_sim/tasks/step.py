"""A step: all joints jump at once. A trajectory goal cannot jump; there it takes 0.4 s."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.reference import Reference
from arm_dynamics.checks import Array, in_range
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.loop.goals import sampled
from arm_sim.tasks import Task, TaskEvaluation
from arm_sim.tasks._fitting import fit, within

RISE = 0.4  # [s] in a goal
_USUAL = 0.1  # jump [rad | m]
_FASTEST = 1.875  # largest over mean speed of a quintic from rest to rest


@dataclass(frozen=True)
class StepParameters(Parameters):
    """Parameters of the step."""

    size: float = parameter(
        0.0,
        'jump of every joint, within its limits [rad | m]; 0: 0.1, or as much of it as range, '
        'speed and effort of the joints allow',
        min=-100.0,
        max=100,
    )
    at: float = parameter(0.1, 'time of the jump [s]', min=0.01, max=1000)
    duration: float = parameter(1.6, 'duration of the measurement [s]')

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range('duration', self.duration, self.at + 2.0 * RISE, 3600.0)


class Step(Task):
    """All joints jump from the robot's start."""

    Parameters = StepParameters
    evaluation = TaskEvaluation(compared=1)
    remedy = '; lower size of task step'

    def prepare(self) -> None:
        """Set where to jump, and when."""
        p, model = self.parameters, self.robot.model
        self.event, self.duration = p.at, p.duration
        if p.size:
            self._use(np.full(model.nv, p.size))
            return
        usual = within(self, _USUAL, _FASTEST / RISE)
        back = self.robot.start + usual > model.position_upper
        fit(self, lambda size: self._use(np.where(back, -size, size)), usual, _USUAL)

    def _use(self, jump: Array) -> None:
        model = self.robot.model
        self._after = np.clip(self.robot.start + jump, model.position_lower, model.position_upper)

    def reference(self, t: float, reference: Reference) -> None:
        """Write rest before or after the jump."""
        reference.row[:] = 0.0
        reference.q[:] = self._after if t >= self.parameters.at else self.robot.start

    def points(self) -> tuple[Array, tuple[Array, ...]]:
        """Return rest, the last rest before the jump, the first after it, and rest."""
        at = self.parameters.at
        times = np.round(np.array((0.0, at - 1e-3, at + RISE, self.duration)) * 1e9) * 1e-9
        return times, sampled(self.reference, times, self.robot.model.nv)
