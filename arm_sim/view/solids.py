"""Boxes, cylinders and rounded solids as triangles; corners are not shared where an edge is."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array

_AROUND, _ARC = 40, 10  # pieces of a circle, and of a quarter of one along an axis


class Triangles(NamedTuple):
    """A surface.

    Attributes:
        points: (m, 3) corners [m].
        faces: (k, 3) indices of them, counterclockwise as seen from outside.
    """

    points: Array
    faces: NDArray[np.int64]

    @classmethod
    def together(cls, parts: 'Sequence[Triangles]') -> 'Triangles':
        """Return several surfaces as one."""
        starts = np.cumsum([0, *(len(part.points) for part in parts)])
        faces = [part.faces + start for part, start in zip(parts, starts, strict=False)]
        return cls(np.concatenate([part.points for part in parts]), np.concatenate(faces))


def box(a: float, b: float, c: float) -> Triangles:
    """Return a box of half sizes a, b, c along x, y, z [m] around the origin."""
    points: list[Array] = []
    faces: list[NDArray[np.int64]] = []
    for axis in range(3):
        for side in (1.0, -1.0):
            corners = np.array([(1, -1, -1), (1, 1, -1), (1, 1, 1), (1, -1, 1)], dtype=float)
            points.append(side * np.roll(corners, axis, axis=1))
            order = np.array([(0, 1, 2), (0, 2, 3)])
            faces.append((order if side > 0 else order[:, ::-1]) + 4 * len(faces))
    return Triangles(np.concatenate(points) * (a, b, c), np.concatenate(faces))


def cylinder(radius: float, half: float) -> Triangles:
    """Return a cylinder around the z axis, of half a length [m]."""
    rim = [(radius, -half), (radius, half)]
    profiles = [[(0.0, -half), rim[0]], rim, [rim[1], (0.0, half)]]
    return Triangles.together([_turned(np.array(each)) for each in profiles])


def rounded(radii: tuple[float, float, float], half: float = 0.0) -> Triangles:
    """Return an ellipsoid, or with half a length [m] along z two halves of one and a cylinder."""
    angles = np.linspace(-np.pi / 2, 0.0, _ARC + 1)
    below = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    above = below[::-1] * (1.0, -1.0)
    solid = _turned(np.concatenate([below, above] if half else [below, above[1:]]))
    points = solid.points * radii
    points[:, 2] += half * np.repeat(
        np.where(np.arange(len(points) // _AROUND) <= _ARC, -1.0, 1.0), _AROUND
    )
    return Triangles(points, solid.faces)


def _turned(profile: Array) -> Triangles:
    """Return the surface that a profile (k, 2) of radius and height [m] sweeps around z.

    It is seen from outside where the profile goes upwards.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, _AROUND, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    flat = profile[:, :1, np.newaxis] * circle[np.newaxis]
    heights = np.broadcast_to(profile[:, 1, np.newaxis, np.newaxis], (*flat.shape[:2], 1))
    rings = np.arange(len(profile) * _AROUND).reshape(len(profile), _AROUND)
    near, far = rings, np.roll(rings, -1, axis=1)
    quads = [(near[:-1], far[:-1], far[1:]), (near[:-1], far[1:], near[1:])]
    faces = np.concatenate([np.stack(each, axis=-1).reshape(-1, 3) for each in quads])
    return Triangles(np.concatenate([flat, heights], axis=2).reshape(-1, 3), faces)
