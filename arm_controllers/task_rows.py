"""Task-space control of one arm in compiled code, for laws that are compiled as a whole.

It computes what `TaskSpace.torque` does. `arm_dynamics.link_rows` has the motion of the links.
"""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiling import announce, cached_njit
from arm_dynamics.kinematics.compiled_matrices import (
    factorise,
    orthogonal_rows,
    product,
    solve_positive,
)
from arm_dynamics.link_rows import inward, mass_matrix, outward
from arm_dynamics.model import STANDSTILL, RobotModel

ARMATURE, DAMPING, FRICTION, CONTINUOUS = range(4)  # rows of `joint_numbers`

announce('arm_controllers.task_rows', 'force laws')


def joint_numbers(model: RobotModel) -> Array:
    """Return rotor inertia, damping, Coulomb friction, and whether a joint has no end (4, n)."""
    return np.array([model.armature, model.damping, model.friction, model.continuous], dtype=float)


@cached_njit
def task_force(mass, jacobian, wanted, threshold, force):
    """Write the force (m,) that gives a task an acceleration, as `task_space.task_force` does.

    Args:
        mass: (n, n), overwritten.
        jacobian: (m, n).
        wanted: (m,) acceleration.
        threshold: mobility [1/kg] below which a direction is given up smoothly.
        force: is written.
    """
    m, n = jacobian.shape
    halves, mobility = np.empty((m, n)), np.empty((m, m))
    factorise(mass)
    for i in range(m):
        for j in range(n):
            x = jacobian[i, j]
            for k in range(j):
                x -= mass[j, k] * halves[i, k]
            halves[i, j] = x / mass[j, j]
    for i in range(m):
        for j in range(i + 1):
            x = 0.0
            for k in range(n):
                x += halves[i, k] * halves[j, k]
            mobility[i, j] = x
    lower = mobility.copy()
    for i in range(m):
        lower[i, i] -= threshold
    if not factorise(lower):
        _damped(halves, wanted, threshold, force)
        return
    force[:] = wanted
    solve_positive(mobility, force)


@cached_njit
def _damped(halves, wanted, threshold, force):
    """Write the force of `task_space.damped`; halves^T: (n, m), whose square is the mobility."""
    m, n = halves.shape
    rows = np.hstack((halves, np.eye(m)))
    values = orthogonal_rows(rows, n, 1e-15)
    axes, along = rows[:, n:], np.empty(m)
    product(axes, wanted, along)
    for i in range(m):
        value, short = values[i], max(threshold - values[i], 0.0)
        along[i] *= value / (value * value + short * short) if value > 0.0 else 0.0
    product(axes.T, along, force)


@cached_njit
def task_torque(table, joints, posture, threshold, q, v, reference, jacobian, wanted, wrench, tau):
    """Write M (Jbar x + N a_0) + J^T F + C v + g + friction(v) (n,), as `TaskSpace.torque`.

    Args:
        table, joints: `link_table` and `joint_numbers` of the arm.
        posture: posture_kp, posture_kd.
        threshold: mobility [1/kg] below which a direction is given up.
        q, v: (n,).
        reference: (4 n,) the row of the reference.
        jacobian: J (6, n) of the frame.
        wanted: x (6,) without Jdot v; overwritten.
        wrench: F (6,) in addition.
        tau: is written.
    """
    n = len(q)
    rows, composite = np.empty((table.shape[0], 30)), np.empty((table.shape[0], 10))
    a, mass, force = np.empty(n), np.empty((n, n)), np.empty(6)
    for i in range(n):
        off = reference[i] - q[i]
        if joints[CONTINUOUS, i]:
            off = np.remainder(off + np.pi, 2.0 * np.pi) - np.pi
        a[i] = reference[2 * n + i] + posture[1] * (reference[n + i] - v[i]) + posture[0] * off
    for i in range(6):
        for j in range(n):
            wanted[i] -= jacobian[i, j] * a[j]
    outward(table, q, v, a, rows)
    mass_matrix(table, rows, composite, mass)
    inward(table, rows, tau)
    for i in range(n):
        mass[i, i] += joints[ARMATURE, i]
    task_force(mass, jacobian, wanted, threshold, force)
    for i in range(n):
        tau[i] += joints[ARMATURE, i] * a[i] + joints[DAMPING, i] * v[i]
        tau[i] += joints[FRICTION, i] * min(max(v[i] / STANDSTILL, -1.0), 1.0)
        for k in range(6):
            tau[i] += jacobian[k, i] * (force[k] + wrench[k])
