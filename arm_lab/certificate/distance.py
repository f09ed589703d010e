"""Whether an arm keeps its distance along a motion, between samples as well.

Conservative advancement: no point of a link moves farther than the sum, over the joints between
the two shapes, of the joint's way times the farthest that the link reaches from the joint. Where
the distance in the middle of an interval is more than both shapes can move within it, the pair is
clear there; else the interval is halved (Mirtich, Impulse-based Dynamic Simulation of Rigid Body
Systems, 1996, section 2.3; Schwarzer, Saha, Latombe, IEEE Trans. Robotics 21, 2005).
"""

import numpy as np
import pinocchio as pin

from arm_controllers.follower.trajectory import Trajectory
from arm_dynamics.checks import Array
from arm_dynamics.clearance import Clearance
from arm_lab.certificate.finding import Finding
from arm_lab.certificate.pieces import Pieces

_PROMISING = 1.5  # a distance is computed where the way is below this multiple of the last one
RESOLUTION = 1e-4  # a distance this near to the least one counts as equal [m]


class DistanceBound:
    """Distances of an arm's pairs of shapes, and how fast motions can change them.

    Attributes:
        clearance: the pairs.
        reach: (pairs, n) how far a pair's distance changes at most per joint motion [m/rad | 1].
    """

    def __init__(self, clearance: Clearance):
        """Measure the shapes."""
        self.clearance, model = clearance, clearance.model
        pin_model, geometry = model.pin_model, clearance.geometry
        count = pin_model.njoints
        axes = [
            np.ravel(pin_model.joints[i].createData().S).reshape(2, 3) for i in range(1, count)
        ]
        slides = np.array([False] + [bool(axis[0].any()) for axis in axes])
        # Of each shape: from the origin of its joint, and from the joint's axis.
        farthest, around = np.zeros((2, len(geometry.geometryObjects)))
        for k, shape in enumerate(geometry.geometryObjects):
            if shape.parentJoint:
                corners = _corners(shape)
                farthest[k] = np.linalg.norm(corners, axis=1).max()
                across = np.cross(corners, axes[shape.parentJoint - 1][1])
                around[k] = np.linalg.norm(across, axis=1).max()
        steps = np.zeros(count)  # from the parent joint to this one, at most
        lower, upper = pin_model.lowerPositionLimit, pin_model.upperPositionLimit
        for i in range(1, count):
            steps[i] = np.linalg.norm(pin_model.jointPlacements[i].translation)
            if slides[i]:
                at = pin_model.joints[i].idx_q
                steps[i] += max(abs(lower[at]), abs(upper[at]))
        self.reach = np.zeros((len(clearance.pairs), count - 1))
        for row, pair in zip(self.reach, geometry.collisionPairs, strict=True):
            for k in (pair.first, pair.second):
                joint = geometry.geometryObjects[k].parentJoint
                reach, own = farthest[k], around[k]
                while joint:
                    row[joint - 1] = 1.0 if slides[joint] else own
                    reach += steps[joint]
                    joint, own = pin_model.parents[joint], reach
            both = self._joints(pair.first) & self._joints(pair.second)
            row[sorted(both)] = 0.0  # these move both shapes alike
        if model.mimic is not None:
            self.reach = self.reach @ np.abs(model.mimic.matrix)

    def _joints(self, shape: int) -> set[int]:
        """Return the joints, from 0, that move a shape."""
        geometry, parents = self.clearance.geometry, self.clearance.model.pin_model.parents
        joint, found = geometry.geometryObjects[shape].parentJoint, set()
        while joint:
            found.add(joint - 1)
            joint = parents[joint]
        return found


def _corners(shape: pin.GeometryObject) -> Array:
    """Return the corners (8, 3) of a box around a shape, in the frame of its joint."""
    shape.geometry.computeLocalAABB()
    middle = shape.geometry.aabb_center
    half = 0.5 * (shape.geometry.aabb_local.max_ - shape.geometry.aabb_local.min_)
    signs = np.array(list(np.ndindex(2, 2, 2))) * 2.0 - 1.0
    return (middle + signs * half) @ shape.placement.rotation.T + shape.placement.translation


def check_clearance(trajectory: Trajectory, bound: DistanceBound, least: float) -> Finding | None:
    """Return where two shapes are or may be nearer than `least` [m]; None: nowhere.

    Positions must be within the limits of the model.
    """
    clearance, near = bound.clearance, None
    if not clearance.pairs:
        return None
    model, geometry, data = clearance.model, clearance.geometry, clearance.geometry.createData()
    pieces = Pieces.of(trajectory)
    # Of each piece: its pairs, and their distances in the middle of a longer piece [m].
    waiting = [(np.arange(len(clearance.pairs)), np.full(len(clearance.pairs), np.inf))]
    waiting *= len(pieces.length)
    while len(pieces.length):
        middle = pieces.derivatives(trajectory)
        speed = pieces.magnitudes(middle)[:, 1]
        ways = (0.5 * pieces.length[:, np.newaxis] * speed) @ bound.reach.T
        parts = np.zeros(len(pieces.length), dtype=int)
        rest = []
        for k, (row, q) in enumerate(zip(ways, middle[:, 0], strict=True)):
            own, before = waiting[k]
            row = row[own]
            pin.updateGeometryPlacements(
                model.pin_model, model.pin_data, geometry, data, model.to_pin(q)
            )
            for i in np.flatnonzero(row < _PROMISING * before).tolist():
                distance = pin.computeDistance(geometry, data, int(own[i])).min_distance - least
                if distance < 0.0 or (row[i] < RESOLUTION and distance <= row[i]):
                    link, other = clearance.pairs[own[i]]
                    time = pieces.time(trajectory, k, 0.5)
                    given = 'clearance', link, distance + least, least, time, distance < 0.0
                    near = Finding(*given, other=other)
                    if near.proven:
                        return near
                before[i] = max(distance, RESOLUTION)
            open_ = row >= before
            if open_.any():
                parts[k] = 2
                rest += [(own[open_], before[open_]), (own[open_], before[open_])]
        pieces, waiting = pieces.some(parts > 0).split(parts[parts > 0]), rest
    return near
