"""What force laws compute in each period, compiled; arrays have a leading axis N of the arms.

`arm_controllers.contact` and the laws take (...); an arm's result is independent of the others.
"""

import math

import numpy as np

from arm_dynamics.compiling import announce, inlined_njit, unlocked_njit

SETTLING = 0.05  # time of a new contact in which nothing is learned about the normal [s]
APPROACH_ACCELERATION = 0.1  # [m/s^2]
PRIOR = 2e-5  # weight of the expected normal against the motion that was seen [m^2/s]
TURNED = 0.7  # cosine of a turn of the desired force after which the normal is a new one
SLOW = 0.005  # reference speed from which on friction is cancelled in full [m/s]
_SWEEPS = 30  # of Jacobi's method, which converges quadratically

announce('arm_controllers.contact_rows', 'force laws')


@inlined_njit
def dot(one, other):
    """Return the product of two vectors (3,)."""
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


@inlined_njit
def subtract_along(vector, normal, along):
    """Take from a vector (3,) what it has along a direction, measured along the normal."""
    share = dot(along, normal)
    part = dot(vector, normal) / (share if share > 0.0 else 1.0)
    for i in range(3):
        vector[i] -= along[i] * part


@inlined_njit
def least_axis(matrix, axis):
    """Write the unit eigenvector of the least eigenvalue of a symmetric matrix (3, 3) to `axis`.

    Jacobi's method (Golub and Van Loan, section 8.5); the matrix is overwritten.
    """
    turns = np.eye(3)
    for _ in range(_SWEEPS):
        if matrix[0, 1] == 0.0 and matrix[0, 2] == 0.0 and matrix[1, 2] == 0.0:
            break
        for p in range(2):
            for q in range(p + 1, 3):
                if matrix[p, q] == 0.0:
                    continue
                slope = (matrix[q, q] - matrix[p, p]) / (2.0 * matrix[p, q])
                t = 1.0 / (abs(slope) + math.sqrt(1.0 + slope * slope))
                t = t if slope >= 0.0 else -t
                cosine = 1.0 / math.sqrt(1.0 + t * t)
                sine = t * cosine
                for i in range(3):
                    x, y = matrix[i, p], matrix[i, q]
                    matrix[i, p], matrix[i, q] = cosine * x - sine * y, sine * x + cosine * y
                for i in range(3):
                    x, y = matrix[p, i], matrix[q, i]
                    matrix[p, i], matrix[q, i] = cosine * x - sine * y, sine * x + cosine * y
                matrix[p, q] = matrix[q, p] = 0.0
                for i in range(3):
                    x, y = turns[i, p], turns[i, q]
                    turns[i, p], turns[i, q] = cosine * x - sine * y, sine * x + cosine * y
    least = 0
    for i in range(1, 3):
        if matrix[i, i] < matrix[least, least]:
            least = i
    for i in range(3):
        axis[i] = turns[i, least]


@inlined_njit
def selects_several(selection):
    """Return whether a selection (6, 6), or none (0, 0), has several directions of the force."""
    if selection.shape[0] == 0:
        return False
    return selection[0, 0] + selection[1, 1] + selection[2, 2] >= 1.5


@unlocked_njit
def contact_row(numbers, dt, wrench, selection, felt, speed, moving, memory, expected, sides):
    """Advance the contact of one arm by a period; see `next_contact`.

    Args:
        numbers: contact_force, approach_speed, rise_time, normal_time.
        dt: [s].
        wrench: (6,) the goal.
        selection: (6, 6); (0, 0): none.
        felt, speed: (3,).
        moving: pace of the reference.
        memory: normal (3,), age (1,), approach (1,), seen (3, 3), overwritten.
        expected: (3,) is written.
        sides: (3, 3) is written; zeros: the goal selects one direction.

    Returns:
        Whether the contact is that of the period before, and whether the tool touches.
    """
    normal, age, approach, seen = memory
    contact_force, approach_speed, _, normal_time = numbers[0], numbers[1], numbers[2], numbers[3]
    size = math.sqrt(dot(wrench, wrench))
    for i in range(3):
        expected[i] = -wrench[i] / (size if size > 0.0 else 1.0)
    kept = dot(expected, normal) > TURNED
    if not kept:
        age[0], approach[0] = -1.0, 0.0
        seen[:] = 0.0
    touches = math.sqrt(dot(felt, felt)) > contact_force
    if age[0] >= 0.0 or touches:
        age[0] = max(age[0], 0.0) + dt
    several = selects_several(selection)
    for i in range(3):
        for j in range(3):
            sides[i, j] = selection[i, j] - expected[i] * expected[j] if several else 0.0
    # The tip moves in none of several directions.
    learns = touches and moving > 0.0 and age[0] > SETTLING and normal_time > 0.0 and not several
    for i in range(3):
        normal[i] = expected[i]
    if learns:
        keep = math.exp(-dt / max(normal_time, dt))
        weighted = np.empty((3, 3))
        for i in range(3):
            for j in range(3):
                seen[i, j] = keep * seen[i, j] + dt * speed[i] * speed[j]
                prior = (1.0 if i == j else 0.0) - expected[i] * expected[j]
                weighted[i, j] = seen[i, j] + PRIOR * prior
        least_axis(weighted, normal)
        side = np.sign(dot(normal, expected))
        for i in range(3):
            normal[i] *= side
    if age[0] < 0.0:
        approach[0] = min(approach[0] + dt * APPROACH_ACCELERATION, approach_speed)
    else:
        approach[0] = 0.0
    return kept, touches


@unlocked_njit
def contact_rows(
    numbers, dt, wrench, selection, felt, speed, moving, normal, age, approach, seen
):  # fmt: skip
    """Advance the contacts of N arms; see `next_contact`.

    `numbers` and `wrench` have N rows or one for all; the memory is overwritten.

    Returns:
        Expected normals (N, 3), sides (N, 3, 3), kept (N, 1), touches (N, 1), and whether the
        goal selects several directions.
    """
    count = normal.shape[0]
    expected, sides = np.empty((count, 3)), np.empty((count, 3, 3))
    kept, touches = np.empty((count, 1), np.bool_), np.empty((count, 1), np.bool_)
    for k in range(count):
        row, goal = numbers[min(k, len(numbers) - 1)], wrench[min(k, len(wrench) - 1)]
        memory = normal[k], age[k], approach[k], seen[k]
        kept[k, 0], touches[k, 0] = contact_row(
            row, dt, goal, selection, felt[k], speed[k], moving[k, 0], memory, expected[k],
            sides[k],
        )  # fmt: skip
    return expected, sides, kept, touches, selects_several(selection)
