"""Singularities: where an arm loses a direction of motion, and the distance from there."""

from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.kinematics.chain import chain_to
from arm_dynamics.kinematics.compiled_kinematics import chain_pose
from arm_dynamics.model import RobotModel

_NEAR = 0.05, 0.05, 0.02  # wrist and elbow angle [rad], shoulder distance [m] near a singularity


class Singularity(NamedTuple):
    """How near any arm is to a singularity.

    Attributes:
        singular: the smallest singular value is below the limit.
        smallest_singular_value: of J: tool speed per unit joint speed in the lost direction.
        lost_direction: (6,) unit twist [v; omega] the tool can hardly make, base frame axes.
        idle_motion: (nv,) unit joint velocity that hardly moves the tool.
    """

    singular: bool
    smallest_singular_value: float
    lost_direction: Array
    idle_motion: Array


class URSingularities(NamedTuple):
    """Distances of a UR-type arm to its three singularities.

    det J is, up to sign, the product of both link lengths, sin(elbow_angle),
    sin(wrist_angle) and shoulder_distance.

    Attributes:
        wrist_angle: [rad] 0 to pi/2, between the lines of axes 4 and 6; 0: they are parallel.
        elbow_angle: [rad] 0 to pi/2, between the lines of upper arm and forearm; 0: stretched
            or folded.
        shoulder_distance: [m] of the point where axes 5 and 6 meet from the plane that holds
            axis 1 and the direction of axis 2; 0: base rotation no longer moves it sideways.
        names: those of 'wrist', 'elbow', 'shoulder' below 0.05 rad, 0.05 rad and 0.02 m.
    """

    wrist_angle: float
    elbow_angle: float
    shoulder_distance: float
    names: tuple[str, ...]


def singularity(
    model: RobotModel, q: ArrayLike, frame: str | None = None, limit: float = 0.01
) -> Singularity:
    """Return how near any arm is to a singularity, from its Jacobian.

    A configuration is singular if the smallest of its min(6, n) singular values is below `limit`
    [m/rad, rad/rad].
    """
    chain = chain_to(model, frame)
    jacobian = model.jacobian(q, frame)[:, chain.joints]
    left, values, right = np.linalg.svd(jacobian)
    last = len(values) - 1
    idle = np.zeros(model.nv)
    idle[chain.joints] = right[last]
    return Singularity(bool(values[last] < limit), float(values[last]), left[:, last], idle)


def ur_singularities(model: RobotModel, q: ArrayLike, frame: str | None = None) -> URSingularities:
    """Return the distances of a UR-type arm to its wrist, elbow and shoulder singularity.

    UR-type: six revolute joints, axes 2, 3 and 4 parallel and square to axes 1 and 5, axes 5 and
    6 square and meeting in a point.

    Args:
        model, q, frame: the arm, where it is (nq,), and the frame at the end of its six joints.

    Raises:
        ArmError: the arm is not of that type.
    """
    chain = chain_to(model, frame)
    if chain.n != 6 or chain.prismatic.any():
        raise ArmError(f'{model.name!r} is no UR-type arm: it needs six revolute joints')
    lines = np.empty((6, 6))
    chain_pose(chain.arrays, np.asarray(q, dtype=float)[chain.joints], np.empty((4, 4)), lines)
    z, origins = lines[:, :3], lines[:, 3:]
    # Where axis 5 comes nearest to axis 6, which is square to it.
    meeting = origins[4] + z[4] * float((origins[5] - origins[4]) @ z[4])
    conditions = {
        'axes 2 and 3 are not parallel': np.linalg.norm(np.cross(z[1], z[2])),
        'axes 3 and 4 are not parallel': np.linalg.norm(np.cross(z[2], z[3])),
        'axes 1 and 2 are not square': z[0] @ z[1],
        'axes 4 and 5 are not square': z[3] @ z[4],
        'axes 5 and 6 are not square': z[4] @ z[5],
        'axes 5 and 6 do not meet': np.linalg.norm(np.cross(meeting - origins[5], z[5])),
    }
    for what, amount in conditions.items():
        if abs(amount) > 1e-6:
            raise ArmError(f'{model.name!r} is no UR-type arm: {what} ({abs(amount):.2g})')
    wrist = _angle_between_lines(z[3], z[5])
    # The three parallel axes, seen along themselves, are points: shoulder, elbow, wrist.
    upper_arm = _across(origins[2] - origins[1], z[1])
    forearm = _across(origins[3] - origins[2], z[1])
    elbow = _angle_between_lines(upper_arm, forearm)
    shoulder = abs(float(np.cross(z[0], z[1]) @ (meeting - origins[0])))
    distances = wrist, elbow, shoulder
    names = compress(('wrist', 'elbow', 'shoulder'), np.less(distances, _NEAR))
    return URSingularities(*distances, tuple(names))


def _across(vector: Array, axis: Array) -> Array:
    """Return the part of a vector (3,) that is perpendicular to a unit axis."""
    return vector - (vector @ axis) * axis


def _angle_between_lines(a: Array, b: Array) -> float:
    """Return the angle [rad] between two lines, 0 to pi/2."""
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), abs(a @ b)))
