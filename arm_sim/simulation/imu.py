"""Inertial measurement unit (IMU): parameters and errors."""

from dataclasses import dataclass

import numpy as np

from arm_dynamics.parameters import Parameters, parameter
from arm_sim.simulation.signal_errors import Errors

STREAM = 4  # of random numbers, separate from those of other sensors


@dataclass(frozen=True, kw_only=True)
class ImuParameters(Parameters):
    """An IMU on a link; without a frame there is none."""

    imu_frame: str = parameter('', 'link that carries the IMU; empty: no IMU', name='imu.frame')
    gyro_bias: tuple[float, ...] = parameter(
        (0.0,) * 3, 'offset of the angular velocity [rad/s]', name='imu.gyro_bias', length=3
    )
    gyro_noise: float = parameter(
        0.0, 'standard deviation of the angular velocity noise [rad/s]', name='imu.gyro_noise',
        min=0,
    )  # fmt: skip
    acceleration_bias: tuple[float, ...] = parameter(
        (0.0,) * 3, 'offset of the linear acceleration [m/s^2]', name='imu.acceleration_bias',
        length=3,
    )  # fmt: skip
    acceleration_noise: float = parameter(
        0.0, 'standard deviation of the linear acceleration noise [m/s^2]',
        name='imu.acceleration_noise', min=0,
    )  # fmt: skip

    def imu_errors(self) -> Errors:
        """Return the errors of angular velocity and linear acceleration."""
        bias = (*self.gyro_bias, *self.acceleration_bias)
        return Errors(bias, noise=np.repeat((self.gyro_noise, self.acceleration_noise), 3))
