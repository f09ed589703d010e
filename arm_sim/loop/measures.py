"""How well an arm followed, from the record of a run.

The path error is how far the reference is from the ideal geometry; the tracking error is how far
the arm is from the reference. The two are never mixed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_sim.loop.record import Record

# Fields of `Measures` that every report has as they are.
_REPORTED = ('peak_torque_nm', 'peak_torque_share', 'energy_j', 'chatter_nm', 'recovery_s')

RECOVERED = 1.0  # [mm] the tip is back when it stays within this of its reference


class Poses(NamedTuple):
    """Poses of a frame in the base frame."""

    position: Array  # (k, 3) [m]
    rotation: Array  # (k, 3, 3)


class Tracking(NamedTuple):
    """A run of k control periods, compared with its reference row by row.

    Attributes:
        tip, reference_tip: (k, 3) [m], base frame.
        error: (k,) distance of the two [m].
        orientation_error: (k,) angle |log(R^T R_r)| from the tool frame R to its reference [rad].
        joint_error: (k, n) reference minus state [rad | m].
        effort_share: (k, n) torque as a share of its limit.
    """

    tip: Array
    reference_tip: Array
    error: Array
    orientation_error: Array
    joint_error: Array
    effort_share: Array


@dataclass(frozen=True)
class Measures:
    """How well one law did one task.

    Attributes:
        tracking_rms_mm, tracking_max_mm: distance of the tip from its reference.
        orientation_rms_rad, orientation_max_rad: angle of the tool frame from its reference.
        joint_rms_rad: over all joints [rad | m].
        peak_torque_nm: of the joint with the largest.
        peak_torque_share: of the joint nearest its effort limit.
        energy_j: integral of |torque times velocity| over all joints.
        chatter_nm: RMS change of torque from period to period, over all joints.
        recovery_s: from the event until the tip stays within 1 mm; nan: never, or no event.
        completed: False where the loop was unstable and left the finite numbers.
    """

    tracking_rms_mm: float
    tracking_max_mm: float
    orientation_rms_rad: float
    orientation_max_rad: float
    joint_rms_rad: float
    peak_torque_nm: float
    peak_torque_share: float
    energy_j: float
    chatter_nm: float
    recovery_s: float
    completed: bool


def rotation_angle(rotation: Array) -> Array:
    """Return |log R| (...) [rad] in [0, pi] of a rotation matrix (..., 3, 3).

    2 sin = |(R - R^T)^v|, 2 cos = tr R - 1; the two together are exact for small angles and large.
    """
    skew = rotation - rotation.swapaxes(-1, -2)
    sine = np.linalg.norm(skew[..., (2, 0, 1), (1, 2, 0)], axis=-1)
    return np.arctan2(sine, np.trace(rotation, axis1=-2, axis2=-1) - 1.0)


def track(model: RobotModel, record: Record, reference_tips: Poses | None = None) -> Tracking:
    """Compare a record with its reference.

    `reference_tips`, for at least as many rows, spare computing those of the reference.
    """
    known = tips(model, record.q_reference) if reference_tips is None else reference_tips
    tip, reference = tips(model, record.q), Poses(*(part[: len(record.q)] for part in known))
    return Tracking(
        tip.position,
        reference.position,
        error=np.linalg.norm(tip.position - reference.position, axis=1),
        orientation_error=rotation_angle(tip.rotation.swapaxes(-1, -2) @ reference.rotation),
        joint_error=model.difference(record.q, record.q_reference),
        effort_share=np.abs(record.effort) / model.effort_limit,
    )


def measure(record: Record, tracking: Tracking, event: float | None = None) -> Measures:
    """Measure a run; `event` [s] is where recovery is counted from."""
    if len(record.t) < 2:
        return Measures(*(float('nan'),) * 10, completed=False)
    error, turn = 1e3 * tracking.error, tracking.orientation_error
    period = float(record.t[1])
    return Measures(
        tracking_rms_mm=float(rms(error, axis=None)),
        tracking_max_mm=float(error.max()),
        orientation_rms_rad=float(rms(turn, axis=None)),
        orientation_max_rad=float(turn.max()),
        joint_rms_rad=float(rms(tracking.joint_error, axis=None)),
        peak_torque_nm=float(np.abs(record.effort).max()),
        peak_torque_share=float(tracking.effort_share.max()),
        energy_j=float(np.abs(record.effort * record.v).sum() * period),
        chatter_nm=float(rms(np.diff(record.effort, axis=0), axis=None)),
        recovery_s=_recovery(record.t, error, event),
        completed=record.completed,
    )


def _recovery(t: Array, error: Array, event: float | None) -> float:
    if event is None or error[-1] > RECOVERED:
        return float('nan')
    outside = np.flatnonzero((error > RECOVERED) & (t >= event))
    return float(t[outside[-1] + 1] - event) if outside.size else 0.0


def summarize(
    names: Sequence[str], record: Record, tracking: Tracking, event: float | None
) -> dict[str, Any]:
    """Return the numbers that every report of joints has: errors, where largest, torques."""
    measures = measure(record, tracking, event)
    magnitude = np.abs(record.effort)
    sample, joint = np.unravel_index(magnitude.argmax(), magnitude.shape)
    size = np.abs(tracking.joint_error)
    return {
        'steps': len(record.t),
        'tracking_error_mm': error_facts(record.t, tracking.error, 1e3),
        'orientation_error_rad': error_facts(record.t, tracking.orientation_error),
        'joint_names': list(names),
        'joint_error_rad': {
            'rms': rms(tracking.joint_error).tolist(),
            'max': size.max(axis=0).tolist(),
            'max_at_s': record.t[size.argmax(axis=0)].tolist(),
        },
        'peak_torque_joint': names[int(joint)],
        'peak_torque_at_s': float(record.t[sample]),
        'joint_peak_torque_nm': magnitude.max(axis=0).tolist(),
        **{name: getattr(measures, name) for name in _REPORTED},
        'saturated_samples': int((tracking.effort_share >= 1.0).any(axis=1).sum()),
        'checksum': record.checksum(),
    }


def error_facts(t: Array, error: Array, scale: float = 1.0) -> dict[str, float]:
    """Return RMS and maximum of an error (k,), times `scale`, and when it is largest [s]."""
    worst = int(error.argmax())
    return {
        'rms': float(rms(error)) * scale,
        'max': float(error[worst]) * scale,
        'max_at_s': float(t[worst]),
    }


def tips(model: RobotModel, q: Array) -> Poses:
    """Return the poses of the tool frame for configurations (k, n)."""
    found = Poses(np.empty((len(q), 3)), np.empty((len(q), 3, 3)))
    for position, rotation, each in zip(*found, q, strict=True):
        pose = model.forward_kinematics(each)
        position[:], rotation[:] = pose.translation, pose.rotation
    return found


def rms(values: ArrayLike, axis: int | None = 0) -> Array:
    """Return the root of the mean square over the samples (axis 0), or over all (None)."""
    return np.sqrt(np.mean(np.square(values), axis=axis))
