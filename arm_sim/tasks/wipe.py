"""Wipe: the tool presses on a surface while it moves along a circle, as seen along the force."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.interpolate import CubicSpline

from arm_controllers.follower.goal import Goal
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.inverse_kinematics import solve_ik
from arm_dynamics.parameters import parameter
from arm_sim.tasks import Task
from arm_sim.tasks.press import Press, TiltedParameters

_NODES = 200  # of the spline of a turn
_SPEED_UP = 1.0  # time in which the motion along the circle begins and ends [s]


@dataclass(frozen=True, kw_only=True)
class WipeParameters(TiltedParameters):
    """The surface, the force on it, and the circle."""

    radius: float = parameter(0.05, 'radius of the circle [m]', above=0, max=0.2)
    speed: float = parameter(0.1, 'speed along the circle [m/s]', above=0, max=1)
    turns: float = parameter(2.0, 'number of turns at full speed [1]', min=0.5, max=100)
    press_time: float = parameter(
        3.0, 'time for approach and contact before the motion begins [s]', min=1, max=60
    )
    surface_tilt: float = parameter(
        5.0, 'tilt of the surface about the y axis of the base, unknown to the controller [deg]',
        min=-45, max=45,
    )  # fmt: skip


class Wipe(Press):
    """The tool presses on a tilted surface and moves along a circle."""

    Parameters: ClassVar[Any] = WipeParameters

    def set_times(self) -> None:
        """Set the duration; the force is measured while the tool moves at full speed."""
        p = self.parameters
        self.turn_time = 2.0 * np.pi * p.radius / p.speed * p.turns
        begin = p.press_time + _SPEED_UP
        self.measured = begin, begin + self.turn_time
        self.duration = self.measured[1] + _SPEED_UP

    def goal(self) -> Goal | None:
        """Return the trajectory along the circle."""
        return Task.goal(self)

    def angle(self, t: float) -> tuple[float, float, float]:
        """Return the angle along the circle at t [s], its rate and acceleration [rad, s]."""
        p = self.parameters
        rate, t = p.speed / p.radius, t - p.press_time
        rest = self.turn_time + 2.0 * _SPEED_UP - t
        if t <= 0.0:
            return 0.0, 0.0, 0.0
        if rest <= 0.0:
            return rate * (self.turn_time + _SPEED_UP), 0.0, 0.0
        if t < _SPEED_UP:
            angle, speed, change = _smooth(t / _SPEED_UP)
            return rate * _SPEED_UP * angle, rate * speed, rate / _SPEED_UP * change
        if rest < _SPEED_UP:
            angle, speed, change = _smooth(rest / _SPEED_UP)
            whole = self.turn_time + _SPEED_UP
            return rate * (whole - _SPEED_UP * angle), rate * speed, -rate / _SPEED_UP * change
        return rate * (t - 0.5 * _SPEED_UP), rate, 0.0

    @cached_property
    def _joints(self) -> CubicSpline:
        """The joint positions at each angle."""
        model, p = self.robot.model, self.parameters
        last = p.speed / p.radius * (self.turn_time + _SPEED_UP)
        angles = np.linspace(0.0, last, max(20, round(_NODES * last / (2.0 * np.pi))))
        start, q = model.forward_kinematics(self.robot.start), self.robot.start
        rows = []
        for angle in angles.tolist():
            pose = start.copy()
            pose.translation = start.translation + p.radius * self.circle(angle)
            found = solve_ik(model, pose, q)
            if not found.success:
                raise ArmError(f'wipe: {self.robot.name} does not reach the circle from its start')
            q = found.q
            rows.append(q)
        return CubicSpline(angles, np.array(rows))

    @staticmethod
    def circle(angle: Any) -> Array:
        """Return points (..., 3) of the unit circle that begins at the origin."""
        return np.stack([np.cos(angle) - 1.0, np.sin(angle), np.zeros_like(angle)], axis=-1)

    def reference(self, t: float, reference: Reference) -> None:
        """Write the motion along the circle, and the force."""
        angle, rate, change = self.angle(t)
        joints = self._joints
        first = joints(angle, 1)
        reference.row[:] = 0.0
        reference.q[:] = joints(angle)
        reference.v[:] = rate * first
        reference.a[:] = rate**2 * joints(angle, 2) + change * first
        self.add_wrench(t, reference)


def _smooth(x: float) -> tuple[float, float, float]:
    """Return position, speed and acceleration of a motion that begins smoothly: 0.5, 1, 0 at 1."""
    return x**3 * (1.0 - 0.5 * x), x**2 * (3.0 - 2.0 * x), 6.0 * x * (1.0 - x)
