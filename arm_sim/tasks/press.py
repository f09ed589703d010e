"""Press: the tool approaches a surface whose place it does not know, and presses on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from arm_controllers.follower.goal import Goal
from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.loop.measures import rms
from arm_sim.loop.report import Check, common_rows
from arm_sim.simulation.scene import SceneObject, objects_text
from arm_sim.tasks import Run, Task

_LOST = 0.1  # a smaller force is no contact [N]
_SIZE, _THICKNESS = 0.6, 0.04  # of the surface [m]


@dataclass(frozen=True, kw_only=True)
class SurfaceParameters(Parameters):
    """The surface and the force on it."""

    force: float = parameter(10.0, 'force along the normal of the surface [N]', above=0, max=1e3)
    distance: float = parameter(
        0.015, 'distance of the tool frame from the surface at the start [m]', above=0, max=1
    )
    surface_stiffness: float = parameter(4e4, 'stiffness of the surface [N/m]', above=0, max=1e9)
    surface_damping: float = parameter(0.0, 'damping of the surface [N.s/m]', min=0, max=1e7)
    surface_friction: float = parameter(
        0.3, 'friction coefficient of the surface [1]', min=0, max=10
    )
    surface_tilt: float = parameter(
        0.0, 'tilt of the surface about the y axis of the base, unknown to the controller [deg]',
        min=-45, max=45,
    )  # fmt: skip
    limit: float = parameter(
        0.0, 'largest RMS error of the force for exit code 0 [N]; 0: no limit', min=0
    )


@dataclass(frozen=True, kw_only=True)
class PressParameters(SurfaceParameters):
    """The surface, the force on it, and the duration."""

    duration: float = parameter(
        6.0, 'duration of the task [s]; its last second counts as rest', min=3, max=3600
    )


class Press(Task):
    """The tool presses on a surface below it, and the force comes to rest."""

    Parameters: ClassVar[Any] = PressParameters
    compared = None
    columns = ('', 'RMS', 'max', 'where')

    def prepare(self) -> None:
        """Put the surface below the tool, and a force-torque sensor behind it."""
        p, model = self.parameters, self.robot.model
        tilt = Rotation.from_euler('y', p.surface_tilt, degrees=True)
        self.normal = tilt.apply((0.0, 0.0, 1.0))
        tip = model.forward_kinematics(self.robot.start).translation
        middle = tip - (p.distance + 0.5 * _THICKNESS) * self.normal
        surface = SceneObject(
            name='surface', size=(_SIZE, _SIZE, _THICKNESS), position=tuple(middle.tolist()),
            rotation=tuple(tilt.as_euler('xyz').tolist()), stiffness=p.surface_stiffness,
            damping=p.surface_damping, friction=p.surface_friction, colour=(0.72, 0.78, 0.82),
        )  # fmt: skip
        self.simulator = {
            'objects': objects_text([surface]),
            'force_torque.frame': model.tool_carrier,
            'force_torque.tare_at_reset': True,
        }
        self.wrench = np.array([0.0, 0.0, -p.force, 0.0, 0.0, 0.0])
        self.set_times()

    def set_times(self) -> None:
        """Set the duration, and between which times the force is measured [s]."""
        self.duration = self.parameters.duration
        self.measured = self.duration - 1.0, self.duration

    def goal(self) -> Goal | None:
        """Return no trajectory: the arm holds its place but for the force."""
        return None

    def reference(self, t: float, reference: Reference) -> None:
        """Write rest at the robot's start, and the force."""
        reference.row[:] = 0.0
        reference.q[:] = self.robot.start
        self.add_wrench(t, reference)

    def kept(self, run: Run) -> NDArray[np.bool_]:
        """Return which samples (k,) are measured."""
        t = run.record.t
        return (t >= self.measured[0]) & (t < self.measured[1])

    def normal_force(self, run: Run) -> Array:
        """Return the force of the surface on the tool along its normal (k,) [N]."""
        record, model = run.record, self.robot.model
        if not len(record.wrench):  # not the simulator of this task
            return np.full(len(record.t), np.nan)
        turns = _rotations(model, record.q, model.tool_carrier)
        force: Array = np.einsum('kij,kj->ki', turns, record.wrench[:, :3]) @ self.normal
        return force

    def results(self, run: Run) -> dict[str, Any]:
        """Return the force's error at rest, its peak, and how long the contact was lost."""
        t, force, kept = run.record.t, self.normal_force(run), self.kept(run)
        touched = np.flatnonzero(force > _LOST)
        first = int(touched[0]) if len(touched) else len(t) - 1
        error = force[kept] - self.parameters.force if kept.any() else np.array([np.nan])
        period = float(t[1] - t[0])
        return {
            'force_n': self.parameters.force,
            'contact_at_s': float(t[first]) if len(touched) else None,
            'force_error_rms_n': float(rms(error)),
            'force_error_max_n': float(np.abs(error).max()),
            'peak_force_n': float(force.max()),
            'peak_at_s': float(t[int(force.argmax())]),
            'impact_n': float(force[first : first + round(0.1 / period)].max()),
            'bounce_s': float(period * (force[first:] <= _LOST)[~kept[first:]].sum()),
            'contact_lost_s': float(period * (force[kept] <= _LOST).sum()),
        }

    def checks(self, report: Mapping[str, Any]) -> list[Check]:
        """Return the limit of the force's error, where there is one."""
        limit = self.parameters.limit
        return [Check('force error', report['force_error_rms_n'], limit, 'N')] if limit else []

    def rows(self, report: Mapping[str, Any]) -> list[tuple[str, ...]]:
        """Return rows of the force, and what every task has."""
        at = report['contact_at_s']
        touched = 'never' if at is None else f'first contact at t = {at:.3f} s'
        bounce = f'{report["bounce_s"]:.3g} s of bouncing'
        lost = f'{report["contact_lost_s"]:.3g} s without contact'
        return [
            (
                'force error [N]',
                f'{report["force_error_rms_n"]:.3g}',
                f'{report["force_error_max_n"]:.3g}',
                f'of {report["force_n"]:g} N, from t = {self.measured[0]:g} s on; {lost}',
            ),
            ('impact [N]', '', f'{report["impact_n"]:.4g}', f'{touched}; {bounce}'),
            (
                'force [N]',
                '',
                f'{report["peak_force_n"]:.4g}',
                f't = {report["peak_at_s"]:.3f} s',
            ),
            *common_rows(report),
        ]

    def draw(self, run: Run, report: Mapping[str, Any]) -> Any:
        """Draw the force over time, and its error on a log axis."""
        from arm_sim.loop.force_picture import force_figure

        force = self.normal_force(run)
        return force_figure(run.record.t, force, report, self.measured)


def _rotations(model: Any, q: Array, frame: str) -> Array:
    return np.array([model.forward_kinematics(each, frame).rotation for each in q])
