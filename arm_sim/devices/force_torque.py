"""Force-torque sensor: its parameters and its errors, compensation of the tool, tare."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arm_controllers.measurement import Measurement
from arm_dynamics.checks import Array
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.devices._device import Device, Setup
from arm_sim.devices._signal_errors import Errors, SignalErrors, bandwidth_of, delay_of

_STREAM = 2  # of random numbers, separate from those of other sensors


@dataclass(frozen=True, kw_only=True)
class ForceTorqueParameters(Parameters):
    """A force-torque sensor at a link; without a frame there is none."""

    force_torque_frame: str = parameter(
        '', 'link before which the force-torque sensor is; empty: no sensor',
        name='force_torque.frame',
    )  # fmt: skip
    tool_mass: float = parameter(
        0.0, 'mass beyond the sensor whose weight is compensated [kg]',
        name='force_torque.tool_mass', min=0, max=1000,
    )  # fmt: skip
    tool_com: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), "centre of this mass in the sensor's frame [m]",
        name='force_torque.tool_com', length=3,
    )  # fmt: skip
    wrench_bias: tuple[float, ...] = parameter(
        (0.0,) * 6, 'offset of force [N] and torque [N.m]', name='force_torque.bias', length=6
    )
    wrench_drift: tuple[float, ...] = parameter(
        (0.0,) * 6, 'offset of force [N/s] and torque [N.m/s] per second',
        name='force_torque.drift', length=6,
    )  # fmt: skip
    force_noise: float = parameter(
        0.0, 'standard deviation of the force noise [N]', name='force_torque.force_noise', min=0
    )
    torque_noise: float = parameter(
        0.0, 'standard deviation of the torque noise [N.m]', name='force_torque.torque_noise',
        min=0,
    )  # fmt: skip
    wrench_bandwidth: float = bandwidth_of('force_torque')
    wrench_delay: int = delay_of('force_torque')
    max_force: float = parameter(
        0.0, 'largest force along an axis that the sensor reports [N]; 0: no limit',
        name='force_torque.max_force', min=0,
    )  # fmt: skip
    max_torque: float = parameter(
        0.0, 'largest torque about an axis that the sensor reports [N.m]; 0: no limit',
        name='force_torque.max_torque', min=0,
    )  # fmt: skip
    tare_at_reset: bool = parameter(
        False, 'if true, the sensor is tared in the initial state, before t = 0',
        name='force_torque.tare_at_reset',
    )  # fmt: skip
    tare_periods: int = parameter(
        100, 'number of readings whose mean a tare subtracts [control periods]',
        name='force_torque.tare_periods', min=1, max=100_000,
    )  # fmt: skip

    def wrench_errors(self) -> Errors:
        """Return the errors of the six signals."""
        limits = self.max_force or np.inf, self.max_torque or np.inf
        return Errors(
            self.wrench_bias,
            self.wrench_drift,
            np.repeat((self.force_noise, self.torque_noise), 3),
            np.repeat(limits, 3),
            self.wrench_bandwidth,
            self.wrench_delay,
        )


class ForceTorqueSensor:
    """What the force-torque sensors of N arms report of the true wrenches.

    A reading is the wrench behind the low-pass filter, plus bias, drift and noise, within the
    limits, minus the tool's weight and what the last tare has found, `wrench_delay` periods late.

    Attributes:
        has_tool: whether the weight of a tool is compensated on an arm.
    """

    def __init__(self, each: Sequence[ForceTorqueParameters], period: float):
        """Take the parameters of each arm, and the control period [s]."""
        self._parameters = each
        self._errors = SignalErrors([own.wrench_errors() for own in each], 6, period, _STREAM)
        self._mass = np.array([[own.tool_mass] for own in each])
        self.has_tool = bool(self._mass.any())
        self._com = np.array([own.tool_com for own in each], dtype=float)
        self._tares = np.array([[own.tare_at_reset] for own in each])
        self._periods = each[0].tare_periods

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin again, with the random seed of each arm."""
        self._errors.reset(seeds)
        self._offset = np.zeros((len(self._parameters), 6))
        self._to_tare, self._sum, self._first = 0, self._offset, True

    def tare(self) -> None:
        """Let the mean of the next `tare_periods` readings be zero from then on."""
        self._to_tare, self._sum = self._periods, np.zeros_like(self._offset)

    def read(self, wrench: Array, gravity: Array) -> Array:
        """Return the readings (N, 6), one control period after the last ones.

        Args:
            wrench: (N, 6) what acts on the sensor, as `LinkLoads.wrench` has it.
            gravity: (N, 3) in the sensor's axes [m/s^2]; not read without a tool.
        """
        tool: Array | float = 0.0
        if self.has_tool:
            weight = self._mass * gravity
            tool = np.concatenate([weight, np.cross(self._com, weight)], axis=1)
        if self._first:
            self._first = False
            if self._tares.any():
                mean = self._errors.mean(wrench, self._periods) - tool
                self._offset = np.where(self._tares, mean, 0.0)
        reading = self._errors.measured(wrench) - tool
        if self._to_tare:
            self._sum = self._sum + reading
            self._to_tare -= 1
            if not self._to_tare:
                self._offset = self._sum / self._periods
        return self._errors.late(reading - self._offset)


class ForceTorqueDevice(Device):
    """The force-torque sensor: `Measurement.wrench`."""

    Parameters = ForceTorqueParameters
    order = 50.0
    alike = ('force_torque_frame', 'tare_periods')
    needs_motion = True

    @classmethod
    def wanted(cls, parameters: ForceTorqueParameters) -> bool:
        """Return whether there is a sensor."""
        return bool(parameters.force_torque_frame)

    def __init__(self, setup: Setup):
        super().__init__(setup)
        self.frame = self.cut = setup.each[0].force_torque_frame
        self.sensor = ForceTorqueSensor(setup.each, setup.period)

    def reset(self, seed: int | None, measured: Measurement) -> Measurement:
        """Begin again; return the first reading."""
        self.sensor.reset(self.setup.seeds(seed))
        return self.read(measured)

    def read(self, measured: Measurement) -> Measurement:
        """Return the reading of the last integration step."""
        motion = self.plant.link_motion
        gravity = motion.gravity() if self.sensor.has_tool else np.empty(0)
        wrench = self.sensor.read(motion.wrench(), gravity)
        return measured._replace(wrench=wrench.reshape(*self.plant.arms, -1))

    def continue_from(self, before: 'ForceTorqueDevice') -> None:
        """Take over errors and tare."""
        self.sensor = before.sensor
