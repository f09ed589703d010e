"""Forward kinematics from Denavit-Hartenberg rows, modified and standard."""

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array

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


def screw(axis: int, angle: float, along: float) -> pin.SE3:
    """Return the turn [rad] about and the shift [m] along one axis: 0 for x, 2 for z."""
    unit = np.eye(3)[axis]
    return pin.SE3(pin.exp3(angle * unit), along * unit)


def modified_dh(rows: ArrayLike, q: ArrayLike, tool: pin.SE3 | None = None) -> pin.SE3:
    """Return the tool's pose by modified rows: Rot_x(alpha) Trans_x(a) Trans_z(d) Rot_z(theta).

    Args:
        rows: (n, 3) alpha [rad], a [m], d [m], or (n, 4) with an offset of theta [rad].
        q: (n,) revolute joint angles [rad].
        tool: pose of the tool in the last frame; None: the last frame itself.

    Source: Craig, Introduction to Robotics, section 3.4.
    """
    pose = pin.SE3.Identity()
    for (alpha, a, d, offset), angle in _joined(rows, q):
        pose = pose * screw(0, alpha, a) * screw(2, angle + offset, d)
    return pose if tool is None else pose * tool


def standard_dh(rows: ArrayLike, q: ArrayLike, tool: pin.SE3 | None = None) -> pin.SE3:
    """Return the tool's pose by standard rows: Rot_z(theta) Trans_z(d) Trans_x(a) Rot_x(alpha).

    Arguments as for `modified_dh`. Source: Siciliano et al., Robotics, section 2.8.2.
    """
    pose = pin.SE3.Identity()
    for (alpha, a, d, offset), angle in _joined(rows, q):
        pose = pose * screw(2, angle + offset, d) * screw(0, alpha, a)
    return pose if tool is None else pose * tool


def _joined(rows: ArrayLike, q: ArrayLike) -> list[tuple[Array, float]]:
    """Return (alpha, a, d, offset) and angle of each joint, checked."""
    rows, q = np.asarray(rows, dtype=float), np.asarray(q, dtype=float)
    if rows.ndim != 2 or rows.shape[1] not in (3, 4) or q.shape != (len(rows),):
        raise ArmError(f'DH rows are (n, 3) or (n, 4) and q is (n,), not {rows.shape}, {q.shape}')
    full = np.zeros((len(rows), 4))
    full[:, : rows.shape[1]] = rows
    return list(zip(full, q.tolist(), strict=True))
