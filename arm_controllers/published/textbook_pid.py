"""The textbook's computed torque with PID, in its prose form and in the form it prints."""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.model import Array


class Dynamics(Protocol):
    """What the law needs of a model: `RobotModel` and `ScrewModel` both have it."""

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M(q)."""

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return tau."""


def textbook_pid(
    model: Dynamics,
    q: ArrayLike,
    v: ArrayLike,
    error_integral: ArrayLike,
    q_ref: ArrayLike,
    v_ref: ArrayLike,
    a_ref: ArrayLike,
    kp: float,
    ki: float,
    kd: float,
    as_printed: bool = True,
) -> Array:
    """Return the joint torques (n,) of computed torque with PID.

    Prose form (equation 11.35 of Lynch and Park, Modern Robotics):

        tau = M(q) (a_ref + kp e + ki E + kd edot) + h(q, v),   e = q_ref - q

    Printed form, which gives the example's digits: the present error counts once more in the
    integral, and a_ref goes through inverse dynamics,

        tau = M(q) (kp e + ki (E + e) + kd edot) + inverse_dynamics(q, v, a_ref)

    The two differ by M(q) ki e alone. This is a compatibility form for checking published
    numbers; `ComputedTorquePid` is the law to use.

    Args:
        q, v: (n,) state.
        error_integral: (n,) E, the integral of e [rad s].
        q_ref, v_ref, a_ref: (n,) reference.
        kp, ki, kd: scalar gains [1/s^2, 1/s^3, 1/s].
        as_printed: False for the prose form.
    """
    q, v, q_ref, v_ref, a_ref, error_integral = (
        np.asarray(x, dtype=float) for x in (q, v, q_ref, v_ref, a_ref, error_integral)
    )
    error, error_rate = q_ref - q, v_ref - v
    integral = error_integral + error if as_printed else error_integral
    feedback = kp * error + ki * integral + kd * error_rate
    return model.mass_matrix(q) @ feedback + model.inverse_dynamics(q, v, a_ref)
