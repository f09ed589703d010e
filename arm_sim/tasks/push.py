"""A push: the arm holds its pose while the tool is pushed for a moment."""

from dataclasses import dataclass

from arm_controllers.reference import Reference
from arm_dynamics.checks import in_range
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.loop import events
from arm_sim.tasks import Task


@dataclass(frozen=True)
class PushParameters(Parameters):
    """Parameters of the push."""

    force: tuple[float, ...] = parameter(
        (0.0, 20.0, 0.0), 'force at the tool frame, base-aligned [N]', length=3, min=-1e6, max=1e6
    )
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
    compared = 2

    def prepare(self) -> None:
        """Set who pushes."""
        p = self.parameters
        wrench = (*p.force, 0.0, 0.0, 0.0)
        self.push = events.Push(self.robot.model.tip_frame, wrench, p.begin, p.end)
        self.event = p.end
        self.duration = p.duration

    def reference(self, t: float, reference: Reference) -> None:
        """Write rest at the robot's start."""
        reference.row[:] = 0.0
        reference.q[:] = self.robot.start
