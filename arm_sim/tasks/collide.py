"""Collide: the tool of a moving arm hits a sphere on a spring that no controller expects."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from eigenpy import CompleteOrthogonalDecomposition

from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import Parameters, parameter
from arm_dynamics.small_matrices import solve_positive, times
from arm_sim.loop.report import ReportTree, Results
from arm_sim.simulation.scene import SceneObject
from arm_sim.tasks import Run, TaskEvaluation
from arm_sim.tasks._contact import ContactReport, ContactTask, away_from_base

_RAMP = 0.4  # time in which the motion reaches its speed [s]
_BEYOND = 0.15  # way of the reference behind the place of the contact [m]
_REST = 1.0  # after the motion [s]
_STILL = 0.01  # speed of the tool that counts as standing [m/s]


@dataclass(frozen=True, kw_only=True)
class CollideParameters(Parameters):
    """The motion, and the sphere in its way."""

    speed: float = parameter(0.25, 'speed of the tool at the contact [m/s]', above=0, max=5)
    distance: float = parameter(
        0.3, 'way of the tool from the start to the contact [m]', above=0, max=10
    )
    sphere_stiffness: float = parameter(
        75e3, 'stiffness of the sphere [N/m]; 75 kN/m is that of a hand in ISO/TS 15066', above=0,
        max=1e9,
    )  # fmt: skip
    sphere_damping: float = parameter(0.0, 'damping of the sphere [N.s/m]', min=0, max=1e7)
    sphere_mass: float = parameter(
        0.0, 'mass of the sphere, which slides along the motion [kg]; 0: a fixed sphere',
        min=0, max=1e6,
    )  # fmt: skip
    sphere_radius: float = parameter(0.05, 'radius of the sphere [m]', above=0, max=1)
    tool_radius: float = parameter(
        0.01, 'radius of the ball at the tool frame [m], as of gripper:=probe', above=0, max=1
    )


class CollideReport(ContactReport):
    """The impact, and the time to stop."""

    def forces_of_spring(self, run: Run) -> Array:
        """Return the force of the spring over time (k,) [N], that of the physics."""
        contacts = run.record.contacts
        return np.nan_to_num(contacts[:, 1]) if len(contacts) else np.zeros(len(run.record.t))

    def results(self, run: Run) -> Results:
        """Return peak and impulse of the spring, its penetration, and the time to stop."""
        t, force = run.record.t, self.forces_of_spring(run)
        period, numbers = float(t[1] - t[0]), super().results(run)
        touched = np.flatnonzero(force > 0.0)
        first = int(touched[0]) if len(touched) else len(t) - 1
        speed = np.linalg.norm(np.diff(run.tracking.tip, axis=0), axis=1)[first:] / period
        moves = np.flatnonzero(speed > _STILL)
        parted = np.flatnonzero(force[first:] == 0.0)
        impact = force[first:][: int(parted[0]) if len(touched) and len(parted) else None]
        return numbers | {
            'impact_speed_m_s': self.task.impact_speed,
            'effective_mass_kg': self.task.mass,
            'undetected_n': self.task.impact_force,
            'contact_at_s': float(t[first]) if len(touched) else None,
            'peak_force_n': float(force.max()),
            'peak_at_s': float(t[int(force.argmax())]),
            'impact_n': float(impact.max()),
            'impact_impulse_ns': float(period * impact.sum()),
            'spring_mm': float(1e3 * force.max() / self.parameters.sphere_stiffness),
            'last_force_n': float(force[-1]),
            'stop_s': period * float(moves[-1] + 1 if len(moves) else 0),
            'success': run.record.completed and bool(len(touched)),
        }

    def rows(self, report: ReportTree) -> list[tuple[str, ...]]:
        """Return rows of the impact, and what every task has."""
        free = f'v sqrt(k m) is {report["undetected_n"]:.4g} N at '
        free += f'{report["impact_speed_m_s"]:.3g} m/s and {report["effective_mass_kg"]:.3g} kg'
        return [
            ('force of the spring [N]', '', f'{report["peak_force_n"]:.4g}', free),
            ('spring [mm]', '', f'{report["spring_mm"]:.3g}', 'greatest compression'),
            ('time to stop [s]', '', f'{report["stop_s"]:.3g}', 'from the first contact'),
            *super().rows(report),
        ]


class Collide(ContactTask):
    """The tool moves along a line of joint positions, through the place of the sphere.

    Attributes:
        direction: (n,) joint velocity per speed of the tool at the start [rad/m].
        contact: (n,) position of the arm at the contact [rad | m].
        mass: effective mass of tool and sphere in the direction of the impact [kg].
        impact_speed: of the tool at the contact [m/s].
    """

    Parameters: ClassVar[type[Parameters]] = CollideParameters
    Report = CollideReport
    evaluation = TaskEvaluation(compared=None, ranked_by='force_peak_n')
    goal_may_end = True

    def prepare(self) -> None:
        """Put the sphere in the way, which is horizontal, around the base of the arm."""
        p, model, start = self.parameters, self.robot.model, self.robot.start
        if p.distance <= 0.5 * _RAMP * p.speed:
            raise ArmError(
                f'distance is {p.distance:g} m; at {p.speed:g} m/s it must be greater than '
                f'{0.5 * _RAMP * p.speed:g} m'
            )
        tip, jacobian = model.forward_kinematics(start).translation, model.jacobian(start)[:3]
        line = np.cross((0.0, 0.0, 1.0), away_from_base(self.robot, tip))
        self.direction = CompleteOrthogonalDecomposition(jacobian).solve(line)
        self.contact = start + p.distance * self.direction
        tip = model.forward_kinematics(self.contact).translation
        jacobian = model.jacobian(self.contact)[:3]
        velocity = times(jacobian, self.direction)
        if not np.linalg.norm(velocity) > 0.1:
            raise ArmError(f'{self.robot.name} cannot move its tool along a horizontal line')
        self.impact_speed = p.speed * float(np.linalg.norm(velocity))
        normal = velocity / np.linalg.norm(velocity)
        along = times(jacobian.T, normal)
        mobility = solve_positive(model.mass_matrix(self.contact), along)
        slides: dict[str, Any] = {}
        inverse = float(along @ mobility)
        if p.sphere_mass:
            level = normal * (1.0, 1.0, 0.0)  # the sphere slides level, so that it rests
            level /= np.linalg.norm(level)
            inverse += float(normal @ level) ** 2 / p.sphere_mass
            slides = {'mass': p.sphere_mass, 'joint': 'slide', 'axis': tuple(level.tolist())}
        self.mass, self.normal = 1.0 / inverse, -normal
        centre = tip + (p.sphere_radius + p.tool_radius) * normal
        sphere = SceneObject(
            name='sphere', shape='sphere', size=(2.0 * p.sphere_radius,), friction=0.0,
            position=tuple(centre.tolist()), stiffness=p.sphere_stiffness,
            damping=p.sphere_damping, **slides,
        )  # fmt: skip
        self.touch([sphere])
        self.duration = (p.distance + _BEYOND) / p.speed + _RAMP + _REST

    def reference(self, t: float, reference: Reference) -> None:
        """Write the motion: from rest to the speed, through the sphere, to rest."""
        p, way = self.parameters, self.parameters.distance + _BEYOND
        end = way / p.speed  # where braking begins
        x = np.clip(np.array([t, t - end]) / _RAMP, 0.0, 1.0)
        rise, fall = x * x * x * (1.0 - 0.5 * x)
        speed = x**2 * (3.0 - 2.0 * x)
        change = 6.0 * x * (1.0 - x) / _RAMP
        s = _RAMP * (rise - fall) + max(0.0, t - _RAMP) - max(0.0, t - end - _RAMP)
        reference.row[:] = 0.0
        reference.q[:] = self.robot.start + p.speed * s * self.direction
        reference.v[:] = p.speed * (speed[0] - speed[1]) * self.direction
        reference.a[:] = p.speed * (change[0] - change[1]) * self.direction

    @property
    def impact_force(self) -> float:
        """Peak force of an impact that no law answers, v sqrt(k m) [N]."""
        return self.impact_speed * float(np.sqrt(self.parameters.sphere_stiffness * self.mass))
