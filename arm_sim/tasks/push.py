"""A push: the arm holds its pose while the tool is pushed for a moment."""

from dataclasses import dataclass

import numpy as np

from arm_dynamics.checks import in_range
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.loop import events
from arm_sim.tasks import Task, TaskEvaluation
from arm_sim.tasks._fitting import note_smaller, share_of_effort

# Least joint torque of a push that moves the arm, as a share of the largest of any direction.
_LEAST_EFFECT = 0.01
_USUAL = (0.0, 20.0, 0.0)  # force [N]


@dataclass(frozen=True)
class PushParameters(Parameters):
    """Parameters of the push."""

    force: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), 'force at the tool frame, base-aligned [N]; zero: 20 along y, or as much '
        'of it as the efforts of the joints allow', length=3, min=-1e6, max=1e6,
    )  # fmt: skip
    begin: float = parameter(0.3, 'begin of the push [s]', min=0)
    end: float = parameter(0.5, 'end of the push [s]')
    duration: float = parameter(2.0, 'duration of the measurement [s]')

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range('end', self.end, self.begin, exclusive=True)
        in_range('duration', self.duration, self.end, 3600.0)


class Push(Task):
    """The tool is pushed while the arm holds the robot's start."""

    Parameters = PushParameters
    evaluation = TaskEvaluation(compared=2)

    def prepare(self) -> None:
        """Set the force and its times.

        A force f that the structure of the arm carries, J^T f = 0 at the start, would measure
        nothing: the push is along the base axis with the largest joint torque instead.
        """
        p = self.parameters
        by_default = not any(p.force)
        force = np.array(_USUAL if by_default else p.force)
        jacobian = self.robot.model.jacobian(self.robot.start)[:3]
        size, most = np.linalg.norm(force), np.linalg.norm(jacobian, 2)
        if np.linalg.norm(jacobian.T @ force) < _LEAST_EFFECT * most * size:
            given = force.tolist()
            axis = int(np.argmax(np.linalg.norm(jacobian, axis=1)))
            force = size * np.eye(3)[axis]
            self.notes = (
                f'force {given} N loads no joint of {self.robot.name} at its start; '
                f'{size:g} N along {"xyz"[axis]} of the base frame instead',
            )
        if by_default:
            hold = self.robot.model.gravity_torque(self.robot.start)[np.newaxis]
            share = share_of_effort(self, hold, self.robot.start[np.newaxis], force)
            force = force * min(1.0, share)
            note_smaller(self, share * size, size, 'N')
        wrench = (*force.tolist(), 0.0, 0.0, 0.0)
        self.push = events.Push(self.robot.model.tip_frame, wrench, p.begin, p.end)
        self.event = p.end
        self.duration = p.duration
