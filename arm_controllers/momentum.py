"""The observer of the generalised momentum: what torque acts that the model does not know."""

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.small_matrices import times, transposed


def momentum(model: RobotModel, q: Array, v: Array) -> Array:
    """Return p = M(q) v (..., n) [N.m.s | N.s]."""
    return times(model.mass_matrix(q), v)


def predicted_momentum(
    model: RobotModel, before: Array, q: Array, v: Array, effort: Array, dt: float
) -> Array:
    """Return the momentum (..., n) after a period: before + dt (effort + C^T v - g - friction(v)).

    With effort = tau + r and r = L (p - predicted), dr/dt = L (d - r): r is a first-order low-pass
    of the torque d that the model does not know, without any measured acceleration (De Luca and
    Mattone, ICRA 2003 and 2005).

    Args:
        before: (..., n) the prediction of this period [N.m.s | N.s].
        q, v: (..., n) the state [rad | m], [rad/s | m/s].
        effort: (..., n) torque of the drives plus r [N.m | N]; it may be overwritten.
        dt: control period [s].
    """
    effort += times(transposed(model.coriolis_matrix(q, v)), v)
    effort -= model.gravity_torque(q)
    effort -= model.friction_torque(v)
    predicted: Array = before + dt * effort
    return predicted
