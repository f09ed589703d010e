"""Recorded efforts that no arm of this kind has: of one joint in another unit, or clipped."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_dynamics.model import STANDSTILL
from arm_lab.identification.effort_rest import share_left

FAR = 30.0  # ratio that a rotor may make which the model lacks, or has in vain
_WEIGHT = 0.5  # share of weight in a modelled effort
_STRANGE = 6.0  # ratio of a joint's scale to the usual one, or its inverse, that no arm's mass has
_BEYOND = 3.0  # times an effort's limit
_FEW = 0.5  # share of the joints that may be beyond their limits; if more are, these are none
# Of clipped efforts:
_END = 0.1  # share of their range that is an end
_AT_END = 0.03  # share of the states in which the model is beyond an end
_EXPLAINED = 0.1  # share of the variance that the model leaves between the ends
_FLAT = 0.4  # slope at an end over that of the model
_BETWEEN = 0.25  # share of the states between the ends


def of_another_scale(
    tau: Array,
    pull: Array,
    of_model: Array,
    weightless: bool,
    limits: Array,
    sizes: Sequence[tuple[Array, float]],
) -> NDArray[np.bool_]:
    """Return (n,) whether a joint's effort alone has another scale than the usual one.

    Args:
        tau: (k, n) recorded efforts.
        pull, of_model: (k, n) weight in the efforts of the model, and these.
        weightless: whether the recorded efforts lack it.
        limits: (n,) of the efforts.
        sizes: scales (n,) and the usual one, of the arm as given and with a mass at the tool: a
            light wrist under such a mass is in no other unit.
    """
    weight, usual = np.ptp(pull, axis=0), sizes[0][1]
    heavy = weight > _WEIGHT * np.ptp(of_model, axis=0)
    other = np.array([(x > _STRANGE * of) | (x < of / _STRANGE) for x, of in sizes]).all(axis=0)
    beyond = np.abs(tau).max(axis=0) > _BEYOND * limits
    beyond &= beyond.mean() < _FEW  # else the limits are none
    tiny = (usual * weight > _STRANGE * np.ptp(tau, axis=0)) & (not weightless)
    return (heavy & other) | (beyond & ~(sizes[0][0] < FAR * usual)) | (tiny & other)


def clipped(of_model: Array, v: Array, a: Array, tau: Array) -> NDArray[np.bool_]:
    """Return (n,) whether efforts are clipped, by a regression with those between their ends."""
    found = np.zeros(of_model.shape[1], dtype=bool)
    for j, (torque, speed, change, own) in enumerate(
        zip(of_model.T, v.T, a.T, tau.T, strict=True)
    ):
        dry = np.clip(speed / STANDSTILL, -1.0, 1.0)
        columns = np.column_stack([torque, speed, dry, 0.0 * speed + 1.0, change])
        low, high = np.quantile(own, [0.01, 0.99])
        end = _END * (high - low)
        between = (own > low + end) & (own < high - end)
        if between.mean() < _BETWEEN:
            continue
        left, x = share_left(columns[between], own[between])
        wanted = columns @ x
        for sign, limit in ((1.0, high), (-1.0, -low)):
            beyond = sign * wanted > limit - end
            grown = x[0] * torque[beyond]
            if beyond.mean() > _AT_END and min(grown.std(), wanted[beyond].std()) > 0.5 * end:
                slope = np.polyfit(wanted[beyond], own[beyond], 1)[0]
                found[j] |= bool(slope < _FLAT and left < _EXPLAINED)
    return found
