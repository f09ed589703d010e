"""Dynamics of an open chain as a product of exponentials (Lynch and Park, Modern Robotics)."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel


@dataclass(frozen=True)
class ScrewModel:
    """A chain of n links given by screw axes, home frames and spatial inertias.

    Twists and wrenches are in the book's order, angular part on top: V = (omega; v),
    F = (moment; force). Screw axes need no unit length. Source: Modern Robotics, section 8.3.

    Attributes:
        link_frames: (n + 1, 4, 4), M_{i-1,i}: centre-of-mass frame i in frame i - 1 at q = 0; the
            last is the tool frame in frame n.
        spatial_inertias: (n, 6, 6), G_i in frame i [kg m^2, kg].
        screw_axes: (6, n), S_i in the base frame at q = 0.
        gravity: (3,) [m/s^2].
    """

    link_frames: Array
    spatial_inertias: Array
    screw_axes: Array
    gravity: Array

    def __post_init__(self) -> None:
        """Check shapes and values."""
        for name in ('link_frames', 'spatial_inertias', 'screw_axes', 'gravity'):
            value = np.array(getattr(self, name), dtype=float)
            object.__setattr__(self, name, value)
            n = self.screw_axes.shape[-1] if name != 'screw_axes' else value.shape[-1]
            shape = {
                'link_frames': (n + 1, 4, 4),
                'spatial_inertias': (n, 6, 6),
                'screw_axes': (6, n),
                'gravity': (3,),
            }[name]
            if value.shape != shape or not np.isfinite(value).all():
                raise ArmError(
                    f'{name} must be finite numbers of shape {shape}, not {value.shape}'
                )

    @classmethod
    def from_robot(cls, model: RobotModel) -> 'ScrewModel':
        """Return the same arm, taken apart at q = 0 (a serial chain ending at the tool frame)."""
        pin_model, data = model.pin_model, model.pin_data
        n = model.nv
        if any(pin_model.parents[i + 1] != i for i in range(n)):
            raise ArmError(f'{model.name!r} is not a serial chain: a screw model needs one')
        tool = model.forward_kinematics(np.zeros(n))
        jacobian = pin.computeJointJacobians(
            pin_model, data, model.to_pin(np.zeros(n))
        )  # world frame: the spatial screws, linear part on top
        centres, inertias = [], []
        for i in range(1, n + 1):
            inertia = pin_model.inertias[i]
            centre = data.oMi[i] * pin.SE3(np.eye(3), inertia.lever)
            centres.append(centre)
            spatial = np.zeros((6, 6))
            spatial[:3, :3] = inertia.inertia
            spatial[3:, 3:] = inertia.mass * np.eye(3)
            inertias.append(spatial)
        chain = [pin.SE3.Identity(), *centres, tool]
        frames = [(a.inverse() * b).homogeneous for a, b in pairwise(chain)]
        screws = np.vstack([jacobian[3:], jacobian[:3]])
        return cls(np.array(frames), np.array(inertias), screws, model.gravity)

    @property
    def nv(self) -> int:
        """Number of joints."""
        return int(self.screw_axes.shape[1])

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tip_wrench: ArrayLike = (0.0,) * 6
    ) -> Array:
        """Return tau (n,) by recursive Newton-Euler (equations 8.50 to 8.54).

        Args:
            q, v, a: (n,) each.
            tip_wrench: (6,) moment [N.m] and force [N] that the tool applies to the environment,
                in the tool frame.
        """
        q, v, a = (np.asarray(x, dtype=float) for x in (q, v, a))
        n = self.nv
        twist, twist_rate = np.zeros(6), np.concatenate([np.zeros(3), -self.gravity])
        adjoints, axes, twists, rates = [], [], [], []
        home = np.eye(4)
        for i in range(n):
            home = home @ self.link_frames[i]
            axis = adjoint(inverse(home)) @ self.screw_axes[:, i]
            step = adjoint(exponential(axis, -q[i]) @ inverse(self.link_frames[i]))
            twist = step @ twist + axis * v[i]
            twist_rate = step @ twist_rate + bracket(twist) @ axis * v[i] + axis * a[i]
            adjoints.append(step)
            axes.append(axis)
            twists.append(twist)
            rates.append(twist_rate)
        adjoints.append(adjoint(inverse(self.link_frames[n])))
        wrench = np.asarray(tip_wrench, dtype=float)
        tau = np.zeros(n)
        for i in reversed(range(n)):
            inertia = self.spatial_inertias[i]
            wrench = (
                adjoints[i + 1].T @ wrench
                + inertia @ rates[i]
                - bracket(twists[i]).T @ inertia @ twists[i]
            )
            tau[i] = wrench @ axes[i]
        return tau

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M(q) (n x n), column by column from inverse dynamics without gravity."""
        at_rest = np.zeros(self.nv)
        gravity = self.inverse_dynamics(q, at_rest, at_rest)
        columns = [self.inverse_dynamics(q, at_rest, unit) - gravity for unit in np.eye(self.nv)]
        return np.column_stack(columns)

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, tip_wrench: ArrayLike = (0.0,) * 6
    ) -> Array:
        """Return a (n,) with M a = tau - h(q, v) - J^T F_tip."""
        bias = self.inverse_dynamics(q, v, np.zeros(self.nv), tip_wrench)
        return np.linalg.solve(self.mass_matrix(q), np.asarray(tau, dtype=float) - bias)


def skew(w: Array) -> Array:
    """Return [w] (3 x 3) with [w] x = w x x."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def bracket(twist: Array) -> Array:
    """Return [ad_V] (6 x 6), the Lie bracket with V = (omega; v)."""
    result = np.zeros((6, 6))
    result[:3, :3] = result[3:, 3:] = skew(twist[:3])
    result[3:, :3] = skew(twist[3:])
    return result


def adjoint(transform: Array) -> Array:
    """Return [Ad_T] (6 x 6), which moves twists (omega; v) between frames."""
    rotation, translation = transform[:3, :3], transform[:3, 3]
    result = np.zeros((6, 6))
    result[:3, :3] = result[3:, 3:] = rotation
    result[3:, :3] = skew(translation) @ rotation
    return result


def inverse(transform: Array) -> Array:
    """Return the inverse of a homogeneous transform (4 x 4)."""
    result = np.eye(4)
    result[:3, :3] = transform[:3, :3].T
    result[:3, 3] = -transform[:3, :3].T @ transform[:3, 3]
    return result


def exponential(axis: Array, angle: float) -> Array:
    """Return exp([S] angle) (4 x 4) for a screw S = (omega; v) of any length."""
    return pin.exp6(np.concatenate([axis[3:], axis[:3]]) * angle).homogeneous
