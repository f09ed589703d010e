"""A sinusoid in joint space, about where the arm starts.

q_r(t) = q_start + A sin(2 pi f t), where q_start is moved by so much as a limit is nearer than A.
"""

from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_sim.loop.measures import rms
from arm_sim.loop.report import Check, ReportTree, Results, common_rows
from arm_sim.tasks import Run, Task, TaskEvaluation, TaskReport

_APART = 1e-6  # from a limit, more than rounding [rad | m]


class JointSinusoid:
    """q_r(t) = center + amplitude sin(2 pi f t), with its derivatives."""

    def __init__(self, amplitude: ArrayLike, frequency: float = 0.5, center: ArrayLike = 0.0):
        """Take amplitude (n,) and center (n,) [rad | m], and one frequency f [Hz]."""
        self.amplitude, self.center = np.asarray(amplitude), np.asarray(center)
        self.frequency = frequency

    def evaluate(self, t: float, reference: Reference) -> None:
        """Write the reference at t [s] into `reference`."""
        w = 2.0 * np.pi * self.frequency
        sine, cosine = sin(w * t), cos(w * t)
        np.multiply(self.amplitude, sine, out=reference.q)
        np.multiply(self.amplitude, w * cosine, out=reference.v)
        np.multiply(self.amplitude, -w * w * sine, out=reference.a)
        reference.q += self.center


@dataclass(frozen=True)
class SinusoidParameters(Parameters):
    """Parameters of the sinusoid."""

    amplitude: PerJoint = parameter((), 'amplitude [rad | m]; empty: 0.2, or what the arm allows')
    frequency: float = parameter(0.5, 'frequency of the sinusoid [Hz]', min=0.001, max=100)
    cycles: float = parameter(1.0, 'number of measured cycles [1]', min=0.1, max=1000)
    sample_period: float = parameter(0.01, 'time between points of the goal [s]', min=1e-4, max=1)
    limit: float = parameter(
        0.0,
        'largest RMS error of a joint for exit code 0 [deg | mm], printed in rad or mm; '
        '0: no limit',
        min=0,
    )


class SinusoidReport(TaskReport):
    """Errors of each joint, with a limit of the largest."""

    def results(self, run: Run) -> Results:
        """Return the errors of the joints in degrees and millimetres."""
        model, error = self.robot.model, run.tracking.joint_error
        scale = np.where(model.prismatic, 1e3, np.degrees(1.0))
        each, largest = rms(error) * scale, np.abs(error).max(axis=0) * scale
        return {
            'frequency_hz': self.parameters.frequency,
            'amplitude': self.task.amplitude.tolist(),
            'joint_rms_deg': dict(zip(model.joint_names, each.tolist(), strict=True)),
            'joint_max_deg': dict(zip(model.joint_names, largest.tolist(), strict=True)),
        }

    def checks(self, report: ReportTree) -> list[Check]:
        """Return the limit of the joint with the largest error, where there is one."""
        each, limit = report['joint_rms_deg'], self.parameters.limit
        worst = max(each, key=each.get)
        unit = 'mm' if self._is_prismatic(worst) else 'deg'
        return [Check('largest RMS error of a joint', each[worst], limit, unit)] if limit else []

    def rows(self, report: ReportTree) -> list[tuple[str, ...]]:
        """Return a row per joint with its errors in rad or mm, and what every task has."""
        joints = []
        for name, error in report['joint_rms_deg'].items():
            unit, scale = ('mm', 1.0) if self._is_prismatic(name) else ('rad', np.radians(1.0))
            shown = (f'{x * scale:.6g}' for x in (error, report['joint_max_deg'][name]))
            joints.append((f'{name} [{unit}]', *shown, ''))
        return joints + common_rows(report)

    def _is_prismatic(self, joint: str) -> bool:
        model = self.robot.model
        return bool(model.prismatic[model.joint_names.index(joint)])

    def draw(self, run: Run, report: ReportTree) -> Any:
        """Draw positions with their reference, and errors below."""
        from arm_sim.loop.picture import joints_figure

        event = [self.task.event]
        return joints_figure(run.record, run.tracking, report, self.robot.model, event)


class Sinusoid(Task):
    """All joints follow sinusoids of one frequency, and come to rest within half a cycle."""

    Parameters = SinusoidParameters
    Report = SinusoidReport
    evaluation = TaskEvaluation(compared=0)
    remedy = '; lower amplitude or frequency of task sinusoid'

    def prepare(self) -> None:
        """Set the sinusoid, and the way to it and from it: half a cycle, in milliseconds."""
        p = self.parameters
        self.duration = p.cycles / p.frequency
        self.sample_period = p.sample_period
        self.approach_time = self.rest_time = float(np.ceil(500.0 / p.frequency) * 1e-3)
        from arm_sim.tasks._fitting import fit_amplitude

        fit_amplitude(self, self._use, p.amplitude, 0.2, 2.0 * np.pi * p.frequency)

    def _use(self, amplitude: Array) -> None:
        self.amplitude = amplitude
        self._sinusoid = JointSinusoid(amplitude, self.parameters.frequency, self._middle())

    def _middle(self) -> Array:
        """Return where the arm starts, so far from its limits that the sinusoid is within (n,)."""
        model, margin = self.robot.model, np.abs(self.amplitude) + _APART
        lowest, highest = model.position_lower + margin, model.position_upper - margin
        wide = lowest <= highest  # else no place is right: the follower says what is wrong
        return np.where(wide, np.clip(self.robot.start, lowest, highest), self.robot.start)

    def reference(self, t: float, reference: Reference) -> None:
        """Write the sinusoid."""
        self._sinusoid.evaluate(t, reference)
