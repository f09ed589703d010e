"""Forward kinematics from Denavit-Hartenberg rows, modified and standard."""

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.arrays import Array
from arm_dynamics.errors import ArmError

# UR5e, manufacturer's lengths [m]: (alpha, a, d) a row, then a tool of 0.135 m along z.
UR5E_MODIFIED = np.array(
    [
        (0.0, 0.0, 0.1625),
        (np.pi / 2, 0.0, 0.0),
        (0.0, -0.425, 0.0),
        (0.0, -0.3922, 0.1333),
        (np.pi / 2, 0.0, 0.0997),
        (-np.pi / 2, 0.0, 0.0996),
    ]
)
UR5E_STANDARD = np.array(
    [
        (np.pi / 2, 0.0, 0.1625),
        (0.0, -0.425, 0.0),
        (0.0, -0.3922, 0.0),
        (np.pi / 2, 0.0, 0.1333),
        (-np.pi / 2, 0.0, 0.0997),
        (0.0, 0.0, 0.0996),
    ]
)
UR5E_TOOL = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.135]))


def rot_x(angle: float) -> Array:
    """Return the rotation (4, 4) about x by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def rot_z(angle: float) -> Array:
    """Return the rotation (4, 4) about z by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def translation(x: float, y: float, z: float) -> Array:
    """Return the translation (4, 4) by (x, y, z) [m]."""
    return np.array([[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z], [0, 0, 0, 1.0]])


def modified_dh(rows: ArrayLike, q: ArrayLike, tool: pin.SE3 | None = None) -> pin.SE3:
    """Return the tool's pose by modified rows: Rot_x(alpha) Trans_x(a) Trans_z(d) Rot_z(theta).

    Args:
        rows: (n, 3) alpha [rad], a [m], d [m], or (n, 4) with an offset of theta [rad].
        q: (n,) revolute joint angles [rad].
        tool: pose of the tool in the last frame; None: the last frame itself.

    Source: Craig, Introduction to Robotics, section 3.4.
    """
    pose = np.eye(4)
    for (alpha, a, d, offset), angle in _joined(rows, q):
        pose = pose @ rot_x(alpha) @ translation(a, 0, 0) @ translation(0, 0, d)
        pose = pose @ rot_z(angle + offset)
    return pin.SE3(pose) * (pin.SE3.Identity() if tool is None else tool)


def standard_dh(rows: ArrayLike, q: ArrayLike, tool: pin.SE3 | None = None) -> pin.SE3:
    """Return the tool's pose by standard rows: Rot_z(theta) Trans_z(d) Trans_x(a) Rot_x(alpha).

    Arguments as for `modified_dh`. Source: Siciliano et al., Robotics, section 2.8.2.
    """
    pose = np.eye(4)
    for (alpha, a, d, offset), angle in _joined(rows, q):
        pose = pose @ rot_z(angle + offset) @ translation(0, 0, d)
        pose = pose @ translation(a, 0, 0) @ rot_x(alpha)
    return pin.SE3(pose) * (pin.SE3.Identity() if tool is None else tool)


def _joined(rows: ArrayLike, q: ArrayLike) -> list[tuple[Array, float]]:
    """Return (alpha, a, d, offset) and angle of each joint, checked."""
    rows, q = np.asarray(rows, dtype=float), np.asarray(q, dtype=float)
    if rows.ndim != 2 or rows.shape[1] not in (3, 4) or q.shape != (len(rows),):
        raise ArmError(f'DH rows are (n, 3) or (n, 4) and q is (n,), not {rows.shape}, {q.shape}')
    full = np.zeros((len(rows), 4))
    full[:, : rows.shape[1]] = rows
    return list(zip(full, q.tolist(), strict=True))
