"""Gains by natural frequency and damping ratio: every joint as a second-order system of its own.

    m e'' + kd e' + kp e = 0,   kp = m wn^2,   kd = 2 zeta wn m

(Lynch and Park, Modern Robotics, section 11.2.2). Gains that are accelerations have m = 1.
"""

from typing import Any

import numpy as np

from arm_dynamics.checks import Array

Numbers = float | Array  # one for all joints, or (n,)
Gains = tuple[float, ...]


def second_order_gains(wn: Numbers, zeta: Numbers, inertia: Numbers = 1.0) -> tuple[Gains, Gains]:
    """Return kp and kd for wn [rad/s] and zeta."""
    return numbers(inertia * wn**2), numbers(2.0 * zeta * wn * inertia)


@classmethod  # type: ignore[misc]  # for classes of laws whose gains are accelerations
def acceleration_gains(cls: Any, model: object, q: Array, wn: Numbers, zeta: Numbers) -> Any:
    """Return parameters with kp = wn^2 and kd = 2 zeta wn, which hold at every pose."""
    kp, kd = second_order_gains(wn, zeta)
    return cls.Parameters(kp=kp, kd=kd)


@classmethod  # type: ignore[misc]  # for classes of laws whose gains are torques
def torque_gains(cls: Any, model: Any, q: Array, wn: Numbers, zeta: Numbers) -> Any:
    """Return parameters with kp = M_jj(q) wn^2, kd = 2 zeta wn M_jj(q), each joint as if alone."""
    kp, kd = second_order_gains(wn, zeta, model.mass_matrix(q).diagonal())
    return cls.Parameters(kp=kp, kd=kd)


def frequency_and_ratio(kp: Array, kd: Array, inertia: Numbers = 1.0) -> tuple[Array, Array]:
    """Return wn and zeta (n,) of gains (n,); zeta is 1 where there is no stiffness."""
    wn = np.sqrt(kp / inertia)
    stiff = wn > 0
    return wn, np.where(stiff, kd / np.where(stiff, 2.0 * wn * inertia, 1.0), 1.0)


def numbers(values: Numbers) -> Gains:
    """Return these numbers as a parameter."""
    return tuple(np.atleast_1d(values).tolist())
