"""The visible shapes of the objects around an arm, and where they are."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array

_HERE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


class ObjectShape(NamedTuple):
    """A visible shape of an object.

    Attributes:
        name: of the object.
        kind: 'box', 'sphere', 'cylinder' or 'mesh'.
        size: (3,) box: lengths; sphere: diameters; cylinder: two diameters and the length [m];
            mesh: scale [1].
        colour: (4,) red, green, blue and opacity, 0 to 1.
        file: of a mesh.
        pose: (7,) in the frame of the object: position [m], quaternion x, y, z, w; of an object
            that has no pose of its own, in the base frame.
    """

    name: str
    kind: str
    size: tuple[float, ...]
    colour: tuple[float, ...]
    file: str
    pose: tuple[float, ...]


class ShapePoses:
    """Where the shapes are, at the poses of the objects that move."""

    def __init__(self, shapes: Sequence[ObjectShape], moving: Sequence[str]):
        """`moving`: names of the objects with a pose."""
        self._local = np.array([each.pose for each in shapes]).reshape(-1, 7)
        self._rows = [k for k, each in enumerate(shapes) if each.name in moving]
        self._objects = [list(moving).index(shapes[k].name) for k in self._rows]
        self._offset = bool((self._local[self._rows] != _HERE).any())

    def at(self, objects: Array) -> Array:
        """Return the poses of all shapes (k, 7) in the base frame at poses of objects (m, 7)."""
        poses = self._local.copy()
        if self._rows and not self._offset:  # takes a tenth of the time
            poses[self._rows] = objects[self._objects]
        elif self._rows:
            local, carrier = poses[self._rows], objects[self._objects]
            place, turn = local[:, :3], local[:, 3:6]
            axis, w = carrier[:, 3:6], carrier[:, 6:]
            across = 2.0 * np.cross(axis, place)
            poses[self._rows, :3] = carrier[:, :3] + place + w * across + np.cross(axis, across)
            poses[self._rows, 3:6] = w * turn + local[:, 6:] * axis + np.cross(axis, turn)
            poses[self._rows, 6] = (w * local[:, 6:])[:, 0] - (axis * turn).sum(axis=1)
        return poses
