"""Parameters of every controller node."""

from dataclasses import dataclass

from arm_dynamics.arm_parameters import ArmParameters
from arm_dynamics.checks import in_range, one_of


@dataclass(frozen=True)
class ControllerParameters(ArmParameters):
    """Parameters of every controller node, beside those of its law and its follower.

    Attributes:
        timestep: the plant's integration step [s].
        control_decimation: the plant's steps a control period.
        mode: the simulator's; in 'realtime' goals are taken in a thread and checked in slices.
        state_publish_rate: rate of ~/controller_state [Hz of simulated time].
        action_monitor_rate: rate of the action's feedback [Hz of simulated time].
        state_timeout: wall-clock time without a state before goals are aborted [s].
        autostart: configure and activate by itself.
        core: run on this CPU core only; -1: on any.
    """

    timestep: float = 0.002
    control_decimation: int = 1
    mode: str = 'lockstep'
    state_publish_rate: float = 50.0
    action_monitor_rate: float = 20.0
    state_timeout: float = 10.0
    autostart: bool = False
    core: int = -1

    def __post_init__(self):
        """Raises ArmError."""
        in_range('timestep', self.timestep, 0.0, 0.1, exclusive=True)
        in_range('control_decimation', self.control_decimation, 1, 1000)
        one_of('mode', self.mode, ('lockstep', 'realtime'))
        in_range('state_publish_rate', self.state_publish_rate, 0.1, 10_000.0)
        in_range('action_monitor_rate', self.action_monitor_rate, 0.1, 10_000.0)
        in_range('state_timeout', self.state_timeout, 0.1)
