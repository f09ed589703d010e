"""Compiled loops around an arm's generated dynamics: plant steps and motor steps.

This source is appended to every generated module, after the functions of the dynamics.
Arrays are (n,) or have one column per joint; `table` is joint_torques'.
"""

# ruff: noqa: F821  (the functions of the dynamics)

from numba import njit

from arm_dynamics.compiled.dry_friction import dry_friction
from arm_dynamics.compiled.integrators import (
    POINT_Q,
    POINT_V,
    RK4,
    STAGES,
    A,
    begin_stage,
    end_stage,
    end_step,
)
from arm_dynamics.compiled.joint_torques import FRICTION, joint_loads, limit_torque, motor_torque


@njit(cache=True, error_model='numpy', nogil=True)
def wrench_torques(q, context):
    """Write J^T w of the external wrenches to context.wrench_torque."""
    rotation, translation = context.rotation, context.translation
    result = context.wrench_torque
    result[:] = 0.0
    placements(q, context.sine, context.cosine, rotation, translation)
    for k in range(context.wrench_link.size):
        link = context.wrench_link[k]
        x, y, z, force_x, force_y, force_z, moment_x, moment_y, moment_z = context.wrench[k]
        turn, origin = rotation[link], translation[link]
        at_x = turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z + origin[0]
        at_y = turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z + origin[1]
        at_z = turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z + origin[2]
        while link >= 0:
            axis, origin = rotation[link, :, 2], translation[link]
            joint, ratio = context.coordinate[link], context.multiplier[link]
            if context.prismatic[link]:
                along = axis[0] * force_x + axis[1] * force_y + axis[2] * force_z
                result[joint] += ratio * along
            else:
                arm_x, arm_y, arm_z = at_x - origin[0], at_y - origin[1], at_z - origin[2]
                result[joint] += ratio * axis[0] * (moment_x + arm_y * force_z - arm_z * force_y)
                result[joint] += ratio * axis[1] * (moment_y + arm_z * force_x - arm_x * force_z)
                result[joint] += ratio * axis[2] * (moment_z + arm_x * force_y - arm_y * force_x)
            link = context.parents[link]


@njit(error_model='numpy', nogil=True, _nrt=False)
def plant_acceleration(actuator, command, table, implicit_step, extra, q, v, work, effort, a):
    """Write the acceleration of the arm with its actuators, frictions and limits.

    With an implicit step h, h times all damping is added to the inertia:
    v+ = v + h (M + armature + h D)^-1 (tau - bias), which is MuJoCo's `implicitfast`.

    Args:
        actuator: of joint_torques.kind_of.
        command: (n,) rad | rad/s | N.m | V.
        table: joint numbers.
        implicit_step: h, or 0 for none [s].
        extra: (n,) further torques.
        q, v: (n,) state.
        work: (4, n) scratch: torque, diagonal, sine, cosine.
        effort: (n,) gets the actuators' torques.
        a: (n,) gets the acceleration.
    """
    torque, diagonal, sine, cosine = work
    loads = (effort, torque, diagonal)
    joint_loads(actuator, command, table, implicit_step, extra, q, v, loads)
    forward_dynamics(q, v, torque, diagonal, sine, cosine, a)


@njit(cache=True, error_model='numpy', nogil=True)
def advance(actuator, integrator, h, implicit_step, count, has_friction, q, v, context):
    """Advance the plant's q and v by `count` steps h, in place.

    Args:
        actuator: of joint_torques.kind_of.
        integrator: index in integrators.INTEGRATORS.
        h: step [s].
        implicit_step: h for implicit damping, else 0.
        count: number of steps.
        has_friction: whether there is Coulomb friction.
        q, v: (n,) state.
        context: PlantContext.
    """
    command, table, effort = context.command, context.table, context.effort
    work = (context.torque, context.diagonal, context.sine, context.cosine)
    scratch, extra = context.scratch, context.extra
    point_q, point_v, a = scratch[POINT_Q], scratch[POINT_V], scratch[A]
    pushed = context.wrench_link.size > 0
    rough = has_friction and integrator == RK4  # dry friction is that of each stage
    for _ in range(count):
        for stage in range(STAGES[integrator]):
            begin_stage(integrator, stage, q, v, h, scratch)
            if pushed:
                wrench_torques(point_q, context)
            unknown = has_friction and (stage == 0 or rough)
            for known in range(not unknown, 2):  # at 0 without dry friction, which follows from it
                if pushed or has_friction:
                    for i in range(q.size):
                        dry = context.friction[i] if known else 0.0
                        extra[i] = dry + context.wrench_torque[i]
                plant_acceleration(
                    actuator, command, table, implicit_step, extra, point_q, point_v, work, effort,
                    a,
                )  # fmt: skip
                if known:
                    break
                mass_matrix(point_q, context.sine, context.cosine, context.mass)
                for i in range(q.size):
                    context.mass[i, i] += context.diagonal[i]
                dry_friction(h, a, point_v, table[FRICTION], context.mass, context.friction)
            if rough:
                for i in range(q.size):  # as that of a step by Euler, which batches take
                    a[i] = (point_v[i] + h * a[i] - point_v[i]) / h
            end_stage(stage, scratch)
        end_step(integrator, q, v, h, scratch)
    if integrator == RK4:  # efforts are those of the end, not of the last stage
        joint_loads(actuator, command, table, 0.0, extra, q, v, (effort, work[0], work[1]))


@njit(error_model='numpy', nogil=True, _nrt=False)
def _hold_stuck(q, v, a, stuck, work):
    """Release stuck joints whose net torque is not exactly zero; hold the others at a = 0."""
    torque, limits, sine, cosine, free, load, held, _ = work
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


@njit(error_model='numpy', nogil=True, _nrt=False, forceinline=True)
def motor_step(q, v, a, stuck, previous, voltage, h, table, work):
    """Advance the published arm's state by one step h [s], in place.

    Explicit Euler with the acceleration carried in the state, then stiction, then the acceleration
    at the new state under `voltage`: see published/five_joint_arm.py. Calling loops are compiled
    without reference counts (`_nrt`), which would cost as much as the dynamics.

    Args:
        q, v, a, stuck, previous: (n,) the state; `stuck` is 0 or 1.
        voltage: (n,) [V].
        h: step [s].
        table: joint numbers.
        work: scratch, from ForwardModel.new_scratch().
    """
    torque, limits, sine, cosine, _, _, _, armature = work
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
        # Where the joint's own torque is not zero, the net torque can be zero only by rounding.
        if velocity != 0.0 or torque[i] != 0.0:
            stuck[i] = 0.0
        elif stuck[i] != 0.0:
            any_stuck = True
    forward_dynamics(q, v, torque, armature, sine, cosine, a)
    if any_stuck:
        _hold_stuck(q, v, a, stuck, work)


@njit(cache=True, error_model='numpy', nogil=True, _nrt=False)
def motor_advance(q, v, a, stuck, previous, voltage, h, count, table, work):
    """Advance the published arm's state by `count` steps; see `motor_step`."""
    for _ in range(count):
        motor_step(q, v, a, stuck, previous, voltage, h, table, work)
