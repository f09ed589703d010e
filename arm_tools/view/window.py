"""MuJoCo's viewer window on a scene, with the path of the tip."""

import os
import threading
import warnings

import glfw
import numpy as np
from mujoco import viewer

from arm_dynamics.checks import ArmError, Array
from arm_tools.view.scene import Scene, add_segment
from arm_tools.view.trail import PLAIN, Trail

_WIDTH = 0.002  # of the path [m]
_COLOUR = np.array([*PLAIN, 1.0])
_REMEDY = 'view:=true shows the arm on a page in the browser'
_LONGEST_END = 2.0  # time for the window's thread to end [s]


def check_display() -> None:
    """Raise ArmError where no window can be opened."""
    display = os.environ.get('WAYLAND_DISPLAY') or os.environ.get('DISPLAY')
    if not display:
        raise ArmError(f'it needs a display: DISPLAY is not set; {_REMEDY}')
    with warnings.catch_warnings(action='ignore'):
        if not glfw.init():  # the viewer's own thread would hide this failure
            raise ArmError(f'it needs a display: {display!r} cannot be opened; {_REMEDY}')


class Window:
    """The window; `show` updates it."""

    def __init__(self, scene: Scene):
        """Open the window, looking at the arm from the front."""
        self._scene, self._trail = scene, Trail()
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
        """Whether the user has not closed the window."""
        return self._handle.is_running()

    def place(self, objects: Array) -> None:
        """Put the objects at poses (k, 7) from the next `show` on."""
        with self._handle.lock():
            self._scene.place(objects)

    def show(self, q: Array) -> None:
        """Show the arm at q (n,), and the path of its tip.

        MuJoCo limits the number of shapes: when the path reaches that, it starts again.
        """
        with self._handle.lock():
            segment = self._trail.add(self._scene.show(q))
            if segment is not None:
                scene = self._handle.user_scn
                if scene.ngeom == scene.maxgeom:
                    scene.ngeom = 0
                add_segment(scene, _WIDTH, *segment, _COLOUR)
        self._handle.sync()

    def close(self) -> None:
        """Close the window, and wait for its thread for a limited time."""
        self._handle.close()
        for thread in self._threads:
            thread.join(_LONGEST_END)
