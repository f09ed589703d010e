"""A film of an arm's motion: floor and light, the drawn path coloured by error, the reference."""

import mujoco
import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.clearance import Surroundings
from arm_dynamics.model import RobotModel
from arm_sim.viewer.camera import FIELD_OF_VIEW, View, camera_for
from arm_sim.viewer.caption import Caption, ErrorScale
from arm_sim.viewer.motion import Motion, Pieces, pieces
from arm_sim.viewer.offscreen import Offscreen, Picture
from arm_sim.viewer.scene import Scene

_LOOKS = 40  # states that the camera is placed by
_WIDE = 0.0022  # the drawn path's radius, as a share of what is seen
_LEAST = 1.5  # and in pixels, at least: its colours are to be seen in small pictures too
_GLOW = 0.5  # so that a path in the arm's shadow keeps its colours
_PLAIN = np.array([[0.85, 0.2, 0.1, 1.0]])
_REFERENCE = np.array([[0.35, 0.38, 0.42, 0.4]])


class Film:
    """Pictures of a motion, one for each time.

    Attributes:
        times: (k,) of the pictures [s].
    """

    def __init__(
        self,
        model: RobotModel,
        surroundings: Surroundings,
        motion: Motion,
        times: Array,
        view: View,
        size: tuple[int, int],
        title: str,
    ):
        """Set it up; `view.orbit` is per second of `times`.

        Raises:
            ArmError: no OpenGL without a window here.
        """
        self.times, self._motion, self._view = times, motion, view
        self._scene = scene = Scene(model, surroundings)
        scene.mj_model.vis.global_.fovy = FIELD_OF_VIEW
        points = self._points()
        extent = float(np.linalg.norm(np.ptp(points, axis=0)))
        aspect, seconds = size[0] / size[1], float(times[-1] - times[0])
        self._camera = camera_for(points, view, aspect, seconds)
        self._wide = max(_WIDE, _LEAST / size[1]) * extent
        scale = ErrorScale(motion.error) if len(motion.error) else None
        errors = motion.error_at(motion.t)
        levels = scale.levels(errors) if scale else np.zeros(len(errors), dtype=np.int64)
        self._colours = scale.palette if scale else _PLAIN
        self._drawn = pieces(motion.t, motion.tip, levels, self._wide)
        told = np.zeros(len(motion.reference_t), dtype=np.int64)
        self._wanted = pieces(motion.reference_t, motion.reference_tip, told, self._wide)
        self._caption = Caption(*size, title, scale)
        _light(scene.mj_model, extent)
        count = len(self._drawn.level) + len(self._wanted.level)
        self._offscreen = Offscreen(scene.mj_model, *size, count)

    def _points(self) -> Array:
        """Return corners of what is seen of the arm over time, and its path (k, 3) [m]."""
        model, data = self._scene.mj_model, self._scene.mj_data
        seen = model.geom_bodyid > 0
        middle, half = np.split(model.geom_aabb[seen], 2, axis=1)
        signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
        corners = middle[:, np.newaxis] + signs * half[:, np.newaxis]
        found = [self._motion.tip, self._motion.reference_tip, np.zeros((1, 3))]
        rows = np.linspace(0, len(self._motion.t) - 1, _LOOKS).astype(int)
        for q in self._motion.q[np.unique(rows)]:
            self._scene.show(q)
            turns = data.geom_xmat[seen].reshape(-1, 3, 3)
            places = data.geom_xpos[seen][:, np.newaxis] + corners @ turns.transpose(0, 2, 1)
            found.append(places.reshape(-1, 3))
        return np.concatenate(found)

    def picture(self, k: int) -> Picture:
        """Return picture k."""
        t = float(self.times[k])
        q, tip = self._motion.at(t)
        self._scene.show(q)
        camera = self._camera
        camera.azimuth = self._view.azimuth + self._view.orbit * (t - self.times[0])

        def add(scene: mujoco.MjvScene) -> None:
            _add(scene, self._wanted, 0.5 * self._wide, _REFERENCE)
            _add(scene, self._drawn.until(t, tip), self._wide, self._colours)

        pixels = self._offscreen.picture(self._scene.mj_data, camera, add)
        return self._caption.on(pixels, t, float(self._motion.error_at(np.array(t))))

    def close(self) -> None:
        """Give OpenGL back."""
        self._offscreen.close()


def _light(model: mujoco.MjModel, extent: float) -> None:
    """Let shadows and the floor's horizon suit what is seen; `extent`: of it [m]."""
    model.vis.map.shadowclip = 1.8 * extent / model.stat.extent  # a smaller one speckles
    model.vis.map.fogstart = 4.0 * extent / model.stat.extent
    model.vis.map.fogend = 14.0 * extent / model.stat.extent
    model.vis.rgba.fog[:] = 0.93, 0.95, 0.97, 1.0


def _add(scene: mujoco.MjvScene, path: Pieces, radius: float, colours: Array) -> None:
    """Add pieces of a path to a scene; `colours` (c, 4): by the pieces' levels."""
    shape = mujoco.mjtGeom.mjGEOM_CAPSULE
    place, turn = np.zeros(3), np.eye(3).ravel()
    for start, end, level in zip(path.start, path.end, path.level, strict=True):
        geom = scene.geoms[scene.ngeom]
        mujoco.mjv_initGeom(geom, shape, place, place, turn, colours[level].astype(np.float32))
        mujoco.mjv_connector(geom, shape, radius, start, end)
        geom.emission = _GLOW
        scene.ngeom += 1
