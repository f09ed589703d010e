"""Gains by natural frequency and damping ratio: every joint as a second-order system of its own.

    m e'' + kd e' + kp e = 0,   kp = m wn^2,   kd = 2 zeta wn m

(Lynch and Park, Modern Robotics, section 11.2.2). A law says in `gains_act_on` what its gains are.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel

Array = NDArray[np.float64]


class GainsByFrequency(Protocol):
    """Two gains per joint, and the frequency and ratio that they stand for.

    Attributes:
        names: the law's parameters that hold the gains.
    """

    names: tuple[str, str]

    def from_frequency(self, frequency: Array, ratio: Array) -> tuple[Array, Array]:
        """Return both gains (n,) for wn (n,) [rad/s] and zeta (n,). Raises ArmError."""

    def to_frequency(self, first: Array, second: Array) -> tuple[Array, Array]:
        """Return wn and zeta (n,) of both gains; zeta is 1 where there is no stiffness."""


class StiffnessAndDamping:
    """kp and kd on the error of joints with inertia m (n,); m = 1: they are accelerations."""

    names = ('kp', 'kd')

    def __init__(self, inertia: Array):
        """`inertia`: (n,) [kg m^2 | kg], positive."""
        self._inertia = inertia

    def from_frequency(self, frequency: Array, ratio: Array) -> tuple[Array, Array]:
        """See GainsByFrequency."""
        return self._inertia * frequency**2, 2 * ratio * frequency * self._inertia

    def to_frequency(self, first: Array, second: Array) -> tuple[Array, Array]:
        """See GainsByFrequency."""
        wn = np.sqrt(first / self._inertia)
        stiff = wn > 0
        critical = np.where(stiff, 2 * wn * self._inertia, 1.0)
        return wn, np.where(stiff, second / critical, 1.0)


class SlopeAndRate:
    """e' = -slope e - s, s' = -rate s: two real poles, so zeta >= 1, and one rate for all joints.

    slope = wn (zeta - sqrt(zeta^2 - 1)), rate = wn (zeta + sqrt(zeta^2 - 1)).
    """

    names = ('slope', 'damping_rate')

    def from_frequency(self, frequency: Array, ratio: Array) -> tuple[Array, Array]:
        """See GainsByFrequency."""
        if (ratio < 1.0).any():
            raise ArmError(f'damping_ratio is {ratio.min():g}; with this law it must be >= 1')
        root = np.sqrt(ratio**2 - 1.0)
        slope, rate = frequency * (ratio - root), frequency * (ratio + root)
        if (rate != rate[0]).any():
            raise ArmError(
                f'natural_frequency and damping_ratio give damping rates from {rate.min():g} to'
                f' {rate.max():g} 1/s; with this law all joints have the same'
            )
        return slope, rate

    def to_frequency(self, first: Array, second: Array) -> tuple[Array, Array]:
        """See GainsByFrequency."""
        wn = np.sqrt(first * second)
        stiff = wn > 0
        return wn, np.where(stiff, (first + second) / np.where(stiff, 2 * wn, 1.0), 1.0)


def gains_by_frequency(law: Any, model: RobotModel) -> GainsByFrequency | None:
    """Return the gains of a law as frequency and ratio; None where it has no such gains.

    Gains that are torques need an inertia: M_jj(q0), with q0 the model's neutral configuration.
    Elsewhere wn and zeta go with the inertia as 1/sqrt(M_jj(q)).

    Args:
        law: a law's class.
        model: the controller's.
    """
    kind = getattr(law, 'gains_act_on', None)
    if kind == 'acceleration':
        return StiffnessAndDamping(np.ones(model.nv))
    if kind == 'torque':
        return StiffnessAndDamping(model.mass_matrix(model.neutral()).diagonal())
    return SlopeAndRate() if kind == 'sliding_variable' else None
