"""Sensors of forces in the arm: they need its acceleration and what acts on its links."""

from collections.abc import Sequence

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.link_loads import External, LinkLoads
from arm_dynamics.model import RobotModel
from arm_sim.simulation.force_torque import ForceTorqueSensor
from arm_sim.simulation.sensors import SensorParameters


class BodySensors:
    """The force-torque sensors of N arms.

    Attributes:
        force_torque: their errors.
    """

    def __init__(
        self, models: Sequence[RobotModel], each: Sequence[SensorParameters], period: float
    ):
        """Take the model and the parameters of each arm, and the control period [s].

        Raises:
            ArmError: no such frame.
        """
        try:
            self._loads = [LinkLoads(model, each[0].force_torque_frame) for model in models]
        except ArmError as error:
            raise ArmError(f'force_torque.frame: {error}') from None
        self.force_torque = ForceTorqueSensor(each, period)

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin again, with the random seed of each arm."""
        self.force_torque.reset(seeds)

    def go_on_from(self, before: 'BodySensors') -> None:
        """Take over the errors of another plant's sensors."""
        self.force_torque = before.force_torque

    def read(self, q: Array, v: Array, a: Array, external: Sequence[Sequence[External]]) -> Array:
        """Return the wrenches (N, 6), one control period after the last ones.

        Args:
            q, v, a: (N, n) states and accelerations.
            external: forces on the links of each arm; empty: none.
        """
        wrenches, gravity = np.empty((len(q), 6)), np.empty((len(q), 3))
        for arm, loads in enumerate(self._loads):
            loads.update(q[arm], v[arm], a[arm], external[arm] if external else ())
            wrenches[arm], gravity[arm] = loads.wrench(), loads.gravity()
        return self.force_torque.read(wrenches, gravity)
