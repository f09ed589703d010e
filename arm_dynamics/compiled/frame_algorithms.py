"""Motion of a frame that is fixed to a link, on symbolic scalars."""

from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiled.algorithms import PlacedArm, Values
from arm_dynamics.compiled.spatial import Spatial, motion_cross


class Frame(NamedTuple):
    """A frame on a link; vectors that are returned are in axes aligned with the base.

    Attributes:
        link: index, -1 for the base.
        rotation: (3, 3) of the frame in the link's.
        point: (3,) its origin in the link's frame [m].
    """

    link: int
    rotation: Array
    point: Array

    def position(self, arm: PlacedArm) -> list[Spatial]:
        """Return the origin (3,)."""
        pose = arm.pose(self.link)
        return [pose[:3, :3] @ self.point + pose[:3, 3]]

    def pose(self, arm: PlacedArm) -> list[Spatial]:
        """Return rotation (3, 3) and origin (3,)."""
        return [arm.pose(self.link)[:3, :3] @ self.rotation, *self.position(arm)]

    def motion(self, arm: PlacedArm, v: Values, a: Values) -> list[Spatial]:
        """Return rotation (3, 3), origin, velocity (6,) and classical acceleration (6,)."""
        pose = arm.pose(self.link)
        turn = pose[:3, :3]
        velocity, acceleration = np.zeros((2, 6), dtype=object)
        v, a = arm.of_links(v), arm.of_links(a)
        for i in arm.chain(self.link):
            joint = np.zeros(6, dtype=object)
            joint[arm.links[i].axis] = v[i]
            velocity = arm.transforms[i].motion_to_child(velocity) + joint
            acceleration = arm.transforms[i].motion_to_child(acceleration)
            acceleration = acceleration + motion_cross(velocity, joint)
            acceleration[arm.links[i].axis] = acceleration[arm.links[i].axis] + a[i]
        point, spin = self.point.astype(object), velocity[3:]
        linear = velocity[:3] + np.cross(spin, point)
        rate = acceleration[:3] + np.cross(acceleration[3:], point) + np.cross(spin, linear)
        parts = [turn @ part for part in (linear, spin, rate, acceleration[3:])]
        return [*self.pose(arm), *parts]

    def jacobian(self, arm: PlacedArm) -> list[Spatial]:
        """Return J (6, n)."""
        columns = np.zeros((6, len(arm.links)), dtype=object)
        (point,) = self.position(arm)
        for i in arm.chain(self.link):
            pose = arm.pose(i)
            axis = pose[:3, 2]
            if arm.links[i].prismatic:
                columns[:3, i] = axis
            else:
                columns[:3, i] = np.cross(axis, point - pose[:3, 3])
                columns[3:, i] = axis
        return [np.array(arm.of_joints(columns.T)).T]

    def wrench_torque(self, arm: PlacedArm, wrench: Values) -> list[Spatial]:
        """Return J^T w (n,)."""
        (columns,) = self.jacobian(arm)
        return [columns.T @ np.array(wrench, dtype=object)]
