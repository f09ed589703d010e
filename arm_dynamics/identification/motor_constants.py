"""The constants of DC motors, from voltages, torques and velocities.

    tau = Kt/Ra (V - drop (1 - 2^(-|V| / half)) - Ke v)

shows Kt/Ra, Ke, and the brushes' drop. With Kt = Ke, as a motor has them in SI units, Kt and Ra
follow. The velocity that counts is that of a little earlier: how much, all motors tell together.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.optimize import least_squares, minimize_scalar

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.identification.signals import FIRST, Samples, lowpass

_LEAST = 100  # samples per joint
_SURE = 3.0  # standard errors of the drop from which on it is one
_SETTLING = 3.0  # periods of the filter at either end that do not count
_MOST = 100_000  # samples; of more, every k-th
_ALIKE = 1e6  # condition of voltage and velocity from which on they cannot be told apart
_ROUNDS, _SAME = 20, 0.01  # of lag and drop; change of the lag that ends them, in samples
_LATE = 5.0  # samples by which the velocity may be earlier or later


@dataclass(frozen=True)
class MotorConstants:
    """What is found of each joint's motor; all (n,) but the lag, errors are standard errors.

    Attributes:
        lag: how much earlier the velocity was that made the torque [s].
        conductance, conductance_error: Kt/Ra [N.m/V].
        back_emf, back_emf_error: Ke [V.s/rad], and Kt [N.m/A] with it.
        brush_drop, brush_drop_error: [V]; 0: there is none that shows.
        half_drop_voltage: [V].
        left: RMS of the torque that is not explained, over the torque's RMS.
    """

    lag: float
    conductance: Array
    conductance_error: Array
    back_emf: Array
    back_emf_error: Array
    brush_drop: Array
    brush_drop_error: Array
    half_drop_voltage: Array
    left: Array

    @property
    def resistance(self) -> Array:
        """Return Ra (n,) [Ohm] for Kt = Ke."""
        return self.back_emf / self.conductance

    def parameters(self) -> dict[str, list[float]]:
        """Return what a parameter file says of them."""
        told = {
            'torque_constant': self.back_emf,
            'back_emf_constant': self.back_emf,
            'armature_resistance': self.resistance,
            'brush_drop': self.brush_drop,
            'half_drop_voltage': self.half_drop_voltage,
        }
        return {name: values.tolist() for name, values in told.items()}


def motor_constants(
    samples: Samples, voltage: Array, cutoff: float, names: tuple[str, ...]
) -> MotorConstants:
    """Return the constants of the motors (n,) of joints with these names.

    Args:
        samples: as recorded, each time once.
        voltage: (m, n) that made the torques of the samples; nan: not known.
        cutoff: as in `rows_of` [Hz]: velocities are those of positions below four times that.
        names: of the joints.

    Raises:
        ArmError: a joint whose motor turned too little.
    """
    times = samples.times
    rate = (len(times) - 1) / np.ptp(times)
    even = np.linspace(times[0], times[-1], len(times))
    smooth = lowpass(FIRST * cutoff, rate)(CubicSpline(times, samples.q)(even))
    spline = make_interp_spline(even, smooth, k=5)
    inside = (times > times[0] + _SETTLING / cutoff) & (times < times[-1] - _SETTLING / cutoff)
    kept = np.flatnonzero(inside & np.isfinite(voltage).all(axis=1))
    kept = kept[:: -(-len(kept) // _MOST)] if len(kept) else kept
    if len(kept) < _LEAST:
        raise ArmError(f'{len(kept)} samples have a voltage; the motors need {_LEAST}')
    torque, voltage = samples.effort[kept], voltage[kept]
    v = spline(times[kept], 1)
    for i, name in enumerate(names):
        matrix = np.column_stack([voltage[:, i], v[:, i]])
        size = np.linalg.norm(matrix, axis=0)
        if size.min() == 0.0 or np.linalg.cond(matrix / size) > _ALIKE:
            raise ArmError(f'joint {name!r}: its motor turned too little to be known')

    def unlike(lag: float) -> float:
        """Return minus the logarithm of the likelihood over the number of samples."""
        earlier = -spline(times[kept] - lag, 1)
        each = [
            _fitted(np.column_stack([*parts, earlier[:, i]]), torque[:, i])[2]
            for i, parts in enumerate(told)
        ]
        return float(np.log(np.maximum(each, 1e-300)).sum())

    most, lag, motors = _LATE / rate, 0.0, []
    told = [[column] for column in voltage.T]
    for _ in range(_ROUNDS):  # the brushes' drop and the lag in turns
        before = lag
        lag = float(minimize_scalar(unlike, bounds=(-most, most), method='bounded').x)
        v = spline(times[kept] - lag, 1)
        motors = [_motor(torque[:, i], voltage[:, i], v[:, i]) for i in range(len(names))]
        if abs(lag - before) < _SAME / rate:
            break
        told = [
            [column, _share(column, motor[-2])] if motor[4] else [column]
            for column, motor in zip(voltage.T, motors, strict=True)
        ]
    columns: Any = np.array(motors).T
    return MotorConstants(lag, *columns)


def _share(voltage: Array, half: float) -> Array:
    """Return how much of the brushes' drop there is, with the voltage's sign."""
    return np.sign(voltage) * (1.0 - 0.5 ** (np.abs(voltage) / half))


def _motor(tau: Array, voltage: Array, v: Array) -> tuple[float, ...]:
    """Return one motor's numbers, in the order of MotorConstants."""
    found, errors, left = _fitted(np.column_stack([voltage, -v]), tau)
    drop, drop_error, half = 0.0, 0.0, 1.0

    def model(z: Array) -> Array:
        k, ke, d, h = z
        return k * (voltage - d * _share(voltage, h) - ke * v)

    usual = np.sqrt(np.mean(voltage**2))
    start = np.array([found[0], found[1] / found[0], 0.01 * usual, 0.1 * usual])
    least = [-np.inf, -np.inf, 0.0, 1e-6 * usual]
    rubbed = least_squares(lambda z: model(z) - tau, start, bounds=(least, np.inf), x_scale='jac')
    residual = rubbed.fun
    spread = np.sqrt(np.diagonal(np.linalg.pinv(rubbed.jac.T @ rubbed.jac)) * np.mean(residual**2))
    rms = np.sqrt(np.mean(tau**2))
    shown = rubbed.x[2] > _SURE * spread[2] and rubbed.x[3] < usual  # else it is a resistance
    if shown and rubbed.x[2] * np.log(2.0) < rubbed.x[3]:
        k, ke, drop, half = rubbed.x.tolist()
        return (
            k, float(spread[0]), ke, float(spread[1]), drop, float(spread[2]), half,
            float(np.sqrt(np.mean(residual**2)) / rms),
        )  # fmt: skip
    k, slope = found.tolist()
    ke = slope / k
    ke_error = float(np.hypot(errors[1], ke * errors[0]) / k)
    return k, float(errors[0]), ke, ke_error, drop, drop_error, half, float(left / rms)


def _fitted(matrix: Array, tau: Array) -> tuple[Array, Array, float]:
    """Return the least squares of tau = matrix x: x, its standard errors, the RMS that is left."""
    x = np.linalg.lstsq(matrix, tau, rcond=None)[0]
    rms = float(np.sqrt(np.mean((tau - matrix @ x) ** 2)))
    spread = np.linalg.inv(matrix.T @ matrix)
    return x, rms * np.sqrt(np.diagonal(spread)), rms
