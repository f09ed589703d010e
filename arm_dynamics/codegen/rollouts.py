"""Compiled loops around an arm's generated dynamics: plant steps, motor steps, pose holding.

This text ends every generated module, where the functions of `arm_functions` come before it.
Arrays are (n,) or have one column a joint; `table` is arm_dynamics.joint_table's.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from arm_dynamics import integrators
from arm_dynamics.joint_table import FRICTION
from arm_dynamics.joint_torques import joint_torques, limit_torque, motor_torque

if TYPE_CHECKING:
    from arm_dynamics.codegen.arm_functions import (
        articulated_dynamics,
        forward_dynamics,
        mass_matrix,
        placements,
    )

# A rollout whose summed error of one step exceeds this has blown up [rad]; its cost is the latter.
BLOW_UP_ERROR = 100.0
BLOW_UP_COST = 9999999.0

_FRICTION_SWEEPS = 100


@njit(error_model='numpy', nogil=True)
def add_wrench_torques(q, context):
    """Add J^T w of the external wrenches to context.torque."""
    if context.wrench_link.size == 0:
        return
    rotation, translation = context.rotation, context.translation
    placements(q, context.sine, context.cosine, rotation, translation)
    for k in range(context.wrench_link.size):
        link = context.wrench_link[k]
        point = translation[link] + np.dot(rotation[link], context.wrench[k, :3])
        force, moment = context.wrench[k, 3:6], context.wrench[k, 6:]
        while link >= 0:
            arm = point - translation[link]
            axis = rotation[link, :, 2]
            turning = moment + _cross(arm, force)
            context.torque[link] += np.sum(axis * (force if context.prismatic[link] else turning))
            link = context.parents[link]


@njit(error_model='numpy', nogil=True)
def _cross(a, b):
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


@njit(error_model='numpy', nogil=True)
def plant_acceleration(q, v, context, a):
    """Write the acceleration of the arm with its actuators, frictions and wrenches."""
    joint_torques(q, v, context)
    add_wrench_torques(q, context)
    forward_dynamics(q, v, context.torque, context.diagonal, context.sine, context.cosine, a)


@njit(error_model='numpy', nogil=True)
def find_dry_friction(h, q, v, context):
    """Write the Coulomb friction torque of the coming step to context.dry_friction.

    The torque within +-friction that stops the joint by the end of the step where it can, and else
    opposes its motion: v_free + h A^-1 f = 0 or |f| = friction, by projected Gauss-Seidel.
    """
    table = context.table
    friction = context.dry_friction
    friction[:] = 0.0
    if not np.any(table[FRICTION] > 0.0):
        return
    a = context.scratch[0]
    plant_acceleration(q, v, context, a)
    mass_matrix(q, context.sine, context.cosine, context.mass)
    for i in range(q.size):
        context.mass[i, i] += context.diagonal[i]
    response = h * np.linalg.inv(context.mass)
    velocity = v + h * a
    for _ in range(_FRICTION_SWEEPS):
        change = 0.0
        for i in range(q.size):
            bound = table[FRICTION, i]
            wanted = friction[i] - velocity[i] / response[i, i]
            wanted = min(max(wanted, -bound), bound)
            step = wanted - friction[i]
            friction[i] = wanted
            velocity += response[:, i] * step
            change = max(change, abs(step))
        if change < 1e-13:
            break


@njit(cache=True, error_model='numpy', nogil=True)
def advance(integrator, step, count, q, v, context):
    """Move the plant's q and v on by `count` steps, in place."""
    for _ in range(count):
        find_dry_friction(step, q, v, context)
        integrators.step(integrator, plant_acceleration, q, v, step, context, context.scratch)


@njit(error_model='numpy', nogil=True, _nrt=False)
def _hold_stuck(q, v, a, stuck, torque, limits, sine, cosine, free, load, held):
    """Let go of stuck joints unless their net torque is exactly zero; hold those that are."""
    for i in range(free.size):
        free[i] = 1.0
    articulated_dynamics(q, v, torque, free, sine, cosine, held, load)
    any_stuck = False
    for i in range(stuck.size):
        if stuck[i] != 0.0 and load[i] - limits[i] == 0.0:
            free[i] = 0.0
            any_stuck = True
        else:
            stuck[i] = 0.0
    if any_stuck:
        articulated_dynamics(q, v, torque, free, sine, cosine, held, load)
        for i in range(a.size):
            a[i] = held[i]


@njit(cache=True, error_model='numpy', nogil=True, _nrt=False)
def motor_rollout(q, v, a, stuck, previous, voltage, h, count, table, work, control, trace):
    """Move the published arm's state on by `count` steps h, in place; return the summed error J.

    A step is explicit Euler with the acceleration carried in the state, then stiction, then the
    acceleration at the new state under `voltage`: arm_dynamics.five_joint_arm says it in full.
    After it the error e = target - q of the controlled joints is summed up, and their next
    voltages are V = P e + I sum(e) + D (e - previous e); sums and differences carry no step.

    One loop for both, with the step written out and no reference counts (`_nrt`): calls that hand
    arrays on would cost as much as the dynamics.

    Args:
        q, v, a, stuck, previous, voltage: (n,) the state; `stuck` is 0 or 1, voltage in [V].
        h, count: step [s] and number of steps.
        table: joint numbers.
        work: MotorScratch.
        control: PoseControl; with no controlled joints the voltages stay as they are.
        trace: (rows, n) gets q at evenly spread steps; no rows for none.
    """
    torque, limits, armature = work.torque, work.limits, work.armature
    sine, cosine = work.sine, work.cosine
    free, load, held = work.free, work.load, work.a
    gains, target, total, last = control.gains, control.target, control.total, control.last
    active = control.active
    rows = trace.shape[0]
    every = count // rows if rows else 0
    row, until_row = 0, every
    cost = 0.0
    for _ in range(count):
        any_stuck = False
        for i in range(q.size):
            q[i] += h * v[i]
            velocity = v[i] + h * a[i]
            if (velocity > 0.0 and previous[i] < 0.0) or (velocity < 0.0 and previous[i] > 0.0):
                velocity = 0.0
                stuck[i] = 1.0
            v[i] = velocity
            previous[i] = velocity
            limits[i] = limit_torque(q[i], velocity, table, i)
            torque[i] = motor_torque(voltage[i], velocity, table, i) + 2.0 * limits[i]
            # Where its own torque is not zero, the net one could be zero by rounding alone.
            if velocity != 0.0 or torque[i] != 0.0:
                stuck[i] = 0.0
            elif stuck[i] != 0.0:
                any_stuck = True
        forward_dynamics(q, v, torque, armature, sine, cosine, a)
        if any_stuck:
            _hold_stuck(q, v, a, stuck, torque, limits, sine, cosine, free, load, held)

        step_error = 0.0
        for k in range(active.size):
            i = active[k]
            error = target[i] - q[i]
            step_error += abs(error)
            total[i] += error
            voltage[i] = (
                gains[0, i] * error + gains[1, i] * total[i] + gains[2, i] * (error - last[i])
            )
            last[i] = error
        if rows:
            until_row -= 1
            if until_row == 0 and row < rows:
                for i in range(q.size):
                    trace[row, i] = q[i]
                row, until_row = row + 1, every
        if not step_error <= BLOW_UP_ERROR:
            return BLOW_UP_COST
        cost += step_error
    return cost
