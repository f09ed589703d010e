"""The measurement that reaches a control law in one control period."""

from collections.abc import Mapping
from types import MappingProxyType
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
        readings: (..., k) of all other sensors of the arm, by the name of the device.
    """

    q: Array
    v: Array
    effort: Array | None = None
    wrench: Array | None = None
    readings: Mapping[str, Array] = MappingProxyType({})

    def with_reading(self, device: str, reading: Array) -> 'Measurement':
        """Return the measurement with the reading of one more device."""
        return self._replace(readings=MappingProxyType({**self.readings, device: reading}))

    def read_only(self) -> 'Measurement':
        """Return the same measurement, now and later, for a law: views that refuse writing."""
        effort, wrench = (None if x is None else read_only(x) for x in (self.effort, self.wrench))
        readings = MappingProxyType({name: read_only(x) for name, x in self.readings.items()})
        return Measurement(read_only(self.q), read_only(self.v), effort, wrench, readings)
