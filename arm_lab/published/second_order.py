"""The unit step response of wn^2 / (s^2 + 2 zeta wn s + wn^2), and the design from it."""

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array

TOLERANCE_BAND = 0.02  # "settled" means within 2 % of the step for good


def step_response(time: ArrayLike, natural_frequency: float, damping_ratio: float) -> Array:
    """Return y(t) from rest at zero (Ogata, Modern Control Engineering, section 5-3).

    Args:
        time: [s], any shape.
        natural_frequency: wn [rad/s].
        damping_ratio: zeta > 0.
    """
    x, zeta = natural_frequency * np.asarray(time, dtype=float), damping_ratio
    if abs(zeta - 1.0) < 1e-9:
        return 1.0 - np.exp(-x) * (1.0 + x)
    root = np.sqrt(complex(zeta**2 - 1.0))
    slow, fast = -zeta + root, -zeta - root  # poles over wn
    return 1.0 + np.real((fast * np.exp(slow * x) - slow * np.exp(fast * x)) / (slow - fast))


def settling_time(natural_frequency: float, damping_ratio: float) -> float:
    """Return the time [s] at which the response enters the 2 % band for the last time.

    Exact, where the usual 4 / (zeta wn) describes the envelope only.
    """
    from scipy.optimize import brentq  # slow to import; few programs need it

    zeta = damping_ratio
    if zeta < 1.0:
        damped = np.sqrt(1.0 - zeta**2)
        # Extremes lie at x = k pi / damped, with deviation exp(-zeta x). After the last one that
        # is outside the band comes the crossing of the step's height, well inside.
        last = int(np.ceil(-np.log(TOLERANCE_BAND) * damped / (zeta * np.pi) - 1e-9)) - 1
        left, right = last * np.pi / damped, ((last + 1) * np.pi - np.arccos(zeta)) / damped
    else:
        left, right = 0.0, 20.0 * zeta

    def outside(x: float) -> float:
        return abs(float(step_response(x, 1.0, zeta)) - 1.0) - TOLERANCE_BAND

    return float(brentq(outside, left, right, xtol=1e-13)) / natural_frequency


def design_from_step(settling: float, overshoot_share: float) -> tuple[float, float]:
    """Return natural frequency [rad/s] and damping ratio that give this step response.

    Args:
        settling: time to stay within 2 % of the step [s], > 0.
        overshoot_share: peak above the step as a share of it, 0 <= share < 1 (0: critical
            damping, the fastest without overshoot).

    Raises:
        ArmError: an overshoot outside [0, 1).
    """
    if not 0.0 <= overshoot_share < 1.0:
        raise ArmError(f'overshoot is {overshoot_share}; it must be a share in [0, 1)')
    ratio = 1.0
    if overshoot_share > 0.0:
        decay = -np.log(overshoot_share)
        ratio = float(decay / np.hypot(np.pi, decay))
    return settling_time(1.0, ratio) / settling, ratio
