"""Dynamics of an open chain as a product of exponentials (Lynch and Park, Modern Robotics)."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import Array, finite


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
        n = np.shape(self.screw_axes)[-1]
        shapes = {
            'link_frames': (n + 1, 4, 4),
            'spatial_inertias': (n, 6, 6),
            'screw_axes': (6, n),
            'gravity': (3,),
        }
        for name, shape in shapes.items():
            object.__setattr__(self, name, finite(name, getattr(self, name), shape))

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
        home, frames = pin.SE3.Identity(), [pin.SE3(frame) for frame in self.link_frames]
        for i in range(n):
            home = home * frames[i]
            axis = _adjoint(home.inverse()) @ self.screw_axes[:, i]
            turn = pin.exp6(np.roll(axis, 3) * -q[i])
            step = _adjoint(turn * frames[i].inverse())
            twist = step @ twist + axis * v[i]
            twist_rate = step @ twist_rate + _bracket(twist) @ axis * v[i] + axis * a[i]
            adjoints.append(step)
            axes.append(axis)
            twists.append(twist)
            rates.append(twist_rate)
        adjoints.append(_adjoint(frames[n].inverse()))
        wrench = np.asarray(tip_wrench, dtype=float)
        tau = np.zeros(n)
        for i in reversed(range(n)):
            inertia = self.spatial_inertias[i]
            wrench = (
                adjoints[i + 1].T @ wrench
                + inertia @ rates[i]
                - _bracket(twists[i]).T @ inertia @ twists[i]
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


# Pinocchio's twists and wrenches have the linear part on top.
_BOOK = np.ix_((3, 4, 5, 0, 1, 2), (3, 4, 5, 0, 1, 2))


def _bracket(twist: Array) -> Array:
    """Return [ad_V] (6 x 6), the Lie bracket with V = (omega; v)."""
    return pin.Motion(np.roll(twist, 3)).action[_BOOK]


def _adjoint(transform: pin.SE3) -> Array:
    """Return [Ad_T] (6 x 6), which moves twists (omega; v) between frames."""
    return transform.action[_BOOK]
