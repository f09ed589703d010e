"""Parameters of every controller node."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from arm_controllers.adapted_law import LawAdaptation
from arm_controllers.drive_convention import DriveConvention
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.laws import law_class
from arm_controllers.parameter_values import ParameterField, parameter_fields
from arm_controllers.ros.live_parameters import FREQUENCY_AND_RATIO
from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError
from arm_dynamics.parameters import Stepping, parameter
from arm_dynamics.robots import PartParameters


@dataclass(frozen=True)
class ControllerParameters(PartParameters, Stepping, DriveConvention, LawAdaptation):
    """Parameters of every controller node, without those of its law and its follower."""

    mode: str = parameter(
        'lockstep',
        "mode of the simulator; in 'realtime' the node takes goals in a thread, checks in slices",
        one_of=('lockstep', 'realtime'),
    )
    state_publish_rate: float = parameter(
        50.0, 'rate of ~/controller_state [Hz of simulated time]', min=0.1, max=10_000.0
    )
    action_monitor_rate: float = parameter(
        20.0,
        "rate of the action's feedback [Hz of simulated time, at most of the wall clock]",
        min=0.1,
        max=10_000.0,
    )
    state_timeout: float = parameter(
        10.0, 'wall-clock time without a state before goals are aborted [s]', min=0.1
    )
    autostart: bool = parameter(False, 'if true, the node activates itself')
    core: int = parameter(-1, 'CPU core to run on; -1: any core')

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reference_motion == 'discrete' and self.control_decimation != 1:
            raise ArmError(
                "reference_motion 'discrete' needs control_decimation 1, not"
                f' {self.control_decimation}'
            )


# Parameters of joint_trajectory_controller that say what is always so here, or what laws decide.
_WITHOUT_MEANING = (
    'command_interfaces',
    'command_joints',
    'gains',
    'interpolate_from_desired_state',
    'open_loop_control',
    'positions_upsampling',
    'set_last_command_interface_value_as_state_on_activation',
    'speed_scaling.command_interface',
    'speed_scaling.state_interface',
    'state_interfaces',
)


def without_meaning(name: str, *parameters: object) -> bool:
    """Whether a parameter, or the one it is part of, is accepted and has no effect here.

    `parameters`: classes of parameters with names `without_meaning` of their own.
    """
    known = [getattr(each, 'without_meaning', ()) for each in parameters]
    return any(f'{name}.'.startswith(f'{each}.') for each in chain(_WITHOUT_MEANING, *known))


def controller_fields(law_name: str, joint_names: Sequence[str]) -> Iterator[ParameterField]:
    """Yield the parameters of the controller with this law, for an arm with these joints."""
    yield from parameter_fields(ControllerParameters)
    yield from parameter_fields(ModelError, 'model_error.')
    yield from parameter_fields(GuardParameters, GuardParameters.prefix)
    with suppress(ArmError):  # a plugin that cannot be imported is refused where it is to run
        law = law_class(law_name)
        yield from parameter_fields(law.Parameters)
        yield from FREQUENCY_AND_RATIO if law.gains else ()
    yield from parameter_fields(FollowerParameters, joint_names=joint_names)
