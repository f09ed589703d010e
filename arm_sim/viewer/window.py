"""MuJoCo's own viewer on a scene, with the path that the tip has drawn."""

import os
import threading
import warnings

import glfw
import mujoco
import numpy as np
from mujoco import viewer

from arm_dynamics.checks import ArmError, Array
from arm_sim.viewer.scene import Scene

# The drawn path's width and colour.
_WIDTH = 0.002  # [m]
_COLOUR = np.array([0.85, 0.2, 0.1, 1.0], dtype=np.float32)

_LONGEST_END = 2.0  # that its thread may take to end [s]


def check_display() -> None:
    """Refuse where no window can be opened."""
    display = os.environ.get('WAYLAND_DISPLAY') or os.environ.get('DISPLAY')
    if not display:
        raise ArmError('it needs a display: DISPLAY is not set')
    with warnings.catch_warnings(action='ignore'):
        if not glfw.init():  # in its thread nobody would hear of it
            raise ArmError(f'it needs a display: {display!r} cannot be opened')


class Window:
    """The window; `show` brings it up to date."""

    def __init__(self, scene: Scene):
        """Open the window, looking at the arm from the front."""
        self._scene = scene
        before = set(threading.enumerate())
        self._handle = viewer.launch_passive(
            scene.mj_model, scene.mj_data, show_left_ui=False, show_right_ui=False
        )
        self._threads = set(threading.enumerate()) - before
        extent = scene.mj_model.stat.extent
        with self._handle.lock():
            camera = self._handle.cam
            camera.lookat[:] = scene.mj_model.stat.center
            camera.lookat[2] += 0.2 * extent
            camera.distance, camera.azimuth, camera.elevation = 2.2 * extent, 140.0, -20.0

    @property
    def is_open(self) -> bool:
        """Whether the user has not closed it."""
        return self._handle.is_running()

    def show(self, q: Array) -> None:
        """Show the arm at q (n,), and the tip's path up to here.

        The path is as long as MuJoCo has room for shapes; a longer one begins anew.
        """
        with self._handle.lock():
            piece = self._scene.show(q)
            if piece is not None:
                _draw(self._handle.user_scn, *piece)
        self._handle.sync()

    def close(self) -> None:
        """Close the window, and wait for its thread a while."""
        self._handle.close()
        for thread in self._threads:
            thread.join(_LONGEST_END)


def _draw(scene: mujoco.MjvScene, start: Array, end: Array) -> None:
    if scene.ngeom == scene.maxgeom:
        scene.ngeom = 0
    piece = scene.geoms[scene.ngeom]
    shape = mujoco.mjtGeom.mjGEOM_CAPSULE
    mujoco.mjv_initGeom(piece, shape, np.zeros(3), np.zeros(3), np.eye(3).ravel(), _COLOUR)
    mujoco.mjv_connector(piece, shape, _WIDTH, start, end)
    scene.ngeom += 1
