"""The measures of many runs, summed up while they run: nothing grows with the time."""

import numpy as np

from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.compiling import kept
from arm_dynamics.model import RobotModel
from arm_sim.runs.measures import RECOVERED

_ROWS, _SQUARES, _LARGEST, _LAST, _JOINTS, _PEAK, _SHARE, _ENERGY, _CHATTER, _OUTSIDE = range(10)


class BatchMeasures:
    """An observer of run_batch that has runs.measures.Measures' numbers of every arm.

    Attributes:
        sums: (N, 10) what has been summed up so far.
    """

    def __init__(self, model: RobotModel, size: int, period: float, event: float | None = None):
        """Measure `size` arms with tips and limits of `model`; see `measure` for the event [s]."""
        self._model = BatchModel(model)
        self._continuous = model.continuous
        self._period, self._event = period, event
        self._first = 0 if event is None else int(np.ceil(event / period - 1e-9))
        self.sums = np.zeros((size, 10))
        self.sums[:, _OUTSIDE] = -1.0
        self._effort = np.zeros((size, model.nv))
        self._alive = np.ones(size, dtype=bool)

    def __call__(
        self, i: int, q: Array, v: Array, reference: Reference, effort: Array, alive: Array
    ) -> None:
        """Sum up period i."""
        self._alive = alive
        reference_q = np.ascontiguousarray(reference.q)
        same = (reference_q == reference_q[0]).all()
        tips = self._model.positions(q)
        reference_tips = self._model.positions(reference_q[:1] if same else reference_q)
        _sum_up(
            i, self._first, q, v, reference_q, tips, reference_tips, effort, alive,
            self._model.effort_limit, self._continuous, self._effort, self.sums,
        )  # fmt: skip

    def results(self) -> dict[str, Array]:
        """Return each field of Measures as an array (N,); nan where there are not two rows."""
        s = self.sums.T
        count = np.where(s[_ROWS] < 2, np.nan, s[_ROWS])
        joints = self._effort.shape[1]
        recovery = np.where(s[_OUTSIDE] < 0, 0.0, (s[_OUTSIDE] + 1) * self._period)
        if self._event is None:
            recovery[:] = np.nan
        else:
            recovery -= np.where(s[_OUTSIDE] < 0, 0.0, self._event)
            recovery[s[_LAST] > RECOVERED] = np.nan
        return {
            'tracking_rms_mm': np.sqrt(s[_SQUARES] / count),
            'tracking_max_mm': s[_LARGEST] + 0.0 * count,
            'joint_rms_rad': np.sqrt(s[_JOINTS] / (count * joints)),
            'peak_torque_nm': s[_PEAK] + 0.0 * count,
            'peak_torque_share': s[_SHARE] + 0.0 * count,
            'energy_j': s[_ENERGY] * self._period + 0.0 * count,
            'chatter_nm': np.sqrt(s[_CHATTER] / ((count - 1.0) * joints)),
            'recovery_s': recovery + 0.0 * count,
            'completed': self._alive & (s[_ROWS] >= 2),
        }


def _sum_up_rows(
    i, first, q, v, reference_q, tips, reference_tips, effort, alive, limit, continuous, last, sums
):
    for arm in range(q.shape[0]):
        if not alive[arm]:
            continue
        row, square = sums[arm], 0.0
        reference_tip = reference_tips[min(arm, reference_tips.shape[0] - 1)]
        for k in range(3):
            square += (tips[arm, k] - reference_tip[k]) ** 2
        error = 1e3 * np.sqrt(square)
        row[_ROWS] += 1.0
        row[_SQUARES] += error * error
        row[_LARGEST] = max(row[_LARGEST], error)
        row[_LAST] = error
        if error > RECOVERED and i >= first:
            row[_OUTSIDE] = i
        for j in range(q.shape[1]):
            step, torque = reference_q[arm, j] - q[arm, j], effort[arm, j]
            if continuous[j]:
                step = np.remainder(step + np.pi, 2.0 * np.pi) - np.pi
            row[_JOINTS] += step * step
            row[_PEAK] = max(row[_PEAK], abs(torque))
            row[_SHARE] = max(row[_SHARE], abs(torque) / limit[j])
            row[_ENERGY] += abs(torque * v[arm, j])
            if i > 0:
                row[_CHATTER] += (torque - last[arm, j]) ** 2
            last[arm, j] = torque


_sum_up = kept(_sum_up_rows, nogil=True)
