"""Parameters of every controller node."""

from dataclasses import dataclass

from arm_dynamics.model import ArmParameters
from arm_dynamics.parameters import Stepping, parameter


@dataclass(frozen=True)
class ControllerParameters(ArmParameters, Stepping):
    """Parameters of every controller node, beside those of its law and its follower."""

    mode: str = parameter(
        'lockstep',
        "the simulator's; in 'realtime' goals are taken in a thread and checked in slices",
        one_of=('lockstep', 'realtime'),
    )
    state_publish_rate: float = parameter(
        50.0, 'rate of ~/controller_state [Hz of simulated time]', min=0.1, max=10_000.0
    )
    action_monitor_rate: float = parameter(
        20.0, "rate of the action's feedback [Hz of simulated time]", min=0.1, max=10_000.0
    )
    state_timeout: float = parameter(
        10.0, 'wall-clock time without a state before goals are aborted [s]', min=0.1
    )
    autostart: bool = parameter(False, 'configure and activate by itself')
    core: int = parameter(-1, 'run on this CPU core only; -1: on any')
