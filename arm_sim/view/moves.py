"""How long a motion that somebody asks for on the page takes."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

_SHARE = 0.4  # of the speed limit, at most
_PEAK = 1.875  # greatest speed of a quintic from rest to rest, by its mean
_UNLIMITED = 1.0  # instead of a limit that there is not [rad/s | m/s]
_LEAST = 1.0  # [s]
# Ends of a slider whose joint has none, and slack at those of the others [rad | m].
_WAY, _SLACK = np.pi, 1e-6


def move_time(model: RobotModel, start: Array, end: Array) -> float:
    """Return the time [s] of a calm motion from rest at start (n,) to rest at end (n,)."""
    limit = np.where(np.isfinite(model.velocity_limit), model.velocity_limit, _UNLIMITED)
    times = _PEAK * np.abs(end - start) / (_SHARE * limit)
    return float(np.max(times, initial=_LEAST))


def slider_ends(model: RobotModel) -> tuple[Array, Array]:
    """Return where the sliders of the joints begin and end, (n,) each [rad | m]."""
    lower, upper = model.position_lower, model.position_upper
    bounded = np.isfinite(lower) & np.isfinite(upper)
    middle = np.where(
        np.isfinite(lower), lower + _WAY, np.where(np.isfinite(upper), upper - _WAY, 0)
    )
    return (
        np.where(bounded, lower + _SLACK, middle - _WAY),
        np.where(bounded, upper - _SLACK, middle + _WAY),
    )
