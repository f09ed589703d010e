"""Cameras, fixed or on a link: colour and depth of what they see, and the list that names them.

- {name: overview, position: [1.5, 0.0, 1.0], rotation: [0.0, 0.5, 3.14]}
- {name: wrist, link: tool0, rotation: [0.0, -1.57, 0.0], rate: 15.0, depth: true}

A camera looks along x of its frame, with z up. In its optical frame z is forward, x right, y down.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from arm_controllers.parameter_rows import read_rows
from arm_dynamics.checks import ArmError, Array, text_of, unknown
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, parameter
from arm_tools.view.offscreen import Offscreen, Picture
from arm_tools.view.scene import Scene

_MOST_BYTES = 1_000_000
# The columns are right, down and forward in the camera's frame.
_OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


@dataclass(frozen=True, kw_only=True)
class Camera(Parameters):
    """A camera; its pixels are square, its lens has no distortion."""

    name: str = ''
    link: str = parameter('', 'link that carries the camera; empty: the base')
    position: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), 'position in the frame of the link [m]', length=3, min=-1e3, max=1e3
    )
    rotation: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), 'roll, pitch and yaw in the frame of the link [rad]', length=3,
        min=-1e3, max=1e3,
    )  # fmt: skip
    width: int = parameter(640, 'width of a picture [pixels]', min=8, max=4096)
    height: int = parameter(480, 'height of a picture [pixels]', min=8, max=4096)
    field_of_view: float = parameter(0.8, 'vertical angle of view [rad]', above=0, max=3.0)
    rate: float = parameter(30.0, 'pictures per simulated second [Hz]', above=0, max=1000)
    depth: bool = parameter(False, 'if true, the camera publishes depth as well')
    near: float = parameter(0.01, 'least visible distance [m]', above=0, max=1e3)
    far: float = parameter(20.0, 'largest visible distance [m]', above=0, max=1e5)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.name.isidentifier() and self.name.isascii()):
            raise ArmError(f'name is {self.name!r}; it must be letters, digits and _')
        if self.far <= self.near:
            raise ArmError(f'far is {self.far:g}; it must be > near, {self.near:g}')

    @cached_property
    def optical(self) -> pin.SE3:
        """The pose of the optical frame in the frame of the link."""
        turn = pin.rpy.rpyToMatrix(*self.rotation) @ _OPTICAL
        return pin.SE3(turn, np.array(self.position, dtype=float))

    @property
    def intrinsics(self) -> Array:
        """K (3, 3) [pixels]; (0, 0) is the middle of the first pixel."""
        focal = 0.5 * self.height / np.tan(0.5 * self.field_of_view)
        middle = 0.5 * (self.width - 1.0), 0.5 * (self.height - 1.0)
        return np.array([[focal, 0.0, middle[0]], [0.0, focal, middle[1]], [0.0, 0.0, 1.0]])

    @property
    def bytes_per_second(self) -> float:
        """Bytes of raw pictures per simulated second."""
        return self.width * self.height * (7 if self.depth else 3) * self.rate


def read_cameras(file: Path) -> tuple[Camera, ...]:
    """Return the cameras of a YAML file.

    Raises:
        ArmError: with file, camera and value: what cannot be read, or is no camera.
    """
    where = f'cameras {file}'
    text = text_of(file, f'{where}: cannot be read', _MOST_BYTES)
    cameras = tuple(read_rows(Camera, text, where, 'camera'))
    if not cameras:
        raise ArmError(f'{where}: a list of cameras is expected')
    names = [each.name for each in cameras]
    for name in names:
        if names.count(name) > 1:
            raise ArmError(f'{where}: two cameras have the name {name!r}')
    return cameras


class CameraPictures:
    """What a camera sees of an arm; `close` it before the process ends."""

    def __init__(self, camera: Camera, scene: Scene):
        """Set up OpenGL.

        Raises:
            ArmError: no such link, or no OpenGL.
        """
        self._camera, self._scene = camera, scene
        self._link = camera.link or scene.model.base_frame
        if self._link not in scene.model.frame_names:
            raise unknown('link', self._link, scene.model.frame_names)
        self._offscreen = Offscreen(scene.mj_model, camera.width, camera.height, fog=False)
        if camera.depth:  # colours before the first depth differ by a rounding from later ones
            self.take(np.zeros(scene.model.nv))

    def take(self, q: Array) -> tuple[Picture, NDArray[np.float32] | None]:
        """Return colours (height, width, 3) and, where the camera has it, depth [m] at q (n,).

        The depth is the distance along the axis of the camera; nan: farther than `far`.
        """
        self._scene.show(q)
        model: RobotModel = self._scene.model
        pose = model.forward_kinematics(q, self._link) * self._camera.optical
        c = self._camera
        top = c.near * np.tan(0.5 * c.field_of_view)

        def look(scene: mujoco.MjvScene) -> None:
            for eye in scene.camera:
                eye.pos[:], eye.forward[:] = pose.translation, pose.rotation[:, 2]
                eye.up[:] = -pose.rotation[:, 1]
                eye.frustum_near, eye.frustum_far = c.near, c.far
                eye.frustum_bottom, eye.frustum_top = -top, top
                eye.frustum_center, eye.frustum_width = 0.0, top * c.width / c.height

        picture = self._offscreen.picture(self._scene.mj_data, mujoco.MjvCamera(), look)
        if not c.depth:
            return picture, None
        depth = self._offscreen.depth()
        depth[depth >= 0.999 * c.far] = np.nan
        return picture, depth

    def close(self) -> None:
        """Release OpenGL."""
        self._offscreen.close()
