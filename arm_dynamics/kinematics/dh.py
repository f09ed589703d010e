"""Forward kinematics from Denavit-Hartenberg rows, modified and standard."""

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError


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
    return _product(
        rows, q, tool, lambda alpha, a, d, theta: screw(0, alpha, a) * screw(2, theta, d)
    )


def standard_dh(rows: ArrayLike, q: ArrayLike, tool: pin.SE3 | None = None) -> pin.SE3:
    """Return the tool's pose by standard rows: Rot_z(theta) Trans_z(d) Trans_x(a) Rot_x(alpha).

    Arguments as for `modified_dh`. Source: Siciliano et al., Robotics, section 2.8.2.
    """
    return _product(
        rows, q, tool, lambda alpha, a, d, theta: screw(2, theta, d) * screw(0, alpha, a)
    )


def _product(
    rows: ArrayLike, q: ArrayLike, tool: pin.SE3 | None, link: Callable[..., pin.SE3]
) -> pin.SE3:
    """Return the product over the joints of link(alpha, a, d, theta), then the tool, checked."""
    rows, q = np.asarray(rows, dtype=float), np.asarray(q, dtype=float)
    if rows.ndim != 2 or rows.shape[1] not in (3, 4) or q.shape != (len(rows),):
        raise ArmError(f'DH rows are (n, 3) or (n, 4) and q is (n,), not {rows.shape}, {q.shape}')
    pose = pin.SE3.Identity()
    for (alpha, a, d, *offset), angle in zip(rows, q, strict=True):
        pose = pose * link(alpha, a, d, angle + sum(offset))
    return pose if tool is None else pose * tool
