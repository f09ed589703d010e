"""The base of contact tasks: objects to touch, a tared force-torque sensor, measures of the force.

A task `class MyTask(ContactTask)` in a file of its own has in `prepare`

    self.touch([SceneObject(...), ...])         # or self.touch(scene='peg_in_hole')
    self.normal = np.array([0.0, 0.0, 1.0])     # out of the surface; None: the size of the force
    self.wrench = np.array([0.0, 0.0, -10.0, 0.0, 0.0, 0.0])  # goal of the force; None: none
    self.duration, self.measured = 8.0, (2.0, 7.0)

and a `reference` that calls `self.add_wrench(t, reference)`; `normals` has a normal that depends
on the place. In a `ContactReport` of its own `results` and `rows` add what is the task's own, and
`succeeded` says what counts as success.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.loop.measures import NO_CONTACT, Poses, rms, tips
from arm_sim.loop.record import Record
from arm_sim.loop.report import Check, ReportTree, Results, common_rows
from arm_sim.robot import Robot
from arm_sim.simulation.scene import SceneObject, objects_text
from arm_sim.tasks import Run, Task, TaskEvaluation, TaskReport

_IMPACT = 0.1  # longest time of an impact [s]
_ABOVE = 1e-6  # from the vertical axis of the base [m]
_TOLERANCE = 0.2  # largest error of the force in a success, as a share of the goal


@dataclass(frozen=True, kw_only=True)
class SurfaceParameters(Parameters):
    """The surface that is touched, and the force on it."""

    force: float = parameter(10.0, 'force along the normal of the surface [N]', above=0, max=1e3)
    distance: float = parameter(
        0.015, 'distance of the tool frame from the surface at the start [m]', above=0, max=1
    )
    surface_stiffness: float = parameter(4e4, 'stiffness of the surface [N/m]', above=0, max=1e9)
    surface_damping: float = parameter(0.0, 'damping of the surface [N.s/m]', min=0, max=1e7)
    surface_friction: float = parameter(
        0.3, 'friction coefficient of the surface [1]', min=0, max=10
    )
    limit: float = parameter(
        0.0, 'largest RMS error of the force for exit code 0 [N]; 0: no limit', min=0
    )

    def surface(self, **others: Any) -> SceneObject:
        """Return an object of this material."""
        return SceneObject(
            stiffness=self.surface_stiffness, damping=self.surface_damping,
            friction=self.surface_friction, colour=(0.72, 0.78, 0.82), **others,
        )  # fmt: skip


class ContactReport(TaskReport):
    """What the force did, and whether the task succeeded."""

    def forces(self, run: Run) -> Array:
        """Return the forces (k, 3) of a run, see `forces_at`; nan without a sensor."""
        record = run.record
        if not len(record.wrench):  # not the simulator of this task
            return np.full((len(record.t), 3), np.nan)
        return self.task.forces_at(tips(self.robot.model, record.q), record.wrench)

    def results(self, run: Run) -> Results:
        """Return what the force did, and whether the task succeeded."""
        t, forces = run.record.t, self.forces(run)
        force, kept = self.task.along(forces, run.tracking.tip), self.task.kept(t)
        touched = np.flatnonzero((force > NO_CONTACT) & _near_contact(run.record))
        first = int(touched[0]) if len(touched) else len(t) - 1
        if self.task.measured is None:
            kept[:first] = False
        period, lost = float(t[1] - t[0]), force <= NO_CONTACT
        impact = force[first : first + round(_IMPACT / period)]
        bounced = np.flatnonzero(impact <= NO_CONTACT)
        numbers: Results = {
            'force_n': self.task.wanted,
            'contact_at_s': float(t[first]) if len(touched) else None,
            'peak_force_n': float(force.max()),
            'peak_at_s': float(t[int(force.argmax())]),
            'impact_n': float(impact.max()),
            'impact_impulse_ns': float(period * impact[: [*bounced, None][0]].sum()),
            'bounce_s': float(period * lost[first:][~kept[first:]].sum()),
            'contact_lost_s': float(period * lost[kept].sum()),
            'work_j': _work(forces, run.tracking.tip),
        }  # fmt: skip
        wanted = self.task.wanted
        if self.task.wrench is not None and wanted:
            direction = self.task.wrench[:3] / wanted
            off = run.tracking.tip - run.tracking.reference_tip
            off = np.linalg.norm(off - np.outer(off @ direction, direction), axis=1)
            for name, values in (('force_error', force - wanted), ('path_error', off)):
                values = np.abs(values[kept]) if kept.any() else np.array([np.nan])
                unit, scale = ('n', 1.0) if name == 'force_error' else ('mm', 1e3)
                numbers[f'{name}_rms_{unit}'] = float(scale * rms(values))
                numbers[f'{name}_max_{unit}'] = float(scale * values.max())
        numbers['success'] = run.record.completed and self.succeeded(numbers)
        return numbers

    def succeeded(self, results: ReportTree) -> bool:
        """Return whether a run succeeded; `found` has its results.

        Without another rule: the contact is never lost, the force stays within 20 % of its goal.
        """
        error = results.get('force_error_max_n', 0.0)
        kept = results['contact_at_s'] is not None and results['contact_lost_s'] == 0.0
        return kept and error <= _TOLERANCE * (self.task.wanted or 0.0)

    def checks(self, report: ReportTree) -> list[Check]:
        """Return the limit of the force's error, where there is one."""
        limit = getattr(self.parameters, 'limit', 0.0)
        return [Check('force error', report['force_error_rms_n'], limit, 'N')] if limit else []

    def rows(self, report: ReportTree) -> list[tuple[str, ...]]:
        """Return rows of the force and of the path, and what every task has."""
        at, begin = report['contact_at_s'], (self.task.measured or (0.0, 0.0))[0]
        touched = 'never' if at is None else f'first contact at t = {at:.3f} s'
        impact = f'{touched}, {report["impact_impulse_ns"]:.3g} N.s; '
        impact += f'{report["bounce_s"]:.3g} s of bouncing'
        rows: list[tuple[str, ...]] = [
            ('impact [N]', '', f'{report["impact_n"]:.4g}', impact),
            (
                'force [N]',
                '',
                f'{report["peak_force_n"]:.4g}',
                f't = {report["peak_at_s"]:.3f} s; work {report["work_j"]:.3g} J',
            ),
        ]
        if 'force_error_rms_n' in report:
            lost = f'{report["contact_lost_s"]:.3g} s without contact'
            where = f'of {report["force_n"]:g} N, from t = {begin:g} s on; {lost}'
            rows.insert(0, _row('force error [N]', report, 'force_error', 'n', where))
            where = 'distance from the reference, seen along the force'
            rows.append(_row('path error [mm]', report, 'path_error', 'mm', where))
        rows.append(('success', '', 'yes' if report['success'] else 'no', ''))
        return [*rows, *common_rows(report)]

    def draw(self, run: Run, report: ReportTree) -> Any:
        """Draw the force over time, and its error."""
        from arm_sim.loop.picture import force_figure

        force = self.task.along(self.forces(run), run.tracking.tip)
        return force_figure(run.record.t, force, report, self.task.measured)


class ContactTask(Task):
    """A task in which the tool touches something, and the wrist feels it.

    Attributes:
        normal: (3,) direction of the force on the tool that counts, in base axes; None: its size.
        measured: times between which error and loss of contact count [s]; None: from the first
            contact on.
    """

    Report: ClassVar[type[TaskReport]] = ContactReport
    evaluation = TaskEvaluation(compared=None, ranked_by='force_rms_n')
    normal: Array | None = None
    measured: tuple[float, float] | None = None

    def touch(self, objects: Iterable[SceneObject] = (), **others: Any) -> None:
        """Put objects around the arm, and a tared force-torque sensor before the tool.

        `others` are parameters of the simulator, for example `scene`.
        """
        self.simulator = {
            'force_torque.frame': self.robot.model.tool_carrier,
            'force_torque.tare_at_reset': True,
            **({'objects': objects_text(list(objects))} if objects else {}),
            **others,
        }

    @property
    def wanted(self) -> float | None:
        """Size of the goal of the force [N]; None: there is none."""
        return None if self.wrench is None else float(np.linalg.norm(self.wrench[:3]))

    def kept(self, t: Array | float) -> NDArray[np.bool_]:
        """Return which times (...) [s] are measured."""
        begin, end = self.measured or (0.0, np.inf)
        return np.asarray((t >= begin) & (t < end))

    def normals(self, tip: Array) -> Array | None:
        """Return the normals (..., 3) where the tip (..., 3) is; None: the force's size counts."""
        return self.normal

    @cached_property
    def _mounting(self) -> Array:
        """The rotation of the sensor in the tool frame."""
        model, q = self.robot.model, self.robot.start
        tool, sensor = (model.forward_kinematics(q, x) for x in (None, model.tool_carrier))
        mounting: Array = tool.rotation.T @ sensor.rotation
        return mounting

    def forces_at(self, tip: Poses, wrench: Array) -> Array:
        """Return the force of the surroundings on the tool (..., 3) [N], in base axes.

        `wrench` (..., 6) is what the force-torque sensor reports at poses of the tool frame.
        """
        forces: Array = np.einsum(
            '...ij,...j->...i', tip.rotation @ self._mounting, wrench[..., :3]
        )
        return forces

    def along(self, forces: Array, tip: Array) -> Array:
        """Return forces (..., 3) along the normal where the tip is, or their size (...) [N]."""
        normals = self.normals(tip)
        if normals is None:
            return np.linalg.norm(forces, axis=-1)
        force: Array = (forces * normals).sum(axis=-1)
        return force

    def force_samples(self, t: Array | float, tip: Poses, wrench: Array) -> Array:
        """Return force and error (2, ...) [N]; see Task."""
        force = self.along(self.forces_at(tip, wrench), tip.position)
        counts = self.kept(t) & (self.wanted is not None)
        return np.stack([force, np.where(counts, force - (self.wanted or 0.0), np.nan)])


def away_from_base(robot: Robot, tip: Array) -> Array:
    """Return the horizontal direction (3,) from the axis of the base to the tool.

    Raises:
        ArmError: the tool is above or below the base.
    """
    out = tip * (1.0, 1.0, 0.0)
    if np.linalg.norm(out) < _ABOVE:
        raise ArmError(
            f'{robot.name} starts with its tool above or below its base, so that no direction '
            'leads away from it: other initial_positions are needed'
        )
    return np.asarray(out / np.linalg.norm(out))


def _near_contact(record: Record) -> NDArray[np.bool_]:
    """Return when (k,) the physics has a contact; else the sensor feels the tool's inertia.

    A record without facts about contacts says nothing: always.
    """
    near = (
        ~(record.contacts[:, 1] <= 0.0) if len(record.contacts) else np.ones(len(record.t), bool)
    )
    near[1:] |= near[:-1]  # the sensor's reading is one of the period after the contact
    return near


def _work(forces: Array, tip: Array) -> float:
    """Return the work [J] that the tool does on its surroundings by forces (k, 3) at the tip."""
    return float(-0.5 * ((forces[1:] + forces[:-1]) * np.diff(tip, axis=0)).sum())


def _row(heading: str, report: ReportTree, name: str, unit: str, where: str) -> tuple[str, ...]:
    rms, largest = (f'{report[f"{name}_{kind}_{unit}"]:.3g}' for kind in ('rms', 'max'))
    return heading, rms, largest, where
