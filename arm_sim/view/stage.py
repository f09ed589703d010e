"""The page's scene: arm, ghosts, drawn path, floor and light."""

from typing import Any

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.clearance import Surroundings
from arm_dynamics.model import RobotModel
from arm_sim.view.arm_figure import ArmFigure
from arm_sim.view.link_poses import LinkPoses
from arm_sim.view.link_shapes import link_shapes
from arm_sim.view.watched import Watched

_REFERENCE, _WANTED = (70, 110, 180), (245, 130, 30)  # colours of the ghosts
# Nearer to the arm a ghost would only be a haze on it [m].
_APART = 0.0005
_THICK = 0.005  # the drawn path, as a share of the arm's size
_DRAW = 6  # the path is brought up to date with every so many pictures
_TILE = 0.5  # [m]


class Stage:
    """What is seen of an arm."""

    def __init__(self, server: Any, model: RobotModel, surroundings: Surroundings):
        """Build it in viser's server, whose scene is empty."""
        shapes = link_shapes(model, surroundings)
        links = list(dict.fromkeys([model.base_frame, *(each.link for each in shapes)]))
        poses, scene, own = LinkPoses(model, links), server.scene, list(model.frame_names[1:])
        self._arm = ArmFigure(scene, '/arm', poses, shapes)
        moving = [each for each in shapes if each.link in own]
        self._reference = ArmFigure(scene, '/reference', poses, moving, _REFERENCE)
        self._wanted = ArmFigure(scene, '/wanted', poses, moving, _WANTED)
        self._model, self._scene, self._pictures = model, scene, 0
        self._path: Any = None
        self.size = self._look(server, poses, moving)
        self._surroundings(scene, surroundings)

    def _look(self, server: Any, poses: LinkPoses, shapes: list) -> float:
        """Place the camera that a new page begins with; return the arm's size [m]."""
        rng, found = np.random.default_rng(0), [np.zeros((1, 3))]
        for _ in range(20):
            found.append(poses.at(self._model.random_configuration(rng))[:, :3])
        points = np.concatenate(found)
        low, high = np.percentile(points, [2, 98], axis=0)
        size = max(float(np.linalg.norm(high - low)), 0.1)
        middle = 0.5 * (low + high)
        middle[2] = max(middle[2], 0.2 * size) if size else middle[2]
        server.initial_camera.look_at = tuple(middle)
        server.initial_camera.position = tuple(middle + size * np.array([0.34, -0.4, 0.2]))
        return size

    def _surroundings(self, scene: Any, surroundings: Surroundings) -> None:
        """Add floor and light."""
        if surroundings.floor:
            scene.add_grid(
                '/floor', infinite_grid=True, cell_size=_TILE / 5, section_size=_TILE,
                cell_color=(222, 226, 230), section_color=(190, 197, 205), cell_thickness=0.6,
                section_thickness=1.0, fade_distance=max(8.0 * self.size, 4.0),
                plane_color=(246, 247, 249), plane_opacity=1.0, shadow_opacity=0.25,
                position=(0.0, 0.0, -1e-3),
            )  # fmt: skip
        scene.configure_default_lights(cast_shadow=False)
        scene.add_light_directional(
            '/sun', intensity=1.6, cast_shadow=True,
            position=tuple(self.size * np.array([1.0, -0.8, 2.2])),
        )  # fmt: skip

    def show(self, watched: Watched, wanted: Array | None) -> None:
        """Show what is known; `wanted` (n,): a pose that somebody thinks of, or None."""
        self._arm.show(watched.q)
        reference = watched.reference
        self._reference.show(reference if watched.tip_error > _APART else None)
        self._wanted.show(wanted)
        self._pictures += 1
        if self._pictures % _DRAW == 0:
            self._draw(watched)

    def _draw(self, watched: Watched) -> None:
        pieces = watched.trail.news()
        if pieces is None:
            return
        if self._path is not None and not len(pieces.points):
            self._path.remove()
            self._path = None
        elif self._path is None and len(pieces.points):
            self._path = self._scene.add_line_segments(
                '/path', pieces.points, pieces.colours, thickness=_THICK * self.size
            )
        elif self._path is not None:
            self._path.points, self._path.colors = pieces.points, pieces.colours
