"""Sensor model: resolution, bias, noise, delay and dropouts between a joint and its reading."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arm_controllers.measurement import Measurement
from arm_dynamics.checks import ArmError, Array, per_joint
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_dynamics.plugins import PluginRegistry
from arm_sim.devices._device import Device, Setup
from arm_sim.devices._signal_errors import Errors, SignalErrors, delay_of

_CHUNK = 64  # readings whose random numbers are drawn together
_DROPOUTS = 1  # stream of random numbers, separate from that of the noise

# Sensor models are entry points of the group: `model(seeds, period)` with the random seeds of N
# arms and the control period [s], called at every reset, returns a function `read(t, q, v)` that
# gives what the sensors report of states q, v (N, n) at the time t [s], as two such arrays.
SENSOR_MODELS = PluginRegistry('sensors.model', '', 'arm_sim.sensors')


@dataclass(frozen=True, kw_only=True)
class JointSensorParameters(Parameters):
    """The joint sensors of an arm; with the defaults they are exact."""

    encoder_resolution: PerJoint = parameter(
        (),
        'step of measured positions [rad | m], which give the velocities; empty: exact',
        above=0,
    )
    sensor_model: str = parameter(
        '', 'entry point of the group arm_sim.sensors that changes all readings; empty: none',
        name='sensors.model',
    )  # fmt: skip
    position_bias: PerJoint = parameter(
        (), 'offset of measured positions [rad | m]; empty: none', name='sensors.position_bias'
    )
    velocity_bias: PerJoint = parameter(
        (), 'offset of measured velocities [rad/s | m/s]; empty: none',
        name='sensors.velocity_bias',
    )  # fmt: skip
    position_noise: float = parameter(
        0.0, 'standard deviation of the position noise [rad | m]', min=0,
        name='sensors.position_noise',
    )  # fmt: skip
    velocity_noise: float = parameter(
        0.0, 'standard deviation of the velocity noise [rad/s | m/s]', min=0,
        name='sensors.velocity_noise',
    )  # fmt: skip
    sensor_delay: int = delay_of('sensors')
    dropout: float = parameter(
        0.0, 'probability that a period reports the reading before it again [1]', min=0, max=1,
        name='sensors.dropout',
    )  # fmt: skip
    sensor_seed: int = parameter(
        0, 'random seed of noise and dropouts', min=0, name='sensors.seed'
    )


class Sensors:
    """The joint sensors of N arms; every arm has its own numbers and random streams.

    A reading is the state as the sensor model reports it, rounded to `encoder_resolution`, plus
    bias and noise, `sensor_delay` periods late. A rounded position gives the velocity by its
    difference over a period.
    """

    def __init__(
        self,
        parameters: Sequence[JointSensorParameters],
        joint_names: tuple[str, ...],
        period: float,
    ):
        """Take the parameters of each arm; `period` [s] is the control period.

        Raises:
            ArmError: a wrong count of numbers, numbers that are not allowed, no such sensor
                model, or arms with several.
        """
        self._name = parameters[0].sensor_model
        if any(p.sensor_model != self._name for p in parameters):
            raise ArmError('sensors.model: all arms of a batch have the same one')
        self._model = SENSOR_MODELS.load(self._name) if self._name else None
        self._parameters, self._period = parameters, period
        n = len(joint_names)

        def rows(name: str, default: float, lower: float = -np.inf) -> Array:
            given = [getattr(p, name) for p in parameters]
            each = [
                per_joint(name, x, joint_names, lower, lower == 0.0) if x else [default] * n
                for x in given
            ]
            return np.array(each, dtype=float)

        self._step = rows('encoder_resolution', np.nan, 0.0)
        self._coarse = np.isfinite(self._step)
        bias = np.hstack([rows('position_bias', 0.0), rows('velocity_bias', 0.0)])
        errors = [
            Errors(
                own, noise=np.repeat((p.position_noise, p.velocity_noise), n), delay=p.sensor_delay
            )
            for own, p in zip(bias, parameters, strict=True)
        ]
        self._errors = SignalErrors(errors, 2 * n, period)
        self._dropout = np.array([p.dropout for p in parameters])
        self._last = bias

    def reset(self, q: Array, v: Array, seed: int | None = None) -> Measurement:
        """Return the first reading of states q, v (N, n).

        `seed`: of the first arm, the next arm has one more; None: those of the parameters.
        """
        own = [p.sensor_seed for p in self._parameters]
        seeds = own if seed is None else range(seed, seed + len(own))
        if self._model is not None:
            try:
                self._read = self._model(list(seeds), self._period)
            except Exception as error:  # a foreign function may raise anything
                raise ArmError(f'sensor model {self._name!r} fails: {error}') from error
        self._errors.reset(seeds)
        self._drops = [np.random.default_rng([each, _DROPOUTS]) for each in seeds]
        self._count = 0
        q, v = self._modelled(q, v)
        self._position = self._rounded(q)
        return self._reported(self._position, v)

    def read(self, q: Array, v: Array) -> Measurement:
        """Return the reading of states q, v (N, n), one control period after the last one."""
        q, v = self._modelled(q, v)
        before, self._position = self._position, self._rounded(q)
        if self._coarse.any():
            v = np.where(self._coarse, (self._position - before) / self._period, v)
        return self._reported(self._position, v)

    def _modelled(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return what the sensor model reports of states q, v (N, n)."""
        if self._model is None:
            return q, v
        t, model = self._count * self._period, f'sensor model {self._name!r}'
        try:
            reported = np.array(self._read(t, q.copy(), v.copy()), dtype=float)
        except Exception as error:  # a foreign function may raise anything
            raise ArmError(f'{model} fails: {error}') from error
        if reported.shape != (2, *q.shape):
            raise ArmError(
                f'{model} returns arrays of shape {reported.shape}; expected: {(2, *q.shape)}, '
                'positions and velocities'
            )
        return reported[0], reported[1]

    def _rounded(self, q: Array) -> Array:
        if not self._coarse.any():
            return q.copy()
        return np.where(self._coarse, np.rint(q / self._step) * self._step, q)

    def _reported(self, q: Array, v: Array) -> Measurement:
        i = self._count
        self._count = i + 1
        reading = self._errors.read(np.concatenate((q, v), axis=1))
        if self._dropout.any():
            if i % _CHUNK == 0:
                self._lost = np.array([rng.random(_CHUNK) for rng in self._drops])
            if i:
                lost = self._lost[:, i % _CHUNK] < self._dropout
                reading = np.where(lost[:, np.newaxis], self._last, reading)
            self._last = reading
        n = q.shape[1]
        return Measurement(reading[:, :n], reading[:, n:])


class JointSensorsDevice(Device):
    """The position and velocity readings of all joints."""

    Parameters = JointSensorParameters
    changes_joints = True
    order = 60.0

    @classmethod
    def wanted(cls, parameters: JointSensorParameters) -> bool:
        """Return whether a reading is not the state itself; the seed alone changes nothing."""
        values = {name: getattr(parameters, name) for name in _DEFAULTS}
        return values != _DEFAULTS

    def __init__(self, setup: Setup):
        super().__init__(setup)
        self._sensors = Sensors(setup.each, self.plant.joint_names, setup.period)

    def _in_axes_of_plant(self, rows: Measurement, measured: Measurement) -> Measurement:
        shape = self.plant.q.shape
        return measured._replace(q=rows.q.reshape(shape), v=rows.v.reshape(shape))

    def reset(self, seed: int | None, measured: Measurement) -> Measurement:
        """Begin the random streams again; return the first reading."""
        q, v = self.plant.sensed_rows()
        rows = self._sensors.reset(q, v, seed)
        return self._in_axes_of_plant(rows, measured)

    def read(self, measured: Measurement) -> Measurement:
        """Return the reading of the present state."""
        return self._in_axes_of_plant(self._sensors.read(*self.plant.sensed_rows()), measured)

    def continue_from(self, before: 'JointSensorsDevice') -> None:
        """Take over random streams, delayed readings and the last position."""
        self._sensors = before._sensors


_DEFAULTS = {name: value for name, value in vars(JointSensorParameters()).items()
             if name != 'sensor_seed'}  # fmt: skip
