"""An arm in the page's scene: a frame for each link, its shapes below it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from arm_dynamics.checks import Array
from arm_sim.view.link_poses import LinkPoses
from arm_sim.view.link_shapes import Shape

Colour = tuple[int, int, int]
_OPACITY = 0.35  # of a ghost


class ArmFigure:
    """An arm that is shown at any q; as it is, or as a ghost of one colour."""

    def __init__(
        self,
        scene: Any,
        name: str,
        poses: LinkPoses,
        shapes: Sequence[Shape],
        ghost: Colour | None = None,
    ):
        """Build it, hidden.

        Args:
            scene: viser's.
            name: of the node that all others are below.
            poses: of the links that `shapes` names.
            shapes: what is seen.
            ghost: a colour for all shapes, that can be seen through.
        """
        self._poses = poses
        self._root = scene.add_frame(name, show_axes=False, visible=False)
        self._links = [
            scene.add_frame(f'{name}/{k}', show_axes=False) for k in range(len(poses.links))
        ]
        for k, shape in enumerate(shapes):
            colour = ghost or tuple(round(255 * part) for part in shape.colour[:3])
            seen = _OPACITY if ghost else shape.colour[3]
            scene.add_mesh_simple(
                f'{name}/{poses.links.index(shape.link)}/{k}', shape.points, shape.faces,
                color=colour, opacity=None if seen >= 1.0 else seen, flat_shading=shape.flat,
                side='double' if shape.flat else 'front', cast_shadow=not ghost,
                receive_shadow=not ghost,
            )  # fmt: skip
        self._q: Array | None = None

    def show(self, q: Array | None) -> None:
        """Show it at q (n,), or not at all."""
        if q is None:
            if self._root.visible:
                self._root.visible = False
            return
        if self._q is None or not np.array_equal(q, self._q):
            self._q = np.array(q)
            for link, row in zip(self._links, self._poses.at(q), strict=True):
                link.position, link.wxyz = row[:3], row[3:]
        if not self._root.visible:
            self._root.visible = True
