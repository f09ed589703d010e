"""The page's scene: the arm, its ghosts, the path of its tip, floor and light."""

from collections.abc import Sequence

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.surroundings import Surroundings
from arm_tools.view.arm_shapes import Shape, arm_shapes
from arm_tools.view.camera import FIELD_OF_VIEW, View, axes_of, camera_for
from arm_tools.view.monitor import ArmMonitor, Moment
from arm_tools.view.page_parts import Handle, PageServer
from arm_tools.view.scene import Scene
from arm_tools.view.shown_objects import looks, poses

_REFERENCE, _SLIDERS = (70, 110, 180), (245, 130, 30)  # colours of the ghosts
_OPACITY = 0.35  # of a ghost
_APART = 0.0005  # nearer to the arm, the reference's ghost would only blur it [m]
_THICKNESS = 0.005  # of the path, as a share of the arm's size
_PATH_PERIOD = 6  # pictures between two updates of the path
_TILE = 0.5  # [m]
_VIEW = View(azimuth=130.0, elevation=-21.0)
_NEARER = 0.9  # than for the whole space that the arm reaches


class ArmFigure:
    """An arm that is shown at any q, in its own colours or as a transparent ghost."""

    def __init__(
        self,
        page_scene: Handle,
        name: str,
        scene: Scene,
        shapes: Sequence[Shape],
        ghost: tuple[int, int, int] | None = None,
    ):
        """Build the figure, hidden.

        Args:
            page_scene: viser's.
            name: of the node in it above all others.
            scene: gives the poses of the links.
            shapes: those of the arm.
            ghost: one transparent colour for all shapes; None: their own colours.
        """
        self._scene, self._q = scene, np.array([])
        self._root = page_scene.add_frame(name, show_axes=False, visible=False)
        self._links = {
            body: page_scene.add_frame(f'{name}/{body}', show_axes=False)
            for body in dict.fromkeys(shape.body for shape in shapes)
        }
        for k, shape in enumerate(shapes):
            colour = ghost or tuple(round(255 * part) for part in shape.colour[:3])
            opacity = _OPACITY if ghost else shape.colour[3]
            page_scene.add_mesh_simple(
                f'{name}/{shape.body}/{k}', shape.points, shape.faces,
                color=colour, opacity=None if opacity >= 1.0 else opacity,
                flat_shading=shape.flat, side='double' if shape.flat else 'front',
                cast_shadow=not ghost, receive_shadow=not ghost,
            )  # fmt: skip

    def remove(self) -> None:
        """Remove the figure from the page."""
        self._root.remove()

    @property
    def visible(self) -> bool:
        """Whether the arm is shown."""
        return self._root.visible

    def show(self, q: Array | None, moved: bool = False) -> None:
        """Show the arm at q (n,); None hides it. `moved`: objects of the scene have moved."""
        if q is not None and (moved or not np.array_equal(q, self._q)):
            self._q = np.array(q)
            self._scene.show(q)
            data = self._scene.mj_data
            for body, link in self._links.items():
                link.position, link.wxyz = data.xpos[body], data.xquat[body]
        if self.visible != (q is not None):
            self._root.visible = q is not None


class PageScene:
    """What the page shows of an arm.

    Attributes:
        size: extent of the space that the arm reaches [m].
        sliders: the ghost at the positions of the sliders.
    """

    def __init__(self, server: PageServer, model: RobotModel, surroundings: Surroundings):
        """Build the scene in viser's server, whose scene is empty."""
        arm, scene = Scene(model, surroundings), server.scene
        shapes = arm_shapes(arm)
        moving = [shape for shape in shapes if shape.body]
        self._with_objects, self._surroundings = arm, surroundings
        self._objects: Sequence[ObjectShape] = ()
        self._arm = ArmFigure(scene, '/arm', arm, shapes)
        self._reference = ArmFigure(scene, '/reference', arm, moving, _REFERENCE)
        self.sliders = ArmFigure(scene, '/sliders', arm, moving, _SLIDERS)
        self._scene, self._pictures = scene, 0
        self._path: Handle = None
        self._corners = _reached(arm)
        self.size = max(float(np.linalg.norm(np.ptp(self._corners, axis=0))), 0.1)
        self.place_camera(server.initial_camera, 1.3)
        self._add_surroundings(surroundings)

    def place_camera(self, handle: Handle, aspect: float) -> None:
        """Place viser's camera to see the arm; `aspect`: width of the picture by its height."""
        camera = camera_for(self._corners, _VIEW, aspect, 0.0)
        forward = axes_of(_VIEW.azimuth, _VIEW.elevation)[2]
        handle.fov = np.radians(FIELD_OF_VIEW)
        handle.position = tuple(camera.lookat - _NEARER * camera.distance * forward)
        handle.look_at = tuple(camera.lookat)

    def _add_surroundings(self, surroundings: Surroundings) -> None:
        """Add floor and light."""
        scene = self._scene
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

    def show(self, arm: ArmMonitor, sliders: Array | None, past: Moment | None = None) -> None:
        """Show an arm, at a past moment if there is one.

        `sliders` (n,): positions that the user is choosing, or None.
        """
        shown = arm if past is None else past
        self._show_objects(shown.objects)
        self._arm.show(shown.q, bool(shown.objects))
        self._reference.show(shown.reference if shown.tip_error > _APART else None)
        self.sliders.show(sliders)
        self._pictures += 1
        path = arm.trail.changes() if self._pictures % _PATH_PERIOD == 0 else None
        if path is None:
            return
        if self._path is not None and not len(path.points):
            self._path.remove()
            self._path = None
        elif self._path is None and len(path.points):
            self._path = self._scene.add_line_segments(
                '/path', path.points, path.colours, thickness=_THICKNESS * self.size
            )
        elif self._path is not None:
            self._path.points, self._path.colors = path.points, path.colours

    def _show_objects(self, objects: Sequence[ObjectShape]) -> None:
        """Put the objects where they are; build the figure again where these are others."""
        if looks(objects) != looks(self._objects):
            model = self._with_objects.model
            self._with_objects = Scene(model, self._surroundings, objects)
            self._arm.remove()
            shapes = arm_shapes(self._with_objects)
            self._arm = ArmFigure(self._scene, '/arm', self._with_objects, shapes)
        if objects is not self._objects:
            self._objects = objects
            self._with_objects.place(poses(objects))


def _reached(arm: Scene) -> Array:
    """Return the corners (8, 3) [m] of a box around the space that the arm reaches."""
    rng, found = np.random.default_rng(0), []
    for _ in range(20):
        arm.show(arm.model.random_configuration(rng))
        found.append(arm.mj_data.xpos.copy())
    low, high = np.percentile(np.concatenate(found), [2, 98], axis=0)
    return np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
