"""The constants of DC motors, from voltages, torques and velocities.

    tau = Kt/Ra (V - drop (1 - 2^(-|V| / half)) - Ke v)

determines Kt/Ra, Ke and the brush drop. With Kt = Ke, which holds in SI units, Kt and Ra follow.
The torque depends on the velocity a short lag earlier; one lag is estimated for all motors.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.optimize import least_squares, minimize_scalar

from arm_dynamics.checks import ArmError, Array
from arm_lab.identification.signals import FIRST, MotionSamples, lowpass

_LEAST = 100  # samples needed per joint
_SURE = 3.0  # standard errors by which a brush drop must differ from zero
_SETTLING = 3.0  # periods of the filter that are left out at either end
_MOST = 100_000  # samples used; of more samples every k-th is used
_ALIKE = 1e6  # condition number above which voltage and velocity are not distinguishable
_ROUNDS, _SAME = 20, 0.01  # most rounds; change of the lag that ends them, in samples
_LARGEST_LAG = 5.0  # samples


@dataclass(frozen=True)
class FittedMotors:
    """Identified constants of the motors, (n,) except the lag; errors are standard errors.

    Attributes:
        lag: time by which the velocity precedes the torque it acts on [s].
        conductance, conductance_error: Kt/Ra [N.m/V].
        back_emf, back_emf_error: Ke [V.s/rad], and Kt [N.m/A] with it.
        brush_drop, brush_drop_error: [V]; 0 where the drop is not significant.
        half_drop_voltage: [V].
        left: RMS of the torque's residual over the RMS of the torque.
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
        """Return the parameters of `DCMotors`, as a parameter file has them."""
        values = {
            'torque_constant': self.back_emf,
            'back_emf_constant': self.back_emf,
            'armature_resistance': self.resistance,
            'brush_drop': self.brush_drop,
            'half_drop_voltage': self.half_drop_voltage,
        }
        return {name: array.tolist() for name, array in values.items()}


def motor_constants(
    samples: MotionSamples, voltage: Array, cutoff: float, names: tuple[str, ...]
) -> FittedMotors:
    """Return the constants of the motors (n,) of joints with these names.

    Args:
        samples: as recorded, each time once.
        voltage: (m, n) voltages that made the torques of the samples; nan: unknown.
        cutoff: as in `rows_of` [Hz]; velocities come from positions filtered at four times it.
        names: of the joints.

    Raises:
        ArmError: a joint whose motor turned too little, or too few samples with a voltage.
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
            raise ArmError(f'joint {name!r}: its motor turned too little to be identified')

    def cost(lag: float) -> float:
        """Return minus the log-likelihood over the number of samples."""
        earlier = -spline(times[kept] - lag, 1)
        each = [
            _fitted(np.column_stack([*parts, earlier[:, i]]), torque[:, i])[2]
            for i, parts in enumerate(columns)
        ]
        return float(np.log(np.maximum(each, 1e-300)).sum())

    most, lag, motors = _LARGEST_LAG / rate, 0.0, []
    columns: Any = [[column] for column in voltage.T]
    for _ in range(_ROUNDS):  # brush drop and lag alternately
        before = lag
        lag = float(minimize_scalar(cost, bounds=(-most, most), method='bounded').x)
        v = spline(times[kept] - lag, 1)
        motors = [_motor(torque[:, i], voltage[:, i], v[:, i]) for i in range(len(names))]
        if abs(lag - before) < _SAME / rate:
            break
        columns = [
            [column, _share(column, motor[-2])] if motor[4] else [column]
            for column, motor in zip(voltage.T, motors, strict=True)
        ]
    return FittedMotors(lag, *np.array(motors).T)


def _share(voltage: Array, half: float) -> Array:
    """Return the share of the full brush drop at a voltage, with the voltage's sign."""
    return np.sign(voltage) * (1.0 - 0.5 ** (np.abs(voltage) / half))


def _motor(tau: Array, voltage: Array, v: Array) -> tuple[float, ...]:
    """Return one motor's numbers, in the order of FittedMotors."""
    found, errors, left = _fitted(np.column_stack([voltage, -v]), tau)

    def model(z: Array) -> Array:
        k, ke, d, h = z
        return k * (voltage - d * _share(voltage, h) - ke * v)

    usual = np.sqrt(np.mean(voltage**2))
    start = np.array([found[0], found[1] / found[0], 0.01 * usual, 0.1 * usual])
    least = [-np.inf, -np.inf, 0.0, 1e-6 * usual]
    fit = least_squares(lambda z: model(z) - tau, start, bounds=(least, np.inf), x_scale='jac')
    residual = fit.fun
    spread = np.sqrt(np.diagonal(np.linalg.pinv(fit.jac.T @ fit.jac)) * np.mean(residual**2))
    rms = np.sqrt(np.mean(tau**2))
    # A drop that still grows at the usual voltage is a resistance.
    drop, half = fit.x[2:]
    significant = drop > _SURE * spread[2] and half < usual
    if significant and drop * np.log(2.0) < half:
        k, ke, drop, half = fit.x.tolist()
        return (
            k, float(spread[0]), ke, float(spread[1]), drop, float(spread[2]), half,
            float(np.sqrt(np.mean(residual**2)) / rms),
        )  # fmt: skip
    k, slope = found.tolist()
    ke = slope / k
    ke_error = float(np.hypot(errors[1], ke * errors[0]) / k)
    return k, float(errors[0]), ke, ke_error, 0.0, 0.0, 1.0, float(left / rms)


def _fitted(matrix: Array, tau: Array) -> tuple[Array, Array, float]:
    """Return the least-squares x of tau = matrix x, its standard errors, the residual's RMS."""
    x = np.linalg.lstsq(matrix, tau, rcond=None)[0]
    rms = float(np.sqrt(np.mean((tau - matrix @ x) ** 2)))
    spread = np.linalg.inv(matrix.T @ matrix)
    return x, rms * np.sqrt(np.diagonal(spread)), rms
