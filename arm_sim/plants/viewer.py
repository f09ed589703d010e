"""MuJoCo's own viewer on a running plant, with the path that the tip has drawn."""

import os
from typing import Any

import mujoco
import numpy as np
from mujoco import viewer

from arm_dynamics.checks import ArmError, Array
from arm_sim.plants.simulation import Simulation

# A piece of the drawn path, and its colour.
_PIECE = 0.004  # [m]
_WIDTH = 0.002  # [m]
_COLOUR = np.array([0.85, 0.2, 0.1, 1.0], dtype=np.float32)


class ArmViewer:
    """The window; `sync` brings it up to date."""

    def __init__(self, simulation: Simulation):
        """Open the window, looking at the arm from the front; it needs MuJoCo and a display."""
        plant: Any = simulation.plant
        if not hasattr(plant, 'mj_model'):
            raise ArmError('viewer is true; it needs engine mujoco')
        if not (os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')):
            raise ArmError('viewer is true; it needs a display: DISPLAY is not set')
        self._simulation, self._mj_model = simulation, plant.mj_model
        # The window's thread reads data of its own, and whatever plant steps is shown.
        self._data = mujoco.MjData(plant.mj_model)
        self._handle = viewer.launch_passive(
            plant.mj_model, self._data, show_left_ui=False, show_right_ui=False
        )
        extent = plant.mj_model.stat.extent
        with self._handle.lock():
            camera = self._handle.cam
            camera.lookat[:] = plant.mj_model.stat.center
            camera.lookat[2] += 0.2 * extent
            camera.distance, camera.azimuth, camera.elevation = 2.2 * extent, 140.0, -20.0
        self._end = self._tip()

    def sync(self) -> None:
        """Show the plant's present state, and the tip's path up to here.

        The path is as long as MuJoCo has room for shapes; a longer one begins anew.
        """
        if not self._handle.is_running():
            return
        with self._handle.lock():
            self._data.qpos[:] = self._simulation.plant.q
            mujoco.mj_forward(self._mj_model, self._data)
        tip = self._tip()
        length = float(np.linalg.norm(tip - self._end))
        if length >= _PIECE:
            if length < 20 * _PIECE:  # else the arm was reset
                with self._handle.lock():
                    _draw(self._handle.user_scn, self._end, tip)
            self._end = tip
        self._handle.sync()

    def close(self) -> None:
        """Close the window."""
        self._handle.close()

    def _tip(self) -> Array:
        simulation = self._simulation
        return simulation.model.forward_kinematics(simulation.plant.q).translation.copy()


def _draw(scene: mujoco.MjvScene, start: Array, end: Array) -> None:
    if scene.ngeom == scene.maxgeom:
        scene.ngeom = 0
    piece = scene.geoms[scene.ngeom]
    shape = mujoco.mjtGeom.mjGEOM_CAPSULE
    mujoco.mjv_initGeom(piece, shape, np.zeros(3), np.zeros(3), np.eye(3).ravel(), _COLOUR)
    mujoco.mjv_connector(piece, shape, _WIDTH, start, end)
    scene.ngeom += 1
