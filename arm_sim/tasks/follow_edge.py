"""Follow edge: the tool presses sideways on a rounded contour while it moves along it.

The contour is an upright cylinder next to the tool, away from the base. The reference is the
straight line that touches it in its middle, and the wrench goal has one direction: how the contour
bends is unknown to the controller.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.tasks._contact import away_from_base
from arm_sim.tasks._sliding import SlidingParameters, SlidingTask

_HEIGHT = 0.06  # of the cylinder [m]


@dataclass(frozen=True, kw_only=True)
class FollowEdgeParameters(SlidingParameters):
    """The contour, the force on it, and the motion along it."""

    radius: float = parameter(0.5, 'radius of the contour [m]', above=0, max=10)
    length: float = parameter(
        0.2, 'length of the straight line that the controller knows [m]', above=0, max=2
    )
    speed: float = parameter(0.03, 'speed along the straight line [m/s]', above=0, max=1)


class FollowEdge(SlidingTask):
    """The tool presses sideways on a contour whose shape the controller does not know.

    Attributes:
        line: (3,) direction of the straight line, in base axes.
        axis: (3,) a point of the cylinder's axis [m].
    """

    Parameters: ClassVar[type[Parameters]] = FollowEdgeParameters

    def prepare(self) -> None:
        """Put the contour next to the tool."""
        p = self.parameters
        tip = self.robot.model.forward_kinematics(self.robot.start).translation
        out = away_from_base(self.robot, tip)
        self.line = np.cross((0.0, 0.0, 1.0), out)
        self.slide(p.length - p.speed)  # the rest is in speeding up and slowing down
        half = 0.5 * p.length
        if half >= p.radius:
            raise ArmError(f'length is {p.length:g} m; it must be less than {2.0 * p.radius:g} m')
        depth = np.sqrt(p.radius**2 - half**2)
        self.axis = tip + (p.distance + depth) * out + half * self.line
        contour = p.surface(
            name='contour', shape='cylinder', size=(2.0 * p.radius, _HEIGHT),
            position=tuple(self.axis.tolist()),
        )  # fmt: skip
        self.touch([contour])
        self.wrench = np.array([*(p.force * out), 0.0, 0.0, 0.0])

    def path(self, way: Array) -> Array:
        """Return the points of the straight line."""
        return np.multiply.outer(way, self.line)

    def normals(self, tip: Array) -> Array:
        """Return the direction from the axis to the tip."""
        across = (tip - self.axis) * (1.0, 1.0, 0.0)
        return across / np.linalg.norm(across, axis=-1, keepdims=True)
