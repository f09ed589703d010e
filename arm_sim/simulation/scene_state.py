"""The objects around a simulated arm, as an engine moves them; here there are none."""

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.object_shapes import ObjectShape


class SceneState:
    """Objects around an arm, and links of an MJCF that move against the URDF's.

    Attributes:
        objects: names of the objects that move.
        shapes: the visible shapes of all objects, also of fixed ones.
        loose_links: names of these links.
        link_shapes: their visible shapes.
    """

    objects: tuple[str, ...] = ()
    shapes: tuple[ObjectShape, ...] = ()
    loose_links: tuple[str, ...] = ()
    link_shapes: tuple[ObjectShape, ...] = ()

    def object_poses(self) -> Array:
        """Return the poses of moving objects (k, 7): position [m], quaternion x, y, z, w."""
        return np.empty((0, 7))

    def link_poses(self) -> Array:
        """Return the poses of `loose_links` (k, 7): position [m], quaternion x, y, z, w."""
        return np.empty((0, 7))

    def motion(self, name: str) -> tuple[Array, Array]:
        """Return the pose (7,), as in `object_poses`, and the velocity (6,) of any object.

        The velocity is linear [m/s] and angular [rad/s], in the axes of the base.
        """
        raise ArmError(f'there is no object {name!r}')

    def bounds(self, name: str) -> Array:
        """Return the lower and the upper corner (2, 3) of an object in its own frame [m]."""
        raise ArmError(f'there is no object {name!r}')

    def move(self, name: str, pose: Array, velocity: Array) -> None:
        """Give an object a pose (7,) and a velocity (6,), as `motion` has them.

        Raises:
            ArmError: the object is fixed or carried, or its joint does not allow them.
        """
        raise ArmError(f'there is no object {name!r}')
