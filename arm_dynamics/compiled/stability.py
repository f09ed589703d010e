"""The largest step at which an integrator is stable for an arm with its actuators."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

# A step map that grows faster than this is unstable; rounding of marginal modes stays below.
_GROWTH = 1.0 + 1e-6
_SHORTEST, _LONGEST = 1e-7, 1.0


def largest_stable_step(
    model: RobotModel, integrator: str, stiffness: Array, damping: Array, samples: int = 50
) -> float:
    """Return the largest stable step [s] of M(q) a = -stiffness q - damping v; 0: there is none.

    The arm is linearised about rest without gravity; the result is the smallest over `samples`
    random configurations. Stiffness of servos and damping of motors limit the step.

    Args:
        model: the arm.
        integrator: a name of arm_dynamics.compiled.integrators, 'implicitfast' or 'lagged_euler'.
        stiffness, damping: (n,) at the joints.
        samples: number of configurations.
    """
    rng = np.random.default_rng(0)
    smallest = _LONGEST
    for _ in range(samples):
        inertia = model.mass_matrix(model.random_configuration(rng))
        longer = smallest
        while not _stable(integrator, inertia, stiffness, damping, smallest):
            longer, smallest = smallest, 0.8 * smallest
            if smallest < _SHORTEST:
                return 0.0
        while longer / smallest > 1.001:
            middle = float(np.sqrt(smallest * longer))
            if _stable(integrator, inertia, stiffness, damping, middle):
                smallest = middle
            else:
                longer = middle
    return smallest


def _stable(integrator: str, inertia: Array, stiffness: Array, damping: Array, h: float) -> bool:
    """Return whether the linear step map of (q, v) has no growing mode."""
    n = inertia.shape[0]
    if integrator == 'implicitfast':
        inertia = inertia + h * np.diag(damping)
    acceleration = -np.linalg.solve(inertia, np.hstack([np.diag(stiffness), np.diag(damping)]))
    one = np.eye(2 * n)
    z = h * np.vstack([one[n:], acceleration])
    growth = one + z
    if integrator in ('semi_implicit_euler', 'implicitfast'):
        growth[:n] = one[:n] + h * growth[n:]
    elif integrator == 'velocity_verlet':
        growth[:n] += 0.5 * h * z[n:]
        growth[n:] = one[n:] + 0.5 * (z + z @ growth)[n:]
    elif integrator == 'rk4':
        z2 = z @ z
        growth += z2 / 2.0 + z2 @ z / 6.0 + z2 @ z2 / 24.0
    # Joints without spring or damper drift: a double eigenvalue 1, which is no instability.
    return bool(np.abs(np.linalg.eigvals(growth)).max() <= max(_GROWTH, 1.0 + 1e-3 * h))
