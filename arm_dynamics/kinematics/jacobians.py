"""Geometric and numerical Jacobians, and measures of mobility."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import Array
from arm_dynamics.kinematics.chain import chain_to
from arm_dynamics.kinematics.compiled_kinematics import chain_jacobian, chain_pose
from arm_dynamics.model import RobotModel


def geometric_jacobian(model: RobotModel, q: ArrayLike, frame: str | None = None) -> Array:
    """Return J (6 x nv) from joint axes: a column (z x (p - o); z), or (z; 0) for a slide.

    z is the joint's axis, o its origin, p the frame's origin; all in the base frame. An
    independent computation of `RobotModel.jacobian`, which is Pinocchio's.
    """
    chain = chain_to(model, frame)
    pose, axes, columns = np.empty((4, 4)), np.empty((chain.n, 6)), np.empty((6, chain.n))
    chain_pose(chain.arrays, np.asarray(q, dtype=float)[chain.joints], pose, axes)
    chain_jacobian(chain.arrays, pose, axes, np.eye(4), columns)
    jacobian = np.zeros((6, model.nv))
    jacobian[:, chain.joints] = columns
    return jacobian


def numerical_jacobian(
    model: RobotModel, q: ArrayLike, frame: str | None = None, step: float = 1e-5
) -> Array:
    """Return J (6 x nv) by central differences of the pose: log6(T(q - h)^-1 T(q + h)) / 2h.

    In world-aligned axes, accurate to about step^2 + 1e-16 / step.
    """
    q = np.asarray(q, dtype=float)
    turn = pin.SE3(model.forward_kinematics(q, frame).rotation, np.zeros(3))
    jacobian = np.empty((6, model.nv))
    for i, change in enumerate(step * np.eye(model.nv)):
        before = pin.SE3(model.forward_kinematics(q - change, frame))
        after = model.forward_kinematics(q + change, frame)
        jacobian[:, i] = turn.act(pin.log6(before.actInv(after))).vector / (2.0 * step)
    return jacobian


def manipulability(jacobian: ArrayLike) -> float:
    """Return Yoshikawa's w = sqrt(det(J J^T)), the product of the singular values.

    J is (m, n), any rows of a Jacobian. Where m > n the result is sqrt(det(J^T J)).
    """
    return float(np.prod(np.linalg.svd(np.asarray(jacobian), compute_uv=False)))


def condition_number(jacobian: ArrayLike) -> float:
    """Return sigma_max / sigma_min of J (m, n); infinite at a singularity.

    A 6-row J mixes metres and radians: compare only values of the same arm.
    """
    values = np.linalg.svd(np.asarray(jacobian), compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0.0 else float('inf')


def smallest_singular_value(jacobian: ArrayLike) -> float:
    """Return sigma_min of J (m, n): tool speed per joint speed in the slowest direction."""
    return float(np.linalg.svd(np.asarray(jacobian), compute_uv=False)[-1])


class Ellipsoid(NamedTuple):
    """Ellipsoid of attainable velocities or forces.

    Attributes:
        radii: (m,) half axes, largest first for velocities.
        axes: (m, m) their directions, one per column.
    """

    radii: Array
    axes: Array


def velocity_ellipsoid(jacobian: ArrayLike) -> Ellipsoid:
    """Return the velocities J qdot, |qdot| <= 1, of J (m, n): m = 3 rows of one unit."""
    jacobian = np.asarray(jacobian, dtype=float)
    axes, values, _ = np.linalg.svd(jacobian)
    radii = np.zeros(len(jacobian))
    radii[: len(values)] = values
    return Ellipsoid(radii, axes)


def force_ellipsoid(jacobian: ArrayLike) -> Ellipsoid:
    """Return the forces f with |J^T f| <= 1: the velocity ellipsoid's axes, inverse radii.

    A radius is infinite where the structure alone carries the force.
    """
    radii, axes = velocity_ellipsoid(jacobian)
    with np.errstate(divide='ignore'):
        return Ellipsoid(1.0 / radii, axes)
