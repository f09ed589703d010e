"""The five-joint arm's step written out plainly: to be read, and to check the compiled one.

Articulated bodies on 6 x 6 matrices (Featherstone 2008, table 7.1), straight from the published
Denavit-Hartenberg table's URDF. It shares no dynamics code with the compiled model or Pinocchio.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_lab.published.five_joint_arm import (
    ACCELERATION,
    JOINTS,
    LIMIT_DAMPER,
    LIMIT_SPRING,
    MOTORS,
    POSITION,
    PREVIOUS_VELOCITY,
    STICTION,
    TIP,
    VELOCITY,
)

_KT = np.array(MOTORS.torque_constant)
_TIP_IN_LINK = np.array([0.0, 0.1, 0.0])


def reference_step(model: RobotModel, state: Array, voltages: Array, dt: float) -> Array:
    """Return the next state (28,); `model` is the five-joint arm's."""
    q = state[POSITION] + dt * state[VELOCITY]
    v = state[VELOCITY] + dt * state[ACCELERATION]
    stuck = state[STICTION] != 0.0
    crossing = v * np.sign(state[PREVIOUS_VELOCITY]) < 0.0
    v = np.where(crossing, 0.0, v)
    stuck = stuck | crossing

    limit = np.zeros(JOINTS)
    for i in range(JOINTS):
        bound = np.clip(q[i], model.position_lower[i], model.position_upper[i])
        if q[i] != bound:
            limit[i] = LIMIT_SPRING[i] * (bound - q[i]) - LIMIT_DAMPER[i] * v[i]
    motor = _KT * (voltages - _KT * v)
    a, stuck = _accelerations(model, q, v, motor, limit, stuck)

    result = np.empty_like(state)
    result[POSITION], result[VELOCITY], result[ACCELERATION] = q, v, a
    result[TIP] = _tip(model, q)
    result[STICTION], result[PREVIOUS_VELOCITY] = stuck, v
    return result


def _accelerations(
    model: RobotModel, q: Array, v: Array, motor: Array, limit: Array, stuck: NDArray[np.bool_]
) -> tuple[Array, NDArray[np.bool_]]:
    """Return accelerations and which joints are still stuck; motion vectors are (angular, linear).

    The limit's torque counts once where sticking is decided, and twice in what accelerates.
    """
    axis = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    transforms, velocities, drifts, inertias, forces = [], [], [], [], []
    velocity = np.zeros(6)
    for i in range(JOINTS):
        x = _motion_transform(model, i, q[i])
        velocity = x @ velocity + axis * v[i]
        inertia = _links(model)[i][3]
        transforms.append(x)
        velocities.append(velocity)
        drifts.append(_cross_motion(velocity) @ axis * v[i])
        inertias.append(inertia)
        forces.append(-_cross_motion(velocity).T @ inertia @ velocity)

    loads, columns = np.zeros(JOINTS), np.zeros((JOINTS, 6))
    still = stuck.copy()
    for i in reversed(range(JOINTS)):
        columns[i] = inertias[i] @ axis
        diagonal = columns[i] @ axis
        net = motor[i] + limit[i] - axis @ forces[i]
        still[i] = stuck[i] and v[i] == 0.0 and net == 0.0
        loads[i] = net + limit[i]
        if i > 0:
            reduced = inertias[i] - np.outer(columns[i], columns[i]) / diagonal
            force = forces[i] + reduced @ drifts[i] + columns[i] * (loads[i] / diagonal)
            inertias[i - 1] = inertias[i - 1] + transforms[i].T @ reduced @ transforms[i]
            forces[i - 1] = forces[i - 1] + transforms[i].T @ force

    a = np.zeros(JOINTS)
    acceleration = np.concatenate([np.zeros(3), -model.gravity])
    for i in range(JOINTS):
        acceleration = transforms[i] @ acceleration + drifts[i]
        if not still[i]:
            a[i] = (loads[i] - columns[i] @ acceleration) / (columns[i] @ axis)
        acceleration = acceleration + axis * a[i]
    return a, still


@functools.cache
def _links(model: RobotModel) -> list[tuple[Array, Array, Array, Array]]:
    """Return each link's rotation and offset in its parent, [offset]x, and inertia (6, 6)."""
    links = []
    for i in range(JOINTS):
        placement = model.pin_model.jointPlacements[i + 1]
        body = model.pin_model.inertias[i + 1]
        c = _skew(body.lever)
        inertia = np.zeros((6, 6))
        inertia[:3, :3] = body.inertia - body.mass * c @ c
        inertia[:3, 3:] = body.mass * c
        inertia[3:, :3] = -body.mass * c
        inertia[3:, 3:] = body.mass * np.eye(3)
        offset = placement.translation.copy()
        links.append((placement.rotation.copy(), offset, _skew(offset), inertia))
    return links


def _rotation(model: RobotModel, i: int, angle: float) -> Array:
    """Return the rotation (3, 3) of link i's frame in its parent's."""
    c, s = np.cos(angle), np.sin(angle)
    return _links(model)[i][0] @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _motion_transform(model: RobotModel, i: int, angle: float) -> Array:
    """Return the (6, 6) transform of motions from the parent's frame to link i's."""
    rotation = _rotation(model, i, angle).T
    x = np.zeros((6, 6))
    x[:3, :3] = x[3:, 3:] = rotation
    x[3:, :3] = -rotation @ _links(model)[i][2]
    return x


def _cross_motion(velocity: Array) -> Array:
    x = np.zeros((6, 6))
    x[:3, :3] = x[3:, 3:] = _skew(velocity[:3])
    x[3:, :3] = _skew(velocity[3:])
    return x


def _skew(p: Array) -> Array:
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def _tip(model: RobotModel, q: Array) -> Array:
    point = _TIP_IN_LINK
    for i in reversed(range(JOINTS)):
        offset = _links(model)[i][1]
        point = _rotation(model, i, q[i]) @ point + offset
    return point
