"""The parameters that a controller's node may have, known without its model."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.laws import law_class
from arm_controllers.parameter_values import ParameterField, parameter_fields
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_controllers.ros.live_parameters import FREQUENCY_AND_RATIO
from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError


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
