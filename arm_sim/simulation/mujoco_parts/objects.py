"""The objects and loose links of an arm in MuJoCo."""

from typing import Any

import mujoco
import numpy as np

from arm_dynamics.checks import Array
from arm_sim.simulation.moved_objects import move_object
from arm_sim.simulation.mujoco_objects import moving_bodies
from arm_sim.simulation.mujoco_shapes import object_bounds, object_motion, object_shapes
from arm_sim.simulation.scene_state import SceneState


class Objects(SceneState):
    """Objects and loose links, read from MuJoCo's data."""

    def __init__(
        self,
        mj_model: mujoco.MjModel,
        data: mujoco.MjData,
        has_scene: bool,
        loose_links: dict[str, Array],
    ):
        """Read a state.

        Args:
            mj_model, data: MuJoCo's.
            has_scene: whether the parameters of the plant name objects.
            loose_links: see `ArmDescription`.
        """
        self._model, self._data = mj_model, data
        bodies = np.array(moving_bodies(mj_model), dtype=np.int64)
        self.objects = tuple(mj_model.body(body).name for body in bodies)
        self._places, self._turns = data.xpos, data.xquat
        self._bodies: Any = bodies
        if len(bodies) and (np.diff(bodies) == 1).all():
            self._bodies = slice(bodies[0], bodies[-1] + 1)
        if has_scene:
            self.shapes = object_shapes(mj_model)
        self._origins = loose_links
        self.loose_links = tuple(self._origins)
        if self.loose_links:
            self.link_shapes = object_shapes(mj_model, self._origins)

    def object_poses(self) -> Array:
        """Return the poses of moving objects (k, 7): position [m], quaternion x, y, z, w."""
        mujoco.mj_kinematics(self._model, self._data)  # of the present state
        poses, turns = np.empty((len(self.objects), 7)), self._turns[self._bodies]
        poses[:, :3] = self._places[self._bodies]
        poses[:, 3:6], poses[:, 6] = turns[:, 1:], turns[:, 0]
        return poses

    def link_poses(self) -> Array:
        """Return the poses of `loose_links` (k, 7): position [m], quaternion x, y, z, w."""
        if not self.loose_links:
            return super().link_poses()
        mujoco.mj_kinematics(self._model, self._data)  # of the present state
        bodies = [self._model.body(name).id for name in self.loose_links]
        turns = self._data.xmat[bodies].reshape(-1, 3, 3)
        origins = np.einsum('kij,kj->ki', turns, [*self._origins.values()])
        quaternions = self._data.xquat[bodies][:, [1, 2, 3, 0]]
        return np.hstack([self._data.xpos[bodies] + origins, quaternions])

    def motion(self, name: str) -> tuple[Array, Array]:
        """Return the pose and the velocity of any object."""
        return object_motion(self._model, self._data, name)

    def bounds(self, name: str) -> Array:
        """Return the lower and the upper corner (2, 3) of an object in its own frame [m]."""
        return object_bounds(self._model, name)

    def move(self, name: str, pose: Array, velocity: Array) -> None:
        """Give a free or jointed object a pose and a velocity."""
        move_object(self._model, self._data, name, pose, velocity)
