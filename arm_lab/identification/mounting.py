"""Where gravity points in the frame of a base that hangs on a wall or from a ceiling."""

from collections.abc import Callable
from itertools import product

import numpy as np
from scipy.optimize import minimize

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error

_TILTED = np.radians(30.0)  # nearer to the given gravity it is an error of the model


def other_gravity(
    model: RobotModel, q: Array, rest: Array, left: Callable[[Array], float]
) -> tuple[Array, float]:
    """Return the gravity (3,) in the base frame that leaves least, and what `left` says of it.

    Args:
        model: the arm.
        q: (k, n) positions.
        rest: (k, n) torques of the model without gravity.
        left: of torques (k, n), what they leave of the efforts; inf: the given gravity is best.
    """
    size = float(np.linalg.norm(model.gravity))
    along = [with_error(model, ModelError(gravity=tuple(axis))) for axis in np.eye(3)]
    pulls = np.array([[each.gravity_torque(x) for x in q] for each in along])

    def gravity(direction: Array) -> Array:
        return size * direction / max(float(np.linalg.norm(direction)), 1e-9)

    def of(direction: Array) -> float:
        return left(rest + np.tensordot(gravity(direction), pulls, 1))

    tried = [np.array(x, dtype=float) for x in product((-1, 0, 1), repeat=3) if any(x)]
    best = min(tried, key=of)
    found = minimize(
        of, best / np.linalg.norm(best), method='Nelder-Mead', options={'maxiter': 80}
    )
    wanted = gravity(found.x)
    if wanted @ model.gravity > size**2 * np.cos(_TILTED):
        return model.gravity, np.inf
    return wanted, float(found.fun)
