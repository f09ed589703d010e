"""The largest step at which an integrator is stable for an arm with its actuators."""

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel

# A step map that grows faster than this is unstable; rounding of marginal modes stays below.
_GROWTH = 1.0 + 1e-6
_SHORTEST, _LONGEST = 1e-7, 1.0


def largest_stable_step(
    model: RobotModel, integrator: str, stiffness: Array, damping: Array, samples: int = 50
) -> float:
    """Return the largest stable step [s] of M(q) a = -stiffness q - damping v; 0: there is none.

    That is the arm linearised about rest, gravity left out, the smallest over `samples` random
    configurations; the stiffness of servos and the damping of motors are what limits a step.

    Args:
        model: the arm.
        integrator: a name of arm_dynamics.compiled.integrators, 'implicitfast' or 'lagged_euler'.
        stiffness, damping: (n,) at the joints.
        samples: how many configurations.
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


def check_step(step: float, largest: float, integrator: str) -> None:
    """Raise ArmError unless 0 < step <= largest."""
    if not np.isfinite(step) or step <= 0.0:
        raise ArmError(f'time step is {step:g} s; it must be finite and > 0')
    if step > largest:
        raise ArmError(
            f'time step {step:g} s is not stable with {integrator}: '
            + (f'at most {largest:.3g} s' if largest else 'no step is, with these actuators')
        )


def _stable(integrator: str, inertia: Array, stiffness: Array, damping: Array, h: float) -> bool:
    """Tell whether the linear step map of (q, v) has no growing mode."""
    n = inertia.shape[0]
    one, zero = np.eye(n), np.zeros((n, n))
    if integrator == 'implicitfast':
        inertia = inertia + h * np.diag(damping)
    spring = -np.linalg.solve(inertia, np.diag(stiffness))
    damper = -np.linalg.solve(inertia, np.diag(damping))
    rate = np.block([[zero, one], [spring, damper]])
    if integrator in ('explicit_euler', 'lagged_euler'):
        growth = np.eye(2 * n) + h * rate
    elif integrator in ('semi_implicit_euler', 'implicitfast'):
        growth = np.block(
            [[one + h * h * spring, h * (one + h * damper)], [h * spring, one + h * damper]]
        )
    elif integrator == 'velocity_verlet':
        q_end = np.hstack([one + 0.5 * h * h * spring, h * (one + 0.5 * h * damper)])
        v_ahead = np.hstack([h * spring, one + h * damper])
        a_sum = np.hstack([spring, damper]) + spring @ q_end + damper @ v_ahead
        growth = np.vstack([q_end, np.hstack([zero, one]) + 0.5 * h * a_sum])
    else:
        z = h * rate
        z2 = z @ z
        growth = np.eye(2 * n) + z + z2 / 2.0 + z2 @ z / 6.0 + z2 @ z2 / 24.0
    # Joints without spring or damper drift: a double eigenvalue 1, which is no instability.
    return bool(np.abs(np.linalg.eigvals(growth)).max() <= max(_GROWTH, 1.0 + 1e-3 * h))
