"""A push: the arm holds its pose while the tool is pushed for a moment."""

from dataclasses import dataclass

from arm_controllers.reference import Reference
from arm_dynamics.checks import in_range
from arm_dynamics.errors import ArmError
from arm_sim.runs import closed_loop
from arm_sim.tasks import Task


@dataclass(frozen=True)
class PushParameters:
    """Parameters of the push.

    Attributes:
        force: at the tool frame, base-aligned [N].
        begin: of the push [s].
        end: of the push [s].
        duration: measured time [s].
    """

    force: tuple[float, ...] = (0.0, 20.0, 0.0)
    begin: float = 0.3
    end: float = 0.5
    duration: float = 2.0

    def __post_init__(self):
        """Raises ArmError."""
        if len(self.force) != 3:
            raise ArmError(f'force is {self.force}; it must be three numbers [N]')
        for number in self.force:
            in_range('force', number, -1e6, 1e6)
        in_range('begin', self.begin, 0.0)
        in_range('end', self.end, self.begin, exclusive=True)
        in_range('duration', self.duration, self.end, 3600.0)


class Push(Task):
    """The tool is pushed while the arm holds the robot's start."""

    Parameters = PushParameters
    compared = 2

    def prepare(self) -> None:
        """Set who pushes."""
        p = self.parameters
        wrench = (*p.force, 0.0, 0.0, 0.0)
        self.push = closed_loop.Push(self.robot.model.tip_frame, wrench, p.begin, p.end)
        self.event = p.end
        self.duration = p.duration

    def reference(self, t: float, reference: Reference) -> None:
        """Write rest at the robot's start."""
        reference.row[:] = 0.0
        reference.q[:] = self.robot.start
