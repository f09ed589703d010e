"""Motion and loads of the links of N arms, for sensors that need acceleration and forces."""

from collections.abc import Sequence

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.link_loads import External, LinkLoads
from arm_dynamics.model import RobotModel


class LinkMotion:
    """What the links of N arms did and carried in the last integration step.

    Attributes:
        torque: (N, n) that the joints transmit to their links [N.m | N].
        with_poses: whether `inertial` or `gravity` are called.
    """

    def __init__(self, models: Sequence[RobotModel], cut: str = ''):
        """Take the arms, and the link before which they are cut; '': nowhere.

        Raises:
            ArmError: no such link, or the base.
        """
        self._loads = [LinkLoads(model, cut) for model in models]
        self.torque = np.empty((len(models), models[0].nv))
        self.with_poses = False

    def update(self, q: Array, v: Array, a: Array, external: Sequence[Sequence[External]]) -> None:
        """Take states and accelerations (N, n), and the forces on the links of each arm.

        `external` may be empty: nothing acts on any arm.
        """
        torque = np.empty_like(self.torque)
        for arm, loads in enumerate(self._loads):
            forces = external[arm] if external else ()
            torque[arm] = loads.update(q[arm], v[arm], a[arm], forces, self.with_poses)
        self.torque = torque

    def wrench(self) -> Array:
        """Return the wrenches (N, 6) on what is before the cut, as `LinkLoads.wrench` has them."""
        return np.array([loads.wrench() for loads in self._loads])

    def gravity(self) -> Array:
        """Return the acceleration of gravity (N, 3) in the axes of the cut link [m/s^2]."""
        return np.array([loads.gravity() for loads in self._loads])

    def inertial(self, frame: str) -> Array:
        """Return what ideal IMUs on a link report (N, 10), as `LinkLoads.inertial` has it."""
        return np.array([loads.inertial(frame) for loads in self._loads])
