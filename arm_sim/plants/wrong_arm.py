"""An arm that differs from its model, for the simulator's node."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.output_folder import temporary_folder


def wrong_arm_parameters(
    model: RobotModel, error: ModelError, armature: Sequence[float]
) -> dict[str, Any]:
    """Return the simulator's parameters for an arm with an error; none where there is none.

    Its URDF is written to a folder that lives as long as this process.

    Args:
        model: what the controllers know.
        error: what is different.
        armature: of the model's joints, one or one a joint [kg m^2 | kg].

    Raises:
        ArmError: a count of numbers that does not fit the arm.
    """
    if error.is_none:
        return {}
    path = temporary_folder() / 'wrong_arm.urdf'
    path.write_text(with_error(model, error).urdf)
    replaced = {name: getattr(error, name) for name in ('gravity', 'friction', 'damping')}
    return {
        'robot': str(path),
        'armature': np.add(armature, error.armature).tolist(),
        **{name: list(values) for name, values in replaced.items() if values},
    }
