"""An arm that differs from its model, for the simulator's node."""

from typing import Any

import yaml

from arm_controllers.parameter_values import read_fields
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.output_folder import temporary_folder


def wrong_arm_parameters(model: RobotModel, error: ModelError) -> dict[str, Any]:
    """Return the simulator's parameters for an arm that differs from `model` by `error`.

    Its URDF is written to a folder that lives as long as this process.
    """
    if error.is_none:
        return {}
    wrong = with_error(model, error)
    path = temporary_folder() / 'wrong_arm.urdf'
    path.write_text(wrong.urdf)
    return {'robot': str(path), **wrong.beside_urdf()}


def model_error_of(text: str) -> ModelError:
    """Return the model error that YAML tells, e.g. '{payload: 2.0, mass_scale: [1.3]}'.

    Raises:
        ArmError: not a mapping, an unknown field, or a value that is not allowed.
    """
    told = yaml.safe_load(text) or {}
    allowed = ModelError.__dataclass_fields__
    if not isinstance(told, dict) or set(told) - set(allowed):
        raise ArmError(
            f'the error is {text!r}; it must be {{name: value}} of {", ".join(allowed)}'
        )
    return read_fields(ModelError, told)
