"""The objects around an arm in MuJoCo's scene, each shape a body that is put at its pose."""

from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.object_shapes import ObjectShape
from arm_tools.view.meshes import add_mesh

_KINDS = {
    'box': mujoco.mjtGeom.mjGEOM_BOX,
    'sphere': mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    'cylinder': mujoco.mjtGeom.mjGEOM_CYLINDER,
}


def looks(shapes: Sequence[ObjectShape]) -> list[ObjectShape]:
    """Return the shapes without their poses: as long as these are the same, nothing is built."""
    return [each._replace(pose=()) for each in shapes]


def poses(shapes: Sequence[ObjectShape]) -> Array:
    """Return the poses (k, 7) of shapes."""
    return np.array([each.pose for each in shapes]).reshape(-1, 7)


def add_shown_objects(spec: mujoco.MjSpec, shapes: Sequence[ObjectShape]) -> None:
    """Add a body for each shape; a mesh without a readable file is a small box."""
    for k, each in enumerate(shapes):
        name = f'object {k}'
        body = spec.worldbody.add_body(name=name, mocap=True)
        geom = body.add_geom(rgba=each.colour, contype=0, conaffinity=0, group=2)
        geom.type = _KINDS.get(each.kind, mujoco.mjtGeom.mjGEOM_BOX)
        length = np.array(each.size)
        geom.size = length[[0, 2, 2]] / 2.0 if each.kind == 'cylinder' else length / 2.0
        if each.kind == 'mesh':
            geom.size = [0.02] * 3
            if Path(each.file).is_file() and add_mesh(spec, name, Path(each.file), length):
                geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, name


class RecordedObjects:
    """The objects of a recording.

    Attributes:
        shapes: all that were there at some time.
    """

    def __init__(self, times: Sequence[float], rows: Sequence[Sequence[ObjectShape]]):
        """Take the shapes of each time [s], which rises."""
        self._times = np.array(times, dtype=float)
        self.shapes: list[ObjectShape] = []
        numbers: dict[tuple[ObjectShape, int], int] = {}
        found = []
        for row in rows:
            seen: list[ObjectShape] = []
            places = []
            for shape, look in zip(row, looks(row), strict=True):
                places.append(numbers.setdefault((look, seen.count(look)), len(numbers)))
                seen.append(look)
                if len(numbers) > len(self.shapes):
                    self.shapes.append(shape)
            found.append((places, poses(row)))
        self._poses = np.full((len(rows), len(numbers), 7), np.nan)
        for k, (places, values) in enumerate(found):
            self._poses[k, places] = values

    def at(self, t: float) -> Array:
        """Return the poses (k, 7) of all shapes at t [s]; nan: the shape is not there."""
        if not len(self._times):
            return np.empty((0, 7))
        last = len(self._times) - 1
        before = int(np.clip(np.searchsorted(self._times, t, side='right') - 1, 0, last))
        one, other = self._poses[before], self._poses[min(before + 1, last)]
        gap = self._times[min(before + 1, last)] - self._times[before]
        share = np.clip((t - self._times[before]) / gap, 0.0, 1.0) if gap > 0.0 else 0.0
        same = np.where((one[:, 3:] * other[:, 3:]).sum(axis=1) < 0.0, -1.0, 1.0)
        turned = np.concatenate([other[:, :3], other[:, 3:] * same[:, np.newaxis]], axis=1)
        between = one + share * (turned - one)
        return np.where(np.isnan(other), one, between)
