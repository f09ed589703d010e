"""The measurement that reaches a control law in one control period."""

from typing import NamedTuple

from arm_dynamics.checks import Array, read_only

# What gives the plant the sensor of a field, for messages.
HOW_TO_MEASURE = {
    'wrench': "set the simulator's force_torque.frame, such as 'tool0'",
    'effort': "set the simulator's joint_torque.enabled",
}


class Measurement(NamedTuple):
    """The state of an arm as its sensors report it; arrays of many arms have leading axes.

    Attributes:
        q: (..., n) position [rad | m].
        v: (..., n) velocity [rad/s | m/s].
        effort: (..., n) torque or force that the joint transmits to its link [N.m | N]; None: the
            arm has no such sensor.
        wrench: (..., 6) force [N] and torque [N.m] at the force-torque sensor, in its axes: what
            all beyond it exerts on the sensor, so a push on the tool is positive; None: no sensor.
    """

    q: Array
    v: Array
    effort: Array | None = None
    wrench: Array | None = None

    def read_only(self) -> 'Measurement':
        """Return the same measurement, now and later, for a law: views that refuse writing."""
        q, v, *others = self
        shown = (None if each is None else read_only(each) for each in others)
        return Measurement(read_only(q), read_only(v), *shown)
