"""Motion and forces of the links of any arm, compiled once for all arms.

Compiled loops call these functions, such as those of force laws. The numbers of an arm are a
`link_table`. Vectors are in base axes. Recursive Newton-Euler:

    w_i = w + u q',   w_i' = w' + u q'' + w x u q',   a_i = a + w' x r + w x (w x r)
    F_i = m (a_i + w_i' x c + w_i x (w_i x c)) - external forces + F of the links beyond

Sources: Luh, Walker and Paul, J. Dynamic Systems, Measurement and Control 102, 1980; composite
rigid bodies: Walker and Orin, the same, 104, 1982.
"""

import math
from collections.abc import Sequence

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiling import announce, cached_njit, inlined_njit, unlocked_njit
from arm_dynamics.model import RobotModel

# First columns of a joint's constants, and of what is computed of its link.
PARENT, PRISMATIC, ROTATION, PLACE, AXIS, MASS, CENTRE, INERTIA = 0, 1, 2, 11, 14, 17, 18, 21
COLUMN, MULTIPLIER, OFFSET, CONSTANTS = 30, 31, 32, 33
TURN, ORIGIN, SPIN, SPIN_RATE, ACCELERATION, FORCE, TORQUE, VELOCITY, FOUND = (
    0, 9, 12, 15, 18, 21, 24, 27, 30,
)  # fmt: skip

announce('arm_dynamics.link_rows', 'motion and forces of links')


def link_table(model: RobotModel, names: Sequence[str] = ()) -> Array:
    """Return the constants of an arm (m + 1, CONSTANTS): gravity of the base, then its joints.

    `names`: of the joints whose positions the compiled functions get, others do not move; empty:
    those of the model.
    """
    pin_model, mimic, names = model.pin_model, model.mimic, names or model.joint_names
    table = np.zeros((pin_model.njoints, CONSTANTS))
    table[0, :3] = model.gravity
    for joint in range(1, pin_model.njoints):
        axis = np.ravel(pin_model.joints[joint].createData().S)
        slides, place = bool(axis[:3].any()), pin_model.jointPlacements[joint]
        inertia, k = pin_model.inertias[joint], joint - 1
        name = model.joint_names[k if mimic is None else mimic.leader[k]]
        moved = (1.0, 0.0) if mimic is None else (mimic.multiplier[k], mimic.offset[k])
        table[joint] = np.concatenate([
            [pin_model.parents[joint], slides], place.rotation.ravel(), place.translation,
            axis[:3] if slides else axis[3:], [inertia.mass], inertia.lever,
            inertia.inertia.ravel(), [names.index(name) if name in names else -1.0, *moved],
        ])  # fmt: skip
    return table


def frame_on_link(model: RobotModel, frame: str) -> Array:
    """Return the joint that carries a frame, and its rotation and origin behind it (13,)."""
    own = model.pin_model.frames[model.frame_id(frame)]
    place = own.placement
    return np.concatenate([[own.parentJoint], place.rotation.ravel(), place.translation])


@inlined_njit
def _turned(turn, x, y, z):
    """Return rotation (9,) times a vector."""
    return (
        turn[0] * x + turn[1] * y + turn[2] * z,
        turn[3] * x + turn[4] * y + turn[5] * z,
        turn[6] * x + turn[7] * y + turn[8] * z,
    )


@inlined_njit
def _cross(one, other):
    return (
        one[1] * other[2] - one[2] * other[1],
        one[2] * other[0] - one[0] * other[2],
        one[0] * other[1] - one[1] * other[0],
    )


@inlined_njit
def _vector(row, first):
    return row[first], row[first + 1], row[first + 2]


@inlined_njit
def _moved_by(spin, rate, lever):
    """Return w' x r + w x (w x r)."""
    one, two = _cross(rate, lever), _cross(spin, _cross(spin, lever))
    return one[0] + two[0], one[1] + two[1], one[2] + two[2]


@inlined_njit
def _place(own, q, parent, row):
    """Write the pose of a link behind its joint at a position; return axis, lever, travel."""
    before, place = parent[TURN:ORIGIN], own[ROTATION:PLACE]
    x, y, z = own[AXIS], own[AXIS + 1], own[AXIS + 2]
    fixed = q if own[PRISMATIC] else 0.0
    c, s = (1.0, 0.0) if own[PRISMATIC] else (math.cos(q), math.sin(q))
    d = 1.0 - c
    joint = (
        c + d * x * x, d * x * y - s * z, d * x * z + s * y,
        d * x * y + s * z, c + d * y * y, d * y * z - s * x,
        d * x * z - s * y, d * y * z + s * x, c + d * z * z,
    )  # fmt: skip
    for j in range(3):
        column = _turned(place, joint[j], joint[3 + j], joint[6 + j])
        row[TURN + j], row[TURN + 3 + j], row[TURN + 6 + j] = _turned(before, *column)
    axis = _turned(before, *_turned(place, x, y, z))
    lever = _turned(before, own[PLACE], own[PLACE + 1], own[PLACE + 2])
    lever = (
        lever[0] + fixed * axis[0], lever[1] + fixed * axis[1], lever[2] + fixed * axis[2],
    )  # fmt: skip
    for i in range(3):
        row[ORIGIN + i] = parent[ORIGIN + i] + lever[i]
    return axis, lever


@inlined_njit
def _move(own, v, a, axis, lever, parent, row):
    """Write the motion of a link from that of its parent."""
    spin, rate = _vector(parent, SPIN), _vector(parent, SPIN_RATE)
    across, swept = _cross(spin, axis), _cross(spin, lever)
    carried = _moved_by(spin, rate, lever)
    slides = own[PRISMATIC]
    for i in range(3):
        row[SPIN + i] = spin[i] + (0.0 if slides else axis[i] * v)
        row[SPIN_RATE + i] = rate[i] + (0.0 if slides else axis[i] * a + across[i] * v)
        slide = axis[i] * a + 2.0 * across[i] * v if slides else 0.0
        row[ACCELERATION + i] = parent[ACCELERATION + i] + carried[i] + slide
        slide = axis[i] * v if slides else 0.0
        row[VELOCITY + i] = parent[VELOCITY + i] + swept[i] + slide


@inlined_njit
def _load(own, row):
    """Write the force and the torque about its origin that the motion of a link needs."""
    turn = row[TURN:ORIGIN]
    centre = _turned(turn, own[CENTRE], own[CENTRE + 1], own[CENTRE + 2])
    spin, rate = _vector(row, SPIN), _vector(row, SPIN_RATE)
    at_centre, mass = _moved_by(spin, rate, centre), own[MASS]
    force = (
        mass * (row[ACCELERATION] + at_centre[0]),
        mass * (row[ACCELERATION + 1] + at_centre[1]),
        mass * (row[ACCELERATION + 2] + at_centre[2]),
    )
    inertia = own[INERTIA:COLUMN]
    inverse = turn[0], turn[3], turn[6], turn[1], turn[4], turn[7], turn[2], turn[5], turn[8]
    of_rate = _turned(turn, *_turned(inertia, *_turned(inverse, *rate)))
    of_spin = _cross(spin, _turned(turn, *_turned(inertia, *_turned(inverse, *spin))))
    lever = _cross(centre, force)
    for i in range(3):
        row[FORCE + i] = force[i]
        row[TORQUE + i] = of_rate[i] + of_spin[i] + lever[i]


@inlined_njit
def _axis(own, row):
    """Return the axis of the joint before a link."""
    return _turned(row[TURN:ORIGIN], own[AXIS], own[AXIS + 1], own[AXIS + 2])


@cached_njit
def outward(table, q, v, a, rows):
    """Write poses, motions and loads (m + 1, FOUND) of the links at q, v, a (n,) of an arm."""
    rows[0] = 0.0
    for i in range(3):
        rows[0, TURN + 4 * i], rows[0, ACCELERATION + i] = 1.0, -table[0, i]
    for j in range(1, rows.shape[0]):
        own, row, parent = table[j], rows[j], rows[int(table[j, PARENT])]
        column, ratio = int(own[COLUMN]), own[MULTIPLIER]
        position, speed, rate = own[OFFSET], 0.0, 0.0
        if column >= 0:
            position += ratio * q[column]
            speed, rate = ratio * v[column], ratio * a[column]
        axis, lever = _place(own, position, parent, row)
        _move(own, speed, rate, axis, lever, parent, row)
        _load(own, row)


@cached_njit
def inward(table, rows, tau):
    """Add the loads beyond to each link, and write the torques (n,) of the joints."""
    tau[:] = 0.0
    for j in range(rows.shape[0] - 1, 0, -1):
        own, row, parent = table[j], rows[j], rows[int(table[j, PARENT])]
        if own[COLUMN] >= 0.0:
            axis, load = _axis(own, row), _vector(row, FORCE if own[PRISMATIC] else TORQUE)
            along = axis[0] * load[0] + axis[1] * load[1] + axis[2] * load[2]
            tau[int(own[COLUMN])] += own[MULTIPLIER] * along
        lever = (
            row[ORIGIN] - parent[ORIGIN],
            row[ORIGIN + 1] - parent[ORIGIN + 1],
            row[ORIGIN + 2] - parent[ORIGIN + 2],
        )
        about = _cross(lever, _vector(row, FORCE))
        for i in range(3):
            parent[FORCE + i] += row[FORCE + i]
            parent[TORQUE + i] += row[TORQUE + i] + about[i]


@cached_njit
def frame_motion(table, rows, frame, motion):
    """Write the motion (24,) of a frame after `outward`.

    Rotation (9,), origin, its velocity, angular velocity, classical acceleration, angular one.
    """
    row = rows[int(frame[0])]
    turn, spin, rate = row[TURN:ORIGIN], _vector(row, SPIN), _vector(row, SPIN_RATE)
    lever = _turned(turn, frame[10], frame[11], frame[12])
    swept, carried = _cross(spin, lever), _moved_by(spin, rate, lever)
    for i in range(3):
        column = _turned(turn, frame[1 + i], frame[4 + i], frame[7 + i])
        motion[i], motion[3 + i], motion[6 + i] = column
        motion[9 + i], motion[12 + i] = row[ORIGIN + i] + lever[i], row[VELOCITY + i] + swept[i]
        motion[15 + i], motion[21 + i] = spin[i], rate[i]
        motion[18 + i] = row[ACCELERATION + i] + table[0, i] + carried[i]


@cached_njit
def frame_jacobian(table, rows, frame, point, jacobian):
    """Write J (6, n) of a frame whose origin is at a point (3,), after `outward`."""
    jacobian[:] = 0.0
    j = int(frame[0])
    while j > 0:
        own, row, column = table[j], rows[j], int(table[j, COLUMN])
        if column >= 0:
            axis, ratio = _axis(own, row), own[MULTIPLIER]
            lever = (
                point[0] - row[ORIGIN], point[1] - row[ORIGIN + 1], point[2] - row[ORIGIN + 2],
            )  # fmt: skip
            swept = axis if own[PRISMATIC] else _cross(axis, lever)
            for i in range(3):
                jacobian[i, column] += ratio * swept[i]
                jacobian[3 + i, column] += 0.0 if own[PRISMATIC] else ratio * axis[i]
        j = int(own[PARENT])


@cached_njit
def mass_matrix(table, rows, composite, mass):
    """Write M(q) (n, n) without rotor inertias, after `outward`; `composite` (m + 1, 10): scratch.

    The inertias of composite bodies are about the base's origin: mass, first moment, and
    xx, yy, zz, xy, xz, yz of the second.
    """
    mass[:] = 0.0
    composite[0] = 0.0
    for j in range(1, rows.shape[0]):
        own, row, body = table[j], rows[j], composite[j]
        turn, m = row[TURN:ORIGIN], own[MASS]
        lever = _turned(turn, own[CENTRE], own[CENTRE + 1], own[CENTRE + 2])
        x, y, z = row[ORIGIN] + lever[0], row[ORIGIN + 1] + lever[1], row[ORIGIN + 2] + lever[2]
        body[0], body[1], body[2], body[3] = m, m * x, m * y, m * z
        inertia = own[INERTIA:COLUMN]
        for i, (r, c) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
            part = _turned(inertia, turn[3 * c], turn[3 * c + 1], turn[3 * c + 2])
            body[4 + i] = (
                turn[3 * r] * part[0] + turn[3 * r + 1] * part[1] + turn[3 * r + 2] * part[2]
            )
        body[4] += m * (y * y + z * z)
        body[5] += m * (x * x + z * z)
        body[6] += m * (x * x + y * y)
        body[7] -= m * x * y
        body[8] -= m * x * z
        body[9] -= m * y * z
    for j in range(rows.shape[0] - 1, 0, -1):
        own, body = table[j], composite[j]
        spin, speed = _screw(own, rows[j])
        moment = body[1], body[2], body[3]
        turned, pulled = _cross(spin, moment), _cross(moment, speed)
        force = (
            body[0] * speed[0] + turned[0],
            body[0] * speed[1] + turned[1],
            body[0] * speed[2] + turned[2],
        )
        torque = (
            body[4] * spin[0] + body[7] * spin[1] + body[8] * spin[2] + pulled[0],
            body[7] * spin[0] + body[5] * spin[1] + body[9] * spin[2] + pulled[1],
            body[8] * spin[0] + body[9] * spin[1] + body[6] * spin[2] + pulled[2],
        )
        i = j
        while i > 0:
            one, other = int(own[COLUMN]), int(table[i, COLUMN])
            if one >= 0 and other >= 0:
                spin, speed = _screw(table[i], rows[i])
                product = own[MULTIPLIER] * table[i, MULTIPLIER] * (
                    force[0] * speed[0] + force[1] * speed[1] + force[2] * speed[2]
                    + torque[0] * spin[0] + torque[1] * spin[1] + torque[2] * spin[2]
                )  # fmt: skip
                mass[one, other] += product
                if i != j:
                    mass[other, one] += product
            i = int(table[i, PARENT])
        composite[int(own[PARENT])] += body


@inlined_njit
def _screw(own, row):
    """Return the angular velocity, and the velocity at the base's origin, for a unit of speed."""
    axis = _axis(own, row)
    if own[PRISMATIC]:
        return (0.0, 0.0, 0.0), axis
    return axis, _cross(_vector(row, ORIGIN), axis)


@unlocked_njit
def link_load_rows(tables, cut, q, v, a, joints, wrenches, found, tau, wrench):
    """Compute the loads of the links of N arms; an arm's result is independent of the others.

    Args:
        tables: (N or 1, m + 1, CONSTANTS).
        cut: joint whose wrench is written.
        q, v, a: (N, n) state and acceleration.
        joints: (l,) of what the external forces act on.
        wrenches: (N, l, 6) external forces, about the base's origin.
        found: (N, m + 1, FOUND) is written.
        tau: (N, n) is written: the torques that the joints transmit.
        wrench: (N, 6) is written: of what is beyond the cut on what is before it, at the origin
            and in the axes of the link.
    """
    for k in range(q.shape[0]):
        table, rows = tables[min(k, tables.shape[0] - 1)], found[k]
        outward(table, q[k], v[k], a[k], rows)
        for i in range(joints.shape[0]):
            row, push = rows[joints[i]], wrenches[k, i]
            about = _cross(_vector(row, ORIGIN), _vector(push, 0))
            for d in range(3):
                row[FORCE + d] -= push[d]
                row[TORQUE + d] -= push[3 + d] - about[d]
        inward(table, rows, tau[k])
        row = rows[cut]
        for i in range(3):
            wrench[k, i] = wrench[k, 3 + i] = 0.0
            for d in range(3):
                wrench[k, i] -= row[TURN + 3 * d + i] * row[FORCE + d]
                wrench[k, 3 + i] -= row[TURN + 3 * d + i] * row[TORQUE + d]
