"""Compiled time steps of plants, LANES arms side by side.

This source is appended to the generated module of many arms' dynamics. A block's arrays are
(m LANES,), so that operations joint by joint have the code of one arm.
"""

# ruff: noqa: F821  (the functions of the dynamics, and what their module imports)

import numpy as np
from numba import njit

from arm_dynamics.compiled.dry_friction import dry_friction
from arm_dynamics.compiled.joint_torques import ARMATURE, FRICTION, FRICTION_INERTIA, joint_loads

_SOFT_ROUNDS = 50


@njit(error_model='numpy', nogil=True)
def exact_friction(h, a, v, diagonal, table, mass, extra):
    """Add each arm's Coulomb friction of the coming step to `extra`; see dry_friction.

    Args:
        h: step [s].
        a, v: acceleration without friction, and velocity.
        diagonal: rotors' inertia and implicit damping.
        table: joint numbers.
        mass: mass matrices.
        extra: further torques, which get the friction.
    """
    size = JOINTS
    matrix, friction = np.empty((size, size)), np.empty(size)
    own_a, own_v, bound = np.empty(size), np.empty(size), np.empty(size)
    for k in range(LANES):
        for i in range(size):
            at = i * LANES + k
            own_a[i], own_v[i], bound[i] = a[at], v[at], table[FRICTION, at]
            for j in range(size):
                matrix[i, j] = mass[(i * size + j) * LANES + k]
            matrix[i, i] += diagonal[at]
        dry_friction(h, own_a, own_v, bound, matrix, friction)
        for i in range(size):
            extra[i * LANES + k] += friction[i]


@njit(error_model='numpy', nogil=True)
def soft_friction(rate, q, sine, cosine, v, torque, table, inertia, work):
    """Add MuJoCo's friction torques to `torque`; return whether the solver converged.

    The torque is -D (a + rate v), within +-friction, with a the resulting acceleration and D the
    FRICTION_INERTIA: a soft constraint, under which a joint creeps. With the loss L(a) of these
    torques, a minimises (a - a_0)^T M (a - a_0) / 2 + L(a). Newton's method with exact line search
    ends when a round changes no joint's membership of the bound.

    Args:
        rate: [1/s].
        q, sine, cosine, v: state.
        torque: sum of all other torques, to which the friction is added.
        table: joint numbers.
        inertia: of the links.
        work: (7, n LANES) scratch; row 0 remembers which joints are at the bound: -1, 0 or 1.
    """
    side, loads, diagonal, wanted = work[:4]
    done = np.zeros(LANES, dtype=np.bool_)
    for turn in range(_SOFT_ROUNDS):
        for i in range(q.size):
            within = table[FRICTION_INERTIA, i] if side[i] == 0.0 else 0.0
            loads[i] = torque[i] - side[i] * table[FRICTION, i] - within * (rate * v[i])
            diagonal[i] = table[ARMATURE, i] + within
        forward_dynamics(q, sine, cosine, v, loads, diagonal, inertia, wanted)
        for i in range(q.size):
            wanted[i] += rate * v[i]
        settled = True
        for k in range(LANES):
            if not done[k]:
                done[k] = soft_step(turn == 0, k, table, work)
                settled &= done[k]
        if settled:
            break
    for i in range(q.size):
        torque[i] += soft_torque(work[4, i], table, i)
    return settled


@njit(error_model='numpy', nogil=True)
def soft_torque(slip, table, i):
    """Return the soft friction of joint i, with slip = a + rate v."""
    bound = table[FRICTION, i]
    return min(max(-table[FRICTION_INERTIA, i] * slip, -bound), bound)


@njit(error_model='numpy', nogil=True)
def soft_slope(t, k, table, slip, step, force, change):
    """Return the derivative of the cost along slip + t step, for arm k."""
    slope = 0.0
    for i in range(k, slip.size, LANES):
        friction = soft_torque(slip[i] + t * step[i], table, i)
        slope += step[i] * (force[i] + t * change[i] - friction)
    return slope


@njit(error_model='numpy', nogil=True)
def soft_step(first, k, table, work):
    """Move arm k towards Newton's `wanted` slip, to the least cost; return whether it is done.

    Rows of `work`: side, -, step, wanted, slip, force = M (a - a_0), change = M step.
    """
    side, _, step, wanted, slip, force, change = work
    size, same, largest = slip.size, True, 0.0
    for i in range(k, size, LANES):
        stiffness, bound = table[FRICTION_INERTIA, i], table[FRICTION, i]
        there = 0.0
        if abs(stiffness * wanted[i]) > bound:
            there = 1.0 if wanted[i] > 0.0 else -1.0
        same &= there == side[i]
        if first:
            linear = -stiffness * wanted[i] if side[i] == 0.0 else -side[i] * bound
            step[i], change[i], force[i], slip[i] = 0.0, 0.0, linear, wanted[i]
        else:
            step[i] = wanted[i] - slip[i]
            within = stiffness if side[i] == 0.0 else 0.0
            change[i] = soft_torque(slip[i], table, i) - force[i] - within * step[i]
            largest = max(largest, abs(step[i]) / (1.0 + abs(slip[i])))
    t = 1.0
    if not (same or first) and soft_slope(1.0, k, table, slip, step, force, change) > 0.0:
        low, high = 0.0, 1.0
        for i in range(k, size, LANES):
            for edge in (-1.0, 1.0):
                if step[i] != 0.0 and table[FRICTION_INERTIA, i] > 0.0:
                    kink = edge * table[FRICTION, i] / table[FRICTION_INERTIA, i]
                    kink = (kink - slip[i]) / step[i]
                    if low < kink < high:
                        if soft_slope(kink, k, table, slip, step, force, change) > 0.0:
                            high = kink
                        else:
                            low = kink
        at_low = soft_slope(low, k, table, slip, step, force, change)
        at_high = soft_slope(high, k, table, slip, step, force, change)
        t = low - at_low * (high - low) / (at_high - at_low) if at_high > at_low else low
    for i in range(k, size, LANES):
        slip[i] = wanted[i] if t == 1.0 else slip[i] + t * step[i]
        force[i] += t * change[i]
        stiffness, bound = table[FRICTION_INERTIA, i], table[FRICTION, i]
        side[i] = 0.0
        if abs(stiffness * slip[i]) > bound:
            side[i] = 1.0 if slip[i] > 0.0 else -1.0
    return same or (not first and largest < 1e-14)


@njit(error_model='numpy', nogil=True, forceinline=True)
def block_step(options, h, q, v, command, push, table, inertia, work, rows, mass):
    """Advance a block by one step, in place; return whether soft friction was found.

    Args:
        options, h: see `advance_many`.
        q, v, command, push, table, inertia: of the block.
        work: (7, n LANES) scratch of soft friction, whose row 0 is its state.
        rows: scratch, five of (n LANES,), of which the first gets the actuators' torques, and two
            of (m LANES,).
        mass: (n n LANES,) scratch.
    """
    actuator, explicit, implicit, friction = options
    step, rate = h
    damped = step if implicit else 0.0
    effort, torque, diagonal, a, extra, sine, cosine = rows
    loads = (effort, torque, diagonal)
    found = True
    sincos(q, sine, cosine)
    for i in range(q.size):
        extra[i] = push[i]
    joint_loads(actuator, command, table, damped, extra, q, v, loads)
    if rate > 0.0:
        found = soft_friction(rate, q, sine, cosine, v, torque, table, inertia, work)
    elif friction:
        forward_dynamics(q, sine, cosine, v, torque, diagonal, inertia, a)
        mass_matrix(q, sine, cosine, inertia, mass)
        exact_friction(step, a, v, diagonal, table, mass, extra)
        joint_loads(actuator, command, table, damped, extra, q, v, loads)
    forward_dynamics(q, sine, cosine, v, torque, diagonal, inertia, a)
    for i in range(q.size):
        before = v[i]
        v[i] += step * a[i]
        q[i] += step * (before if explicit else v[i])
    return found


@njit(error_model='numpy', nogil=True, forceinline=True)
def block_arrays():
    """Return q, v, command and pushes (4, n LANES) of a block, and scratch of `block_step`."""
    size = JOINTS * LANES
    effort, torque, diagonal, a, extra = np.zeros((5, size))
    sine, cosine = np.zeros((2, LINKS * LANES))
    rows = effort, torque, diagonal, a, extra, sine, cosine
    return np.zeros((4, size)), rows, np.zeros((7, size)), np.zeros(JOINTS * size)


@njit(cache=True, error_model='numpy', nogil=True)
def advance_many(options, h, count, q, v, command, pushes, table, inertia, at_bound, effort):
    """Advance many arms by `count` steps h, in place.

    Args:
        options: actuator (of kind_of), explicit (0 | 1: Euler's step, else semi-implicit),
            implicit (0 | 1: damping), friction (0 | 1: none of any arm, or exact).
            A positive soft rate in `h[1]` [1/s] makes it MuJoCo's.
        h: (2,) step [s], rate of soft friction [1/s].
        q, v: (N, n) states.
        command: (N, n) rad | rad/s | N.m | V.
        pushes: (N, n) further torques.
        table: (blocks, ROWS, n LANES) joint numbers.
        inertia: (blocks or 1, p LANES) of the links.
        at_bound: (blocks, n LANES) state of soft friction.
        effort: (N, n) gets the actuators' torques of the last step.

    Returns:
        Whether the solver of soft friction always converged.
    """
    (own_q, own_v, own_command, push), rows, work, mass = block_arrays()
    found = True
    for first in range(0, len(q), LANES):
        block = first // LANES
        own_table, own_inertia = table[block], inertia[min(block, len(inertia) - 1)]
        load(q, first, own_q)
        load(v, first, own_v)
        load(command, first, own_command)
        load(pushes, first, push)
        work[0] = at_bound[block]
        for _ in range(count):
            found &= block_step(
                options, h, own_q, own_v, own_command, push, own_table, own_inertia, work, rows,
                mass,
            )  # fmt: skip
        store(own_q, first, q)
        store(own_v, first, v)
        store(rows[0], first, effort)
        at_bound[block] = work[0]
    return found


@njit(cache=True, error_model='numpy', nogil=True)
def follow_many(options, h, q, v, commands, table, inertia, states):
    """Write the states (K, 2, N, n) of many arms after a step h for each command (K, N, n).

    The other arguments are those of `advance_many`, and so is what it returns.
    """
    (own_q, own_v, own_command, push), rows, work, mass = block_arrays()
    found = True
    for first in range(0, len(q), LANES):
        block = first // LANES
        own_table, own_inertia = table[block], inertia[min(block, len(inertia) - 1)]
        load(q, first, own_q)
        load(v, first, own_v)
        work[0] = 0.0
        for k in range(len(commands)):
            load(commands[k], first, own_command)
            found &= block_step(
                options, h, own_q, own_v, own_command, push, own_table, own_inertia, work, rows,
                mass,
            )  # fmt: skip
            store(own_q, first, states[k, 0])
            store(own_v, first, states[k, 1])
    return found
