"""Volumes in which entities are looked for: spheres and boxes of the base frame."""

import coal
import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array

# The numbers of simulation_interfaces/Bounds.
BOX, SPHERE = 1, 3
POINT = coal.Sphere(0.0)  # an entity without a shape


class Volume:
    """A box along the axes of the base frame, or a sphere."""

    def __init__(self, kind: int, points: Array):
        """Take BOX with its upper and its lower corner, or SPHERE with middle and (radius, _, _).

        `points` are (2, 3) [m].

        Raises:
            ArmError: they bound no volume.
        """
        if points.shape != (2, 3) or not np.isfinite(points).all():
            raise ArmError(f'bounds have {points.tolist()}; allowed: 2 points of 3 finite numbers')
        self._place = points[0]
        if kind == SPHERE:
            sizes = points[1][:1]
            self._solid: coal.CollisionGeometry = coal.Sphere(*sizes)
        else:
            sizes = points[0] - points[1]
            self._place, self._solid = points.mean(axis=0), coal.Box(*sizes)
        if sizes.min() <= 0.0:
            what = 'a radius' if kind == SPHERE else 'an upper corner minus the lower corner'
            raise ArmError(f'bounds have {what} of {sizes.tolist()} m; allowed: above 0')

    def meets(self, solid: coal.CollisionGeometry, pose: pin.SE3) -> bool:
        """Whether a solid at a pose in the base frame overlaps with the volume."""
        own = coal.Transform3s(np.eye(3), self._place)
        other = coal.Transform3s(pose.rotation, pose.translation)
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        return bool(coal.collide(self._solid, own, solid, other, request, result))
