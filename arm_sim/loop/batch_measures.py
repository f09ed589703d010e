"""The measures of many runs, summed up while they run: nothing grows with the time."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.compiling import cached_njit, inlined_njit
from arm_dynamics.model import RobotModel
from arm_sim.loop.loop import Step
from arm_sim.loop.measures import RECOVERED

_ROWS, _SQUARES, _LARGEST, _LAST, _TURNS, _TURN, _JOINTS, _PEAK, _SHARE = range(9)
_ENERGY, _CHATTER, _OUTSIDE = range(9, 12)


class BatchMeasures:
    """An observer of a loop that has runs.measures.Measures' numbers of every arm.

    Attributes:
        sums: (N, 12) what has been summed up so far.
    """

    def __init__(self, model: RobotModel, size: int, period: float, event: float | None = None):
        """Measure `size` arms with tips and limits of `model`; see `measure` for the event [s]."""
        self._model = BatchModel(model)
        self._continuous = model.continuous
        self._period, self._event = period, event
        self._first = 0 if event is None else int(np.ceil(event / period - 1e-9))
        self.sums = np.zeros((size, 12))
        self.sums[:, _OUTSIDE] = -1.0
        self._effort = np.zeros((size, model.nv))
        self._alive = np.ones(size, dtype=bool)

    def __call__(self, step: Step) -> None:
        """Sum up a period."""
        i, _, q, v, _, reference, _, effort, alive = step
        self._alive = alive
        reference_q = np.ascontiguousarray(reference.q)
        same = (reference_q == reference_q[0]).all()
        poses = self._model.poses(q)
        reference_poses = self._model.poses(reference_q[:1] if same else reference_q)
        _sum_up(
            i, self._first, q, v, reference_q, poses, reference_poses, effort, alive,
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
            'orientation_rms_rad': np.sqrt(s[_TURNS] / count),
            'orientation_max_rad': s[_TURN] + 0.0 * count,
            'joint_rms_rad': np.sqrt(s[_JOINTS] / (count * joints)),
            'peak_torque_nm': s[_PEAK] + 0.0 * count,
            'peak_torque_share': s[_SHARE] + 0.0 * count,
            'energy_j': s[_ENERGY] * self._period + 0.0 * count,
            'chatter_nm': np.sqrt(s[_CHATTER] / ((count - 1.0) * joints)),
            'recovery_s': recovery + 0.0 * count,
            'completed': self._alive & (s[_ROWS] >= 2),
        }


def _angle_between(one, other):
    """Return the angle [rad] of one rotation (3, 3) from the other."""
    trace, square = 0.0, 0.0
    for i in range(3):
        for j in range(3):
            trace += one[i, j] * other[i, j]
        skew = 0.0
        for j in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            skew += one[j, a] * other[j, b] - one[j, b] * other[j, a]
        square += skew * skew
    return np.arctan2(np.sqrt(square), trace - 1.0)


_angle = inlined_njit(_angle_between)


def _sum_up_rows(
    i,
    first,
    q,
    v,
    reference_q,
    poses,
    reference_poses,
    effort,
    alive,
    limit,
    continuous,
    last,
    sums,
):
    turns, tips = poses
    shared = min(1, reference_poses[0].shape[0] - 1)
    for arm in range(q.shape[0]):
        if not alive[arm]:
            continue
        row, square = sums[arm], 0.0
        reference_turn = reference_poses[0][shared * arm]
        reference_tip = reference_poses[1][shared * arm]
        for k in range(3):
            square += (tips[arm, k] - reference_tip[k]) ** 2
        error = 1e3 * np.sqrt(square)
        row[_ROWS] += 1.0
        row[_SQUARES] += error * error
        row[_LARGEST] = max(row[_LARGEST], error)
        row[_LAST] = error
        if error > RECOVERED and i >= first:
            row[_OUTSIDE] = i
        turn = _angle(turns[arm], reference_turn)
        row[_TURNS] += turn * turn
        row[_TURN] = max(row[_TURN], turn)
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


_sum_up = cached_njit(_sum_up_rows, nogil=True)
