"""Residual of a configuration at a target, and its Jacobian, compiled.

In all functions `chain` is a `ChainArrays`, `task` an `IkTask`, `target` a pose (4, 4). The
residual r is the pose error beyond the task's dead zone, in the target's axes.
"""

import math
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiling import cached_njit, inlined_njit
from arm_dynamics.kinematics.compiled_kinematics import (
    chain_jacobian,
    chain_pose,
    pose_error,
    rotate_rows_to_log,
)
from arm_dynamics.kinematics.compiled_matrices import singular_values


class State(NamedTuple):
    """Pose, residual and Jacobian at one configuration, written in place.

    Attributes:
        pose: (4, 4) of the frame.
        axes: (n, 6) axis and origin of each joint.
        residual: (6,).
        jacobian: (6, n) of the residual, negated: r(q + dq) = r(q) - J dq to first order.
    """

    pose: Array
    axes: Array
    residual: Array
    jacobian: Array


@inlined_njit
def new_state(n):
    """Return an unwritten state of n joints."""
    return State(np.empty((4, 4)), np.empty((n, 6)), np.empty(6), np.empty((6, n)))


@inlined_njit
def residual_of(task, target, pose, residual):
    """Write the residual (6,) of a pose; return its position and rotation norms."""
    pose_error(pose, target, residual)
    dead_zone, position, orientation = task.dead_zone, 0.0, 0.0
    for k in range(6):
        if dead_zone[k] > 0.0:
            beyond = max(abs(residual[k]) - dead_zone[k], 0.0)
            residual[k] = math.copysign(beyond, residual[k])
        if k < 3:
            position += residual[k] * residual[k]
        else:
            orientation += residual[k] * residual[k]
    return math.sqrt(position), math.sqrt(orientation)


@inlined_njit
def residual_at(chain, task, target, q, state):
    """Write pose, axes and residual of a state at q; return the residual's norms."""
    chain_pose(chain, q, state.pose, state.axes)
    return residual_of(task, target, state.pose, state.residual)


@cached_njit
def largest_residuals(task, targets, poses):
    """Return the largest position [m] and rotation [rad] residual of poses (N, 4, 4)."""
    residual = np.empty(6)
    position, orientation = 0.0, 0.0
    for k in range(poses.shape[0]):
        p, o = residual_of(task, targets[k], poses[k], residual)
        position, orientation = max(position, p), max(orientation, o)
    return position, orientation


@inlined_njit
def meets(task, position, orientation):
    """Return whether residuals are within the task's tolerances."""
    return position <= task.tolerances[0] and orientation <= task.tolerances[1]


@inlined_njit
def linearise(chain, task, target, state):
    """Write the Jacobian of a state whose residual is written."""
    dead_zone, jacobian = task.dead_zone, state.jacobian
    chain_jacobian(chain, state.pose, state.axes, target, jacobian)
    if dead_zone[3] > 0.0 or dead_zone[4] > 0.0 or dead_zone[5] > 0.0:
        error = np.empty(6)
        pose_error(state.pose, target, error)
        rotate_rows_to_log(error, jacobian)
    for k in range(6):
        if dead_zone[k] > 0.0 and state.residual[k] == 0.0:
            for i in range(jacobian.shape[1]):
                jacobian[k, i] = 0.0


@inlined_njit
def turn_to(chain, seed, q):
    """Shift q, in place, by full turns towards the seed, as the limits allow, else to the limits.

    Returns the squared distance from the seed: 1e300 where no turn is within the limits, infinite
    where q is not finite.
    """
    turn, distance = 2.0 * math.pi, 0.0
    for i in range(q.shape[0]):
        value, lower, upper = q[i], chain.lower[i], chain.upper[i]
        near = value
        if not math.isfinite(value):
            return math.inf
        if not chain.prismatic[i]:
            near += turn * math.floor((seed[i] - value) / turn + 0.5)
            value = near
            if near > upper:
                value -= turn * math.ceil((near - upper - 1e-12) / turn)
            elif near < lower:
                value += turn * math.ceil((lower - near - 1e-12) / turn)
        if value < lower - 1e-12 or value > upper + 1e-12:
            distance, value = 1e300, near
        q[i] = min(max(value, lower), upper)
        distance += (q[i] - seed[i]) ** 2
    return distance


@inlined_njit
def hold_joints_at_limits(chain, q, state):
    """Zero the columns of joints at a limit that a descent step would push beyond it."""
    for i in range(q.shape[0]):
        if chain.lower[i] < q[i] < chain.upper[i]:
            continue
        slope = 0.0
        for k in range(6):
            slope += state.jacobian[k, i] * state.residual[k]
        if (q[i] >= chain.upper[i] and slope > 0.0) or (q[i] <= chain.lower[i] and slope < 0.0):
            for k in range(6):
                state.jacobian[k, i] = 0.0


@inlined_njit
def singular_values_of(chain, state):
    """Return the singular values (min(6, n),) of the Jacobian of a state, in no order."""
    chain_jacobian(chain, state.pose, state.axes, state.pose, state.jacobian)
    return singular_values(state.jacobian)


@cached_njit
def singular_values_at(chain, q):
    """Return the singular values (min(6, n),) of the Jacobian at q, in no order."""
    state = new_state(q.shape[0])
    chain_pose(chain, q, state.pose, state.axes)
    return singular_values_of(chain, state)


@inlined_njit
def condition_number(values):
    """Return sigma_max / sigma_min: infinite at a singularity.

    For fewer than six joints only the directions in which they can move the frame count.
    """
    smallest, largest = math.inf, 0.0
    for value in values:
        if not value > 0.0:
            return math.inf
        smallest, largest = min(smallest, value), max(largest, value)
    return largest / smallest
