"""Motions to joint positions that the user chose with sliders."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

_SHARE = 0.4  # of the velocity limit, at most
_PEAK = 1.875  # greatest speed of a quintic from rest to rest, divided by its mean
_UNLIMITED = 1.0  # speed where there is no limit [rad/s | m/s]
_SHORTEST = 1.0  # [s]
STEP, _DIGITS = 0.001, 3  # of a joint's slider [rad | m]
_WAY, _SLACK = 3.141, 1e-6  # half range without limits, distance from limits [rad | m]


def move_time(model: RobotModel, start: Array, end: Array) -> float:
    """Return the time [s] of a slow motion from rest at start (n,) to rest at end (n,)."""
    limit = np.where(np.isfinite(model.velocity_limit), model.velocity_limit, _UNLIMITED)
    times = _PEAK * np.abs(end - start) / (_SHARE * limit)
    return float(np.max(times, initial=_SHORTEST))


def slider_ranges(model: RobotModel) -> tuple[Array, Array]:
    """Return the lower and upper ends of the joints' sliders, (n,) each [rad | m]."""
    lower = np.ceil((model.position_lower + _SLACK) / STEP) * STEP
    upper = np.floor((model.position_upper - _SLACK) / STEP) * STEP
    low = np.where(np.isfinite(upper), upper - 2 * _WAY, -_WAY)
    low = np.where(np.isfinite(lower), lower, low)
    high = np.where(np.isfinite(upper), upper, low + 2 * _WAY)
    return low.round(_DIGITS), high.round(_DIGITS)
