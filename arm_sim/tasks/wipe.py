"""Wipe: the tool presses on a surface while it moves along a circle, as seen along the force."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.tasks._sliding import SlidingParameters, SlidingTask
from arm_sim.tasks.press import TiltedParameters, press_down


@dataclass(frozen=True, kw_only=True)
class WipeParameters(SlidingParameters, TiltedParameters):
    """The surface, the force on it, and the circle."""

    radius: float = parameter(0.05, 'radius of the circle [m]', above=0, max=0.2)
    turns: float = parameter(2.0, 'number of turns at full speed [1]', min=0.5, max=100)
    surface_tilt: float = parameter(
        5.0, 'tilt of the surface about the y axis of the base, unknown to the controller [deg]',
        min=-45, max=45,
    )  # fmt: skip


class Wipe(SlidingTask):
    """The tool presses on a tilted surface and moves along a circle."""

    Parameters: ClassVar[type[Parameters]] = WipeParameters

    def prepare(self) -> None:
        """Put the surface below the tool."""
        p = self.parameters
        press_down(self)
        self.slide(2.0 * np.pi * p.radius * p.turns)

    def path(self, way: Array) -> Array:
        """Return the points of the circle."""
        radius = self.parameters.radius
        angle = way / radius
        x, y = np.cos(angle) - 1.0, np.sin(angle)
        return radius * np.stack([x, y, np.zeros_like(x)], axis=-1)
