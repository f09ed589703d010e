"""An arm in the page's scene: a frame for each link, with its shapes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from arm_dynamics.checks import Array
from arm_sim.view.arm_shapes import Shape
from arm_sim.view.scene import Scene

Colour = tuple[int, int, int]
_OPACITY = 0.35  # of a ghost


class ArmFigure:
    """An arm that is shown at any q, in its own colours or as a transparent ghost."""

    def __init__(
        self,
        page_scene: Any,
        name: str,
        scene: Scene,
        shapes: Sequence[Shape],
        ghost: Colour | None = None,
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
