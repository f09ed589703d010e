"""Inertial measurement unit (IMU): parameters and errors."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.measurement import Measurement
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.devices._device import Device, Setup
from arm_sim.devices._signal_errors import Errors, SignalErrors

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


class ImuDevice(Device):
    """The IMU: `Measurement.readings['imu']`, (..., 10).

    Orientation as quaternion x, y, z, w; angular velocity [rad/s], linear acceleration [m/s^2].
    """

    Parameters = ImuParameters
    order = 30.0
    alike = ('imu_frame',)
    needs_motion = True

    @classmethod
    def wanted(cls, parameters: ImuParameters) -> bool:
        """Return whether there is an IMU."""
        return bool(parameters.imu_frame)

    def __init__(self, setup: Setup):
        super().__init__(setup)
        model, self.frame = setup.models[0], setup.each[0].imu_frame
        if self.frame not in model.frame_names:
            raise ArmError(f'imu.frame: no frame {self.frame!r} in {model.name!r}')
        errors = [own.imu_errors() for own in setup.each]
        self._errors = SignalErrors(errors, 6, setup.period, STREAM)

    def reset(self, seed: int | None, measured: Measurement) -> Measurement:
        """Begin again; return the first reading."""
        self._errors.reset(self.setup.seeds(seed))
        return self.read(measured)

    def read(self, measured: Measurement) -> Measurement:
        """Return the reading of the last integration step."""
        motion = self.plant.link_motion.inertial(self.frame)
        imu = np.hstack([motion[:, :4], self._errors.read(motion[:, 4:])])
        return measured.with_reading('imu', imu.reshape(*self.plant.arms, -1))

    def continue_from(self, before: 'ImuDevice') -> None:
        """Take over the errors."""
        self._errors = before._errors
