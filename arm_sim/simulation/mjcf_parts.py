"""Sensors and actuators of an MJCF that no controller commands; here there are none."""

import numpy as np

from arm_dynamics.checks import ArmError, Array


class MjcfParts:
    """Sensors and actuators of an MJCF, in the units of the file.

    Attributes:
        actuators: names of the actuators that no controller commands.
        sensors: names of the values that the sensors have.
    """

    actuators: tuple[str, ...] = ()
    sensors: tuple[str, ...] = ()

    def check(self, name: str, value: float) -> int:
        """Return the number of an actuator that takes this control.

        Raises:
            ArmError: there is no such actuator, or the control is beyond its range.
        """
        raise ArmError(f'no actuator {name!r}: only an MJCF in engine mujoco has its own')

    def set(self, name: str, value: float) -> None:
        """Set the control of an actuator until the next reset; raises ArmError as `check`."""
        self.check(name, value)

    def readings(self) -> tuple[Array, Array]:
        """Return what the MJCF reports of the present state under the present command.

        That is the values of `sensors`, and of `actuators` (k) length, velocity and force (3, k).
        """
        return np.empty(0), np.empty((3, 0))
