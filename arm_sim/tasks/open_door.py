"""Open door: the tool opens a door by its handle, along a circle that is not known exactly.

The task expects the hinge farther away than the hinge is. The reference is the circle around the
expected hinge, without feedback: how far the tool follows the true circle instead is a matter of
the law's compliance.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.inverse_kinematics import solve_ik
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_sim.loop.measures import rms
from arm_sim.loop.report import Check, ReportTree, Results
from arm_sim.simulation.scene import read_scene
from arm_sim.tasks import Run
from arm_sim.tasks._contact import ContactReport
from arm_sim.tasks._poses import PosesTask, smooth

_REST = 0.5  # at the beginning and at the end [s]


@dataclass(frozen=True, kw_only=True)
class OpenDoorParameters(Parameters):
    """The door, the motion, and the limits of a success."""

    handle: tuple[float, ...] = parameter(
        (0.35, -0.15, 0.35), 'place of the handle of the closed door in the base frame [m]',
        length=3, min=-10, max=10,
    )  # fmt: skip
    posture: PerJoint = parameter(
        (), 'joint positions near those at the handle [rad | m]; empty: the start of the robot'
    )
    angle: float = parameter(60.0, 'angle of the open door [deg]', above=0, max=90)
    opening_time: float = parameter(4.0, 'time in which the door opens [s]', above=0, max=60)
    radius_error: float = parameter(
        0.015, 'expected minus true radius of the circle of the handle [m]', min=-0.1, max=0.1
    )
    tolerance: float = parameter(3.0, 'largest error of the angle in a success [deg]', above=0)
    max_radial_force: float = parameter(
        20.0, 'largest force along the radius in a success [N]', above=0
    )


class OpenDoorReport(ContactReport):
    """The angle of the door, and the force that does no work."""

    def radial_force(self, run: Run) -> Array:
        """Return the force of the tool on the handle along the true radius (k,) [N]."""
        radius = (run.tracking.tip - self.task.hinge) * (1.0, 1.0, 0.0)
        radius /= np.linalg.norm(radius, axis=1, keepdims=True)
        force: Array = -(self.forces(run) * radius).sum(axis=1)
        return force

    def results(self, run: Run) -> Results:
        """Return the angle of the door, and the force that does no work."""
        record, p = run.record, self.parameters
        numbers = super().results(run)
        if not len(record.objects):
            return numbers
        angle = np.degrees(2.0 * np.arctan2(*record.objects[1:, 0, 5:7].T))
        radial = self.radial_force(run)
        opened = np.flatnonzero(angle >= p.angle - p.tolerance)
        highest = int(np.abs(radial).argmax())
        numbers |= {
            'radius_error_mm': 1e3 * p.radius_error,
            'door_angle_deg': float(angle[-1]),
            'opened_at_s': float(record.t[opened[0]]) if len(opened) else None,
            'radial_force_rms_n': float(rms(radial)),
            'radial_force_max_n': float(abs(radial[highest])),
            'radial_force_at_s': float(record.t[highest]),
        }
        held = all(check.held for check in self.checks(numbers))
        numbers['success'] = bool(record.completed and held)
        return numbers

    def checks(self, report: ReportTree) -> list[Check]:
        """Return the limits of a success."""
        p = self.parameters
        if 'door_angle_deg' not in report:
            return []
        error = abs(report['door_angle_deg'] - p.angle)
        radial = report['radial_force_max_n']
        return [
            Check('error of the angle', error, p.tolerance, 'deg'),
            Check('force along the radius', radial, p.max_radial_force, 'N'),
        ]

    def rows(self, report: ReportTree) -> list[tuple[str, ...]]:
        """Return the angle, the force along the radius, and what every contact task has."""
        if 'door_angle_deg' not in report:
            return super().rows(report)
        at, p = report['opened_at_s'], self.parameters
        opened = 'never open' if at is None else f'open at t = {at:.3f} s'
        return [
            ('angle of the door [deg]', '', f'{report["door_angle_deg"]:.2f}',
             f'of {p.angle:g} deg, {opened}'),
            ('force along the radius [N]', f'{report["radial_force_rms_n"]:.3g}',
             f'{report["radial_force_max_n"]:.3g}',
             f't = {report["radial_force_at_s"]:.3f} s; {report["radius_error_mm"]:g} mm off'),
            *super().rows(report),
        ]  # fmt: skip


class OpenDoor(PosesTask):
    """Opens the door of the scene `hinged_door`, away from the arm."""

    Parameters: ClassVar[type[Parameters]] = OpenDoorParameters
    Report = OpenDoorReport
    moved_object = 'door'

    def prepare(self) -> None:
        """Put the door in front of the arm, and the tool at its handle."""
        p, model = self.parameters, self.robot.model
        parts = [each for each in read_scene('hinged_door') if each.joint or each.parent]
        door = next(each for each in parts if each.name == 'door')
        handle = next(each for each in parts if each.name == 'handle')
        self.closed = np.array(p.handle)
        middle = self.closed - handle.position
        self.hinge = (middle + door.axis_position) * (1.0, 1.0, 0.0)
        moved = replace(door, position=tuple(middle.tolist()))
        # The tool points at the door, the prongs are on the left and on the right of the bar.
        towards = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
        self.tool = pin.SE3(towards, self.closed)
        posture = model.check_configuration(p.posture or self.robot.start, 'posture')
        solution = solve_ik(model, self.tool, posture)
        if not solution.success:
            raise ArmError(f'open_door: {self.robot.name} does not reach the handle')
        self.first = solution.q
        parts = [moved if each is door else each for each in parts]
        self.touch(parts, initial_positions=solution.q.tolist())
        self.duration = p.opening_time + 2.0 * _REST

    def pose(self, t: float) -> pin.SE3:
        """Return the pose of the tool at t [s] on the expected circle."""
        p = self.parameters
        angle = smooth((t - _REST) / p.opening_time) * np.radians(p.angle)
        turn = pin.exp3(np.array([0.0, 0.0, angle]))
        lever = (self.closed - self.hinge) * (1.0, 1.0, 0.0)
        expected = self.closed - lever * (1.0 + p.radius_error / np.linalg.norm(lever))
        place = expected + turn @ (self.closed - expected)
        return pin.SE3(turn @ self.tool.rotation, place)
