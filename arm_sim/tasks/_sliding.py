"""The base of tasks in which the tool presses on a surface while it moves along a path."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio as pin

from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.parameters import parameter
from arm_sim.tasks._contact import ContactTask, SurfaceParameters
from arm_sim.tasks._poses import joint_path

_SPACING = 0.0016  # of the nodes of the spline along the path [m]
_SPEED_UP = 1.0  # time in which the motion along the path begins and ends [s]


@dataclass(frozen=True, kw_only=True)
class SlidingParameters(SurfaceParameters):
    """The surface, the force on it, and the motion along it."""

    speed: float = parameter(0.1, 'speed along the path [m/s]', above=0, max=1)
    press_time: float = parameter(
        3.0, 'time for approach and contact before the motion begins [s]', min=1, max=60
    )


class SlidingTask(ContactTask):
    """The tool touches, presses, and then moves along `path` at constant speed.

    The force is measured while the tool moves at full speed.
    """

    def path(self, way: Array) -> Array:
        """Return the points (..., 3) [m] at `way` (...) [m] along the path, from its start."""
        raise NotImplementedError

    def slide(self, length: float) -> None:
        """Set the times for `length` [m] at full speed."""
        p = self.parameters
        begin = p.press_time + _SPEED_UP
        self.measured = begin, begin + length / p.speed
        self.duration = self.measured[1] + _SPEED_UP

    def way(self, t: float) -> tuple[float, float, float]:
        """Return the way along the path at t [s], speed and acceleration [m, m/s, m/s^2]."""
        p = self.parameters
        speed, whole = p.speed, p.speed * (self.duration - p.press_time - _SPEED_UP)
        rest, t = self.duration - t, t - p.press_time
        if t <= 0.0:
            return 0.0, 0.0, 0.0
        if rest <= 0.0:
            return whole, 0.0, 0.0
        if t < _SPEED_UP:
            way, share, change = _smooth(t / _SPEED_UP)
            return speed * _SPEED_UP * way, speed * share, speed / _SPEED_UP * change
        if rest < _SPEED_UP:
            way, share, change = _smooth(rest / _SPEED_UP)
            return whole - speed * _SPEED_UP * way, speed * share, -speed / _SPEED_UP * change
        return speed * (t - 0.5 * _SPEED_UP), speed, 0.0

    @cached_property
    def _joints(self) -> tuple[list[float], Array]:
        """Ways along the path, and from each to the next the joint positions as cubics (4, n)."""
        from scipy.interpolate import CubicSpline  # slow to import; few tasks need it

        p, start = self.parameters, self.robot.model.forward_kinematics(self.robot.start).copy()
        last = p.speed * (self.duration - p.press_time - _SPEED_UP)
        ways = np.linspace(0.0, last, max(20, round(last / _SPACING)))
        places = start.translation + self.path(ways)
        poses = (pin.SE3(start.rotation, place) for place in places)
        spline = CubicSpline(ways, joint_path(self, poses, self.robot.start))
        return ways.tolist(), spline.c.swapaxes(0, 1).copy()

    def reference(self, t: float, reference: Reference) -> None:
        """Write the motion along the path, and the force."""
        way, speed, acceleration = self.way(t)
        ways, cubics = self._joints
        k = max(0, min(bisect_right(ways, way), len(cubics)) - 1)
        s = way - ways[k]
        powers = (s**3, s**2, s, 1.0), (3.0 * s**2, 2.0 * s, 1.0, 0.0), (6.0 * s, 2.0, 0.0, 0.0)
        reference.q[:], first, second = np.array(powers) @ cubics[k]
        reference.v[:] = speed * first
        reference.a[:] = speed**2 * second + acceleration * first
        reference.effort[:] = 0.0
        self.add_wrench(t, reference)


def _smooth(x: float) -> tuple[float, float, float]:
    """Return position, speed and acceleration of a motion that begins smoothly: 0.5, 1, 0 at 1."""
    return x**3 * (1.0 - 0.5 * x), x**2 * (3.0 - 2.0 * x), 6.0 * x * (1.0 - x)
