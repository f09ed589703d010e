"""Hybrid force and motion control of N arms in one compiled function."""

import math

import numpy as np

from arm_controllers.contact_rows import SLOW, contact_row, dot, subtract_along
from arm_controllers.task_rows import task_torque
from arm_dynamics.compiling import announce, inlined_njit, unlocked_njit
from arm_dynamics.link_rows import frame_jacobian, frame_motion, outward
from arm_dynamics.rotations import log3

AVERAGED = 2.0  # product of integral gain and time at rest
OFF = 0.2  # force error as a share of the goal that ends the rest
# Columns of the memory behind the normal.
AGE, _APPROACH, _SEEN, INTEGRAL, REST, SIDES, LEFT, MEMORY = 3, 4, 5, 14, 15, 16, 19, 22
_LEAST_MOBILITY = 0.01  # below this a direction of the task is given up smoothly [1/kg]

announce('arm_controllers.hybrid_rows', 'force laws')


@unlocked_njit
def hybrid_row(
    numbers, dt, wrench, selection, felt, target, tip, error, memory, others, force, tip_a
):  # fmt: skip
    """Advance hybrid force and motion control of one arm by a period.

    Args:
        numbers: of `contact_row`, then kp, kd, orientation_kp, orientation_kd, force_damping,
            force_ki, force_ki_at_rest, cancel_friction.
        dt: [s].
        wrench: (6,) the goal; (0,): none.
        selection, felt: as for `contact_row`.
        target: (12,) velocity and acceleration of the tip in the reference.
        tip: (12,) its velocity, and Jdot v.
        error: (6,) of its pose.
        memory: of the contact.
        others: integral (1,), rest (1,), sides (3,), left (3,): what of the position's error the
            last goal has left, which fades with the speed of the approach.
        force: (6,) of the force loop, is written.
        tip_a: (6,) desired acceleration of the tip minus Jdot v, is written.
    """
    kp, kd, damping, cancels = numbers[4], numbers[5], numbers[8], numbers[11]
    normal, age, approach, _ = memory
    integral, rest, sideways, left = others
    size = math.sqrt(dot(left, left))
    left *= max(0.0, 1.0 - dt * numbers[1] / size) if size > 0.0 else 0.0
    expected, sides = np.zeros(3), np.zeros((3, 3))
    force[:] = 0.0
    if len(wrench) == 0:
        if normal.any():  # the goal ends
            left[:] = error[:3]
        normal[:] = 0.0
    else:
        moving = min(math.sqrt(dot(target, target)) / SLOW, 1.0)
        kept, touches = contact_row(
            numbers, dt, wrench, selection, felt, tip, moving, memory, expected, sides
        )
        rise = min(max(age[0] / numbers[2], 0.0), 1.0)
        goal, rate = rise * math.sqrt(dot(wrench, wrench)), dot(tip, normal)
        push = damping * approach[0] if age[0] < 0.0 else goal
        # What a faster tool feels is its own inertia.
        fastest = damping * numbers[1] + math.sqrt(dot(wrench, wrench))
        presses = touches and -damping * rate <= fastest
        off = goal - dot(felt, normal) if presses else push + damping * rate
        still = not np.any(target[:6] != 0.0)
        steady = still and age[0] > numbers[2] and abs(off) < OFF * goal
        rest[0] = rest[0] + dt if steady else 0.0
        ki = min(numbers[9], max(AVERAGED / max(rest[0], dt), numbers[10]))
        integral[0] = (integral[0] if kept else 0.0) + dt * ki * off
        friction = felt.copy()
        subtract_along(friction, normal, normal)
        reaction, drag = np.zeros(3), np.zeros(3)
        for i in range(3):
            reaction[i], drag[i] = dot(sides[i], felt), -damping * dot(sides[i], tip)
        pressed = dot(reaction, reaction) > numbers[0] ** 2 and dot(drag, drag) <= fastest**2
        for i in range(3):
            wanted = rise * dot(sides[i], wrench)
            grown = dt * ki * (wanted + (reaction[i] if pressed else drag[i]))
            sideways[i] = (sideways[i] if kept else 0.0) + grown
            force[i] = -(push + integral[0] + damping * rate) * normal[i]
            force[i] += wanted + sideways[i] + drag[i] if sides.any() else 0.0
            force[i] -= cancels * moving * (friction[i] - reaction[i])
    linear, slip = np.empty(3), tip[:3].copy()
    for i in range(3):
        linear[i] = target[6 + i] + kd * target[i] + kp * (error[i] - left[i])
        turn = target[9 + i] + numbers[7] * (target[3 + i] - tip[3 + i])
        tip_a[3 + i] = turn + numbers[6] * error[3 + i] - tip[9 + i]
    subtract_along(linear, normal, expected)
    subtract_along(slip, normal, normal)
    for i in range(3):
        linear[i] -= kd * slip[i]
    for i in range(3):
        tip_a[i] = linear[i] - dot(sides[i], linear) - tip[6 + i]


@inlined_njit
def _felt_at_tip(sensor, wrench, tip, felt):
    """Write the measured wrench (6,) in base axes, its torque about the tip, to `felt`."""
    lever = sensor[9:12] - tip[9:12]
    for i in range(3):
        axis = sensor[3 * i : 3 * i + 3]
        felt[i], felt[3 + i] = dot(axis, wrench[:3]), dot(axis, wrench[3:])
    for i in range(3):
        one, two = (i + 1) % 3, (i + 2) % 3
        felt[3 + i] += lever[one] * felt[two] - lever[two] * felt[one]


@inlined_njit
def _pose_error(target, tip, error):
    """Write the error (6,) from the tip's pose to the target's, in base axes, to `error`."""
    turn = np.empty(9)
    for i in range(3):
        error[i] = target[9 + i] - tip[9 + i]
        for j in range(3):
            turn[3 * i + j] = dot(target[3 * i : 3 * i + 3], tip[3 * j : 3 * j + 3])
    error[3], error[4], error[5] = log3(
        (turn[0], turn[1], turn[2]), (turn[3], turn[4], turn[5]), (turn[6], turn[7], turn[8])
    )


@unlocked_njit
def hybrid_rows(
    table, joints, frames, numbers, posture, dt, has_goal, selection, seen, memory
):  # fmt: skip
    """Advance the law of N arms.

    Args:
        table, joints: `link_table` and `joint_numbers` of all arms.
        frames: (2, 13) of the tip and of the sensor.
        numbers, posture: N rows or one for all, see `hybrid_row` and `task_torque`.
        dt: [s].
        has_goal: whether there is a goal.
        selection: of all arms.
        seen: (N, 6 n + 12) position, velocity, row of the reference, measured wrench, goal.
        memory: (N, MEMORY).

    Returns:
        Torques (N, n) and the memory (N, MEMORY).
    """
    count, n = memory.shape[0], joints.shape[1]
    tau, after, still = np.empty((count, n)), memory.copy(), np.zeros(n)
    links, jacobian = np.empty((table.shape[0], 30)), np.empty((6, n))
    target, tip, sensor = np.empty(24), np.empty(24), np.empty(24)
    felt, error, force, tip_a = np.empty(6), np.empty(6), np.empty(6), np.empty(6)
    for k in range(count):
        row, own = seen[k], after[k]
        q, v, reference, wrench = row[:n], row[n : 2 * n], row[2 * n : 6 * n], row[6 * n :]
        outward(table, reference[:n], reference[n : 2 * n], reference[2 * n : 3 * n], links)
        frame_motion(table, links, frames[0], target)
        outward(table, q, v, still, links)
        frame_motion(table, links, frames[0], tip)
        frame_motion(table, links, frames[1], sensor)
        frame_jacobian(table, links, frames[0], tip[9:12], jacobian)
        _felt_at_tip(sensor, wrench[:6], tip, felt)
        _pose_error(target, tip, error)
        contact = (
            own[:AGE], own[AGE:_APPROACH], own[_APPROACH:_SEEN],
            own[_SEEN:INTEGRAL].reshape(3, 3),
        )  # fmt: skip
        others = own[INTEGRAL:REST], own[REST:SIDES], own[SIDES:LEFT], own[LEFT:]
        hybrid_row(
            numbers[min(k, len(numbers) - 1)], dt, wrench[6:] if has_goal else wrench[:0],
            selection, felt, target[12:], tip[12:], error, contact, others, force, tip_a,
        )  # fmt: skip
        task_torque(
            table, joints, posture[min(k, len(posture) - 1)], _LEAST_MOBILITY, q, v, reference,
            jacobian, tip_a, force, tau[k],
        )  # fmt: skip
        for i in range(n):
            tau[k, i] += reference[3 * n + i]
    return tau, after
