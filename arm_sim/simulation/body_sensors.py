"""Sensors of the links: they need the arm's acceleration and what acts on its links."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.link_loads import External, LinkLoads
from arm_dynamics.model import RobotModel
from arm_sim.simulation import imu, joint_torque
from arm_sim.simulation.force_torque import ForceTorqueSensor
from arm_sim.simulation.sensors import SensorParameters
from arm_sim.simulation.signal_errors import SignalErrors


class Felt(NamedTuple):
    """Readings of N arms; None: no such sensor.

    Attributes:
        effort: (N, n) joint torques [N.m | N].
        wrench: (N, 6) at the force-torque sensor.
        imu: (N, 10) orientation x, y, z, w, angular velocity [rad/s], acceleration [m/s^2].
    """

    effort: Array | None
    wrench: Array | None
    imu: Array | None


class BodySensors:
    """The force-torque sensors, joint torque sensors and IMUs of N arms.

    Attributes:
        force_torque, joint_torque, imu: their errors; None: no such sensor.
    """

    def __init__(
        self, models: Sequence[RobotModel], each: Sequence[SensorParameters], period: float
    ):
        """Take the model and the parameters of each arm, and the control period [s].

        Raises:
            ArmError: no such frame, or a wrong count of numbers.
        """
        p, model = each[0], models[0]
        try:
            self._loads = [LinkLoads(model, p.force_torque_frame) for model in models]
        except ArmError as error:
            raise ArmError(f'force_torque.frame: {error}') from None
        if p.imu_frame not in ('', *model.frame_names):
            raise ArmError(f'imu.frame: no frame {p.imu_frame!r} in {model.name!r}')
        self._imu_frame, self._n = p.imu_frame, model.nv
        self.force_torque = ForceTorqueSensor(each, period) if p.force_torque_frame else None
        self.joint_torque = self.imu = None
        if p.joint_torque:
            torques = [own.torque_errors(model.joint_names) for own in each]
            self.joint_torque = SignalErrors(torques, model.nv, period, joint_torque.STREAM)
        if p.imu_frame:
            self.imu = SignalErrors([own.imu_errors() for own in each], 6, period, imu.STREAM)

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin again, with the random seed of each arm."""
        for sensor in (self.force_torque, self.joint_torque, self.imu):
            if sensor is not None:
                sensor.reset(seeds)

    def go_on_from(self, before: 'BodySensors') -> None:
        """Take over the errors of another plant's sensors."""
        self.force_torque, self.joint_torque = before.force_torque, before.joint_torque
        self.imu = before.imu

    def read(self, q: Array, v: Array, a: Array, external: Sequence[Sequence[External]]) -> Felt:
        """Return the readings, one control period after the last ones.

        Args:
            q, v, a: (N, n) states and accelerations.
            external: forces on the links of each arm; empty: none.
        """
        torque, wrench = np.empty((len(q), self._n)), np.empty((len(q), 6))
        gravity, motion = np.empty((len(q), 3)), np.empty((len(q), 10))
        tool = self.force_torque is not None and self.force_torque.has_tool
        poses = tool or self.imu is not None
        for arm, loads in enumerate(self._loads):
            forces = external[arm] if external else ()
            torque[arm] = loads.update(q[arm], v[arm], a[arm], forces, poses)
            if self.force_torque is not None:
                wrench[arm] = loads.wrench()
            if tool:
                gravity[arm] = loads.gravity()
            if self.imu is not None:
                motion[arm] = loads.inertial(self._imu_frame)
        return Felt(
            None if self.joint_torque is None else self.joint_torque.read(torque),
            None if self.force_torque is None else self.force_torque.read(wrench, gravity),
            None if self.imu is None else np.hstack([motion[:, :4], self.imu.read(motion[:, 4:])]),
        )
