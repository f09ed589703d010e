"""A picture of an arm on a plain background."""

import mujoco
import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.surroundings import Surroundings
from arm_tools.view.camera import FIELD_OF_VIEW, View, camera_for
from arm_tools.view.offscreen import Offscreen, Picture
from arm_tools.view.scene import Scene

_VIEW = View(azimuth=135.0, elevation=-20.0)
_FINE = 2  # rendered pixels per pixel of the picture, in both directions
_BACKGROUND = 0.93  # grey, as the floor has under these lights
_SUN = np.array([-0.05, 0.55, -0.83])  # direction of its light


def arm_picture(model: RobotModel, q: Array, width: int, height: int) -> Picture:
    """Return the picture (height, width, 3) of an arm at q (n,), above a floor.

    Raises:
        ArmError: no OpenGL renders without a window on this machine.
    """
    scene = Scene(model, Surroundings(floor=True))
    scene.show(q)
    m, data = scene.mj_model, scene.mj_data
    corners = scene.corners(scene.visible_geoms())
    _make_plain(m, corners[:, 2].min())
    mujoco.mj_forward(m, data)
    m.vis.global_.fovy = FIELD_OF_VIEW
    camera = camera_for(corners, _VIEW, width / height, 0.0)
    renderer = Offscreen(m, _FINE * width, _FINE * height, 0)
    try:
        fine = renderer.picture(data, camera, lambda scene: None)
    finally:
        renderer.close()
    blocks = fine.reshape(height, _FINE, width, _FINE, 3).astype(float)
    return np.round(blocks.mean(axis=(1, 3))).astype(np.uint8)


def _make_plain(m: mujoco.MjModel, height: float) -> None:
    """Make everything but the arm one grey, with the floor at a height [m] and light of a sun."""
    floor, sky, light, head = m.geom('floor'), m.texture('sky'), m.light(0), m.vis.headlight
    floor.matid, floor.pos[2], floor.sameframe = -1, height, 0  # 0: it is not where its body is
    light.dir = _SUN
    light.pos = m.stat.center - 2.0 * m.stat.extent * light.dir  # its shadows are around this line
    light.diffuse, light.ambient, light.specular = 0.5, 0.0, 0.15
    head.ambient, head.diffuse, head.specular = 0.46, 0.12, 0.05
    floor.rgba = 1.0
    pixels = sky.width[0] * sky.height[0] * 3
    m.tex_data[sky.adr[0] : sky.adr[0] + pixels] = round(255 * _BACKGROUND)
    m.vis.rgba.fog = m.vis.rgba.haze = (_BACKGROUND, _BACKGROUND, _BACKGROUND, 1.0)
