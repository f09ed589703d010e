"""Check that plant and model of a robot agree."""

from typing import Any

import numpy as np

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_sim.devices import link_side

# Two correct implementations differ by rounding alone: some 1e-13 of the largest entry.
MODEL_TOLERANCE = 1e-9


def check_model(plant: Any, model: RobotModel, samples: int = 10, seed: int = 0) -> float:
    """Compare inertia, bias torque and friction of the plant and the model at random states.

    Leaves the plant in its last compared state: reset it. Returns the largest difference found
    [N.m | kg m^2], relative to max(1, largest entry); one beyond MODEL_TOLERANCE is refused.
    """
    model, _ = link_side(model, plant.parameters)
    if plant.joint_names != model.joint_names:
        raise ArmError(f'plant has joints {plant.joint_names}, the model {model.joint_names}')
    rng = np.random.default_rng(seed)
    damping, friction = plant.joint_friction()
    worst = 0.0
    for _ in range(samples):
        q = model.random_configuration(rng)
        v = rng.uniform(-1.0, 1.0, model.nv)
        plant.reset(q, v)
        pairs = (
            ('mass matrix [kg m^2]', plant.mass_matrix(), model.mass_matrix(q)),
            ('bias torque [N.m]', plant.bias_torque(), model.bias_torque(q, v)),
            ('damping [N.m.s/rad]', damping, model.damping),
            ('Coulomb friction [N.m]', friction, model.friction),
        )
        for quantity, of_plant, of_model in pairs:
            error = np.abs(of_plant - of_model) / max(1.0, np.abs(of_model).max())
            worst = max(worst, float(error.max()))
            if error.max() > MODEL_TOLERANCE:
                index = np.unravel_index(error.argmax(), error.shape)
                raise ArmError(
                    f'joint {model.joint_names[index[0]]!r}: {quantity} of the plant is '
                    f'{of_plant[index]:.9g}, of the controller model {of_model[index]:.9g}; '
                    f'they must agree to {MODEL_TOLERANCE:g}'
                )
    return worst
