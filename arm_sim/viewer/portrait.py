"""A picture of an arm on plain paper."""

import mujoco
import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.clearance import Surroundings
from arm_dynamics.model import RobotModel
from arm_sim.viewer.camera import FIELD_OF_VIEW, View, camera_for
from arm_sim.viewer.offscreen import Offscreen, Picture
from arm_sim.viewer.scene import Scene

_VIEW = View(azimuth=135.0, elevation=-20.0)
_FINE = 2  # pixels that are drawn for one that is shown, each way
_PAPER = 0.93  # grey of the background, as the floor is under these lights
_SUN = np.array([-0.05, 0.55, -0.83])  # where it shines to


def portrait(model: RobotModel, q: Array, width: int, height: int) -> Picture:
    """Return the picture (height, width, 3) of an arm at q (n,), on a floor below all of it.

    Raises:
        ArmError: nothing here draws without a window.
    """
    scene = Scene(model, Surroundings(floor=True))
    scene.show(q)
    m, data = scene.mj_model, scene.mj_data
    corners = _corners(m, data)
    _on_paper(m, corners[:, 2].min())
    mujoco.mj_forward(m, data)
    m.vis.global_.fovy = FIELD_OF_VIEW
    camera = camera_for(corners, _VIEW, width / height, 0.0)
    drawn = Offscreen(m, _FINE * width, _FINE * height, 0)
    try:
        fine = drawn.picture(data, camera, lambda scene: None)
    finally:
        drawn.close()
    blocks = fine.reshape(height, _FINE, width, _FINE, 3).astype(float)
    return np.round(blocks.mean(axis=(1, 3))).astype(np.uint8)


def _on_paper(m: mujoco.MjModel, height: float) -> None:
    """Make all plain but the arm, the floor at a height [m], and the light that of the sun."""
    floor, sky, light, head = m.geom('floor'), m.texture('sky'), m.light(0), m.vis.headlight
    floor.matid, floor.pos[2], floor.sameframe = -1, height, 0  # 0: it is not where its body is
    light.dir = _SUN
    light.pos = m.stat.center - 2.0 * m.stat.extent * light.dir  # its shadows are around this line
    light.diffuse, light.ambient, light.specular = 0.5, 0.0, 0.15
    head.ambient, head.diffuse, head.specular = 0.46, 0.12, 0.05
    floor.rgba = 1.0
    m.tex_data[sky.adr[0] : sky.adr[0] + sky.width[0] * sky.height[0] * 3] = round(255 * _PAPER)
    m.vis.rgba.fog = m.vis.rgba.haze = (_PAPER, _PAPER, _PAPER, 1.0)


def _corners(m: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Return points (k, 3) [m] that all of the arm lies between."""
    signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
    found: list[Array] = []
    for k in range(m.ngeom):
        if m.geom_type[k] != mujoco.mjtGeom.mjGEOM_PLANE and m.geom_group[k] <= 2:
            middle, half = np.split(m.geom_aabb[k], 2)
            turn = data.geom_xmat[k].reshape(3, 3)
            found.append(data.geom_xpos[k] + (middle + signs * half) @ turn.T)
    return np.vstack(found or [signs])
