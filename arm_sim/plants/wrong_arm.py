"""An arm that differs from its model, for the simulator's node."""

from typing import Any

from arm_dynamics.model import BESIDE_URDF, RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.output_folder import temporary_folder


def arm_parameters(model: RobotModel) -> dict[str, Any]:
    """Return what a node must be told to have this model, beside its URDF."""
    return {name: getattr(model, name).tolist() for name in BESIDE_URDF}


def wrong_arm_parameters(model: RobotModel, error: ModelError) -> dict[str, Any]:
    """Return the simulator's parameters for an arm with an error; none where there is none.

    Its URDF is written to a folder that lives as long as this process.

    Args:
        model: what the controllers know.
        error: what is different.

    Raises:
        ArmError: a count of numbers that does not fit the arm.
    """
    if error.is_none:
        return {}
    wrong = with_error(model, error)
    path = temporary_folder() / 'wrong_arm.urdf'
    path.write_text(wrong.urdf)
    return {'robot': str(path), **arm_parameters(wrong)}
