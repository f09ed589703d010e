"""Motions to joint positions that the user chose with sliders."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

_SHARE = 0.4  # of the velocity limit, at most
_PEAK = 1.875  # greatest speed of a quintic from rest to rest, divided by its mean
_UNLIMITED = 1.0  # speed where there is no limit [rad/s | m/s]
_SHORTEST = 1.0  # [s]
_WAY, _SLACK = np.pi, 1e-6  # half range without limits, distance from limits [rad | m]


def move_time(model: RobotModel, start: Array, end: Array) -> float:
    """Return the time [s] of a slow motion from rest at start (n,) to rest at end (n,)."""
    limit = np.where(np.isfinite(model.velocity_limit), model.velocity_limit, _UNLIMITED)
    times = _PEAK * np.abs(end - start) / (_SHARE * limit)
    return float(np.max(times, initial=_SHORTEST))


def slider_ranges(model: RobotModel) -> tuple[Array, Array]:
    """Return the lower and upper ends of the joints' sliders, (n,) each [rad | m]."""
    lower, upper = model.position_lower + _SLACK, model.position_upper - _SLACK
    low = np.where(np.isfinite(upper), upper - 2 * _WAY, -_WAY)
    low = np.where(np.isfinite(lower), lower, low)
    return low, np.where(np.isfinite(upper), upper, low + 2 * _WAY)
