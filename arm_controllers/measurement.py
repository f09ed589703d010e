"""The measurement that reaches a control law in one control period."""

from typing import NamedTuple

from arm_dynamics.checks import Array


class Measurement(NamedTuple):
    """The state of an arm as its sensors report it; arrays of many arms have leading axes.

    Attributes:
        q: (..., n) position [rad | m].
        v: (..., n) velocity [rad/s | m/s].
        effort: (..., n) joint torque or force [N.m | N]; None: the arm has no such sensor.
        wrench: (..., 6) force [N] and torque [N.m] at the force-torque sensor; None: no sensor.
    """

    q: Array
    v: Array
    effort: Array | None = None
    wrench: Array | None = None
