"""Sensors and actuators of an MJCF that MuJoCo simulates itself."""

from functools import cached_property

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, Array, in_range, unknown
from arm_dynamics.model import RobotModel
from arm_sim.simulation.mjcf_parts import MjcfParts
from arm_sim.simulation.mujoco_mjcf import own_actuators, sensor_names


class MujocoMjcfParts(MjcfParts):
    """Sensors and actuators of the MJCF of one arm or of many arms.

    Attributes:
        controls: (..., k) of `actuators`; a view of MuJoCo's.
    """

    def __init__(self, model: RobotModel, mj_model: mujoco.MjModel, controls: Array):
        self._model, self.controls = mj_model, controls
        self.actuators = own_actuators(model)

    def check(self, name: str, value: float) -> int:
        """Return the number of an actuator that takes this control."""
        if name not in self.actuators:
            raise unknown('actuator', name, self.actuators)
        number = self.actuators.index(name)
        lower, upper = self._model.actuator_ctrlrange[number]
        if not np.isfinite(value):
            raise ArmError(f'actuator {name!r}: control {value} is not a finite number')
        if self._model.actuator_ctrllimited[number]:
            in_range(f'control of actuator {name!r}', value, float(lower), float(upper))
        return number

    def set(self, name: str, value: float) -> None:
        """Set the control of an actuator, of all arms, until the next reset."""
        self.controls[..., self.check(name, value)] = value


class ReadMjcfParts(MujocoMjcfParts):
    """The same of one arm, whose sensors are read as well."""

    def __init__(
        self, model: RobotModel, mj_model: mujoco.MjModel, controls: Array, data: mujoco.MjData
    ):
        super().__init__(model, mj_model, controls)
        self._data, self.sensors = data, sensor_names(model)

    def readings(self) -> tuple[Array, Array]:
        """Return the values of sensors and actuators; the state stays as it is."""
        m, now, k = self._model, self._scratch, len(self.actuators)
        mujoco.mj_copyData(now, m, self._data)
        mujoco.mj_forward(m, now)
        actuators = (now.actuator_length[:k], now.actuator_velocity[:k], now.actuator_force[:k])
        return now.sensordata[: len(self.sensors)].copy(), np.array(actuators)

    @cached_property
    def _scratch(self) -> mujoco.MjData:
        return mujoco.MjData(self._model)
