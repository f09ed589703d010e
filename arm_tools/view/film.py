"""A film of an arm's motion: the path of its tip in colours of its error, and the reference."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import mujoco
import numpy as np
from rich.console import Console

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.surroundings import Surroundings
from arm_lab.progress import progress
from arm_tools.view.camera import FIELD_OF_VIEW, View, camera_for
from arm_tools.view.caption import Caption
from arm_tools.view.error_scale import ErrorScale
from arm_tools.view.film_files import KINDS, check_file, write_gif, write_mp4, write_png
from arm_tools.view.offscreen import Offscreen, Picture
from arm_tools.view.recorded_motion import RecordedMotion, TimedSegments, timed_segments
from arm_tools.view.scene import Scene, add_segment
from arm_tools.view.shown_objects import RecordedObjects
from arm_tools.view.trail import PLAIN

_STATES = 40  # states by which the camera is placed
_RADIUS = 0.0022  # of the path, as a share of the extent of the scene
_SMALLEST_RADIUS = 1.5  # [pixels]; smaller, colours cannot be seen
_GLOW = 0.5  # so that a path in the arm's shadow keeps its colours
_PLAIN = np.array([[*PLAIN, 1.0]])
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
        motion: RecordedMotion,
        times: Array,
        view: View,
        size: tuple[int, int],
        title: str,
        objects: RecordedObjects | None = None,
        scale: ErrorScale | None = None,
    ):
        """Prepare the pictures; `view.orbit` is in degrees per second of `times`.

        `scale`: the colours of errors; None: they fit the motion's own.

        Raises:
            ArmError: no OpenGL renders without a window on this machine.
        """
        self.times, self._motion, self._view = times, motion, view
        self._objects = objects or RecordedObjects((), ())
        self._scene = scene = Scene(model, surroundings, self._objects.shapes)
        scene.mj_model.vis.global_.fovy = FIELD_OF_VIEW
        points = self._points()
        extent = float(np.linalg.norm(np.ptp(points, axis=0)))
        aspect, seconds = size[0] / size[1], float(times[-1] - times[0])
        self._camera = camera_for(points, view, aspect, seconds)
        if view.zoom > 1.0:
            self._camera.lookat[:] = 0.5 * (motion.tip.min(axis=0) + motion.tip.max(axis=0))
            self._camera.distance /= view.zoom
        self._radius = max(_RADIUS, _SMALLEST_RADIUS / size[1]) * extent
        scale = (scale or ErrorScale(motion.error)) if len(motion.error) else None
        errors = motion.error_at(motion.t)
        levels = scale.levels(errors) if scale else np.zeros(len(errors), dtype=np.int64)
        self._colours = scale.palette if scale else _PLAIN
        self._path = timed_segments(motion.t, motion.tip, levels, self._radius)
        plain = np.zeros(len(motion.reference_t), dtype=np.int64)
        wanted = motion.reference_t, motion.reference_tip, plain
        self._reference = timed_segments(*wanted, self._radius)
        self._caption = Caption(*size, title, scale)
        _light(scene.mj_model, extent, view.zoom)
        count = len(self._path.level) + len(self._reference.level)
        self._offscreen = Offscreen(scene.mj_model, *size, count)

    def _points(self) -> Array:
        """Return points (k, 3) [m] around the arm over time and around its path."""
        scene, motion = self._scene, self._motion
        geoms = scene.visible_geoms()
        moving = geoms[scene.mj_model.geom_bodyid[geoms] > 0]
        found = [motion.tip, motion.reference_tip, np.zeros((1, 3))]
        scene.place(self._objects.at(float(self.times[0])))
        for row in np.unique(np.linspace(0, len(motion.t) - 1, _STATES).astype(int)):
            scene.show(motion.q[row])
            found.append(scene.corners(moving))
        return np.concatenate(found)

    def picture(self, k: int) -> Picture:
        """Return picture k."""
        t = float(self.times[k])
        q, tip = self._motion.at(t)
        self._scene.place(self._objects.at(t))
        self._scene.show(q)
        camera = self._camera
        camera.azimuth = self._view.azimuth + self._view.orbit * (t - self.times[0])

        def add(scene: mujoco.MjvScene) -> None:
            _add(scene, self._reference, 0.5 * self._radius, _REFERENCE)
            _add(scene, self._path.until(t, tip), self._radius, self._colours)

        pixels = self._offscreen.picture(self._scene.mj_data, camera, add)
        return self._caption.on(pixels, t, float(self._motion.error_at(np.array(t))))

    def close(self) -> None:
        """Release OpenGL."""
        self._offscreen.close()


def film_times(path: Path, begin: float, end: float, speed: float) -> Array:
    """Return the times [s] of the pictures of a file: from begin to end; of a PNG the end.

    Raises:
        ArmError: a kind of file that cannot be written, or too many pictures for it.
    """
    rate = KINDS.get(path.suffix.lower(), 0.0)
    count = max(2, round((end - begin) / speed * rate) + 1) if rate else 1
    check_file(path, count)
    return np.linspace(begin, end, count) if rate else np.array([end])


def write_film(path: Path, films: Sequence[Film], size: tuple[int, int], console: Console) -> None:
    """Draw the pictures of films side by side, each of a size, and write them; show the progress.

    The films have as many pictures; the name of the file says how these are written.
    """
    kind, count = path.suffix.lower(), len(films[0].times)

    def picture(k: int) -> Picture:
        return np.hstack([film.picture(k) for film in films])

    if kind == '.png':
        write_png(path, picture(0))
        return
    with progress('render', count, console) as show:

        def pictures() -> Iterator[Picture]:
            for k in range(count):
                yield picture(k)
                show(k + 1)

        if kind == '.mp4':
            write_mp4(path, pictures(), (size[0] * len(films), size[1]))
        else:
            some = [picture(k) for k in (0, count // 2, count - 1)]
            write_gif(path, pictures(), some, ErrorScale.palette)


def _light(model: mujoco.MjModel, extent: float, zoom: float) -> None:
    """Fit shadows and the floor's horizon to the extent of the scene [m] and its magnification."""
    # The end of the shadows' map speckles the floor: it is in the fog, or out of sight.
    model.vis.map.shadowclip = max(1.8, 7.0 / zoom) * extent / model.stat.extent
    model.vis.map.fogstart = 4.0 * extent / model.stat.extent
    model.vis.map.fogend = 14.0 * extent / model.stat.extent
    model.vis.rgba.fog[:] = 0.93, 0.95, 0.97, 1.0


def _add(scene: mujoco.MjvScene, path: TimedSegments, radius: float, colours: Array) -> None:
    """Add a path to a scene, in the colours (c, 4) of its levels."""
    for start, end, level in zip(path.start, path.end, path.level, strict=True):
        add_segment(scene, radius, start, end, colours[level]).emission = _GLOW
