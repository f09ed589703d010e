"""The measures of many arms, accumulated period by period: memory does not grow with time."""

from collections.abc import Callable

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.compiling import inlined_njit, unlocked_njit
from arm_dynamics.model import RobotModel
from arm_sim.loop.loop import Step
from arm_sim.loop.measures import KINDS, Poses, Samples, all_measures, measure_names, values_of

_FACTS = 7  # columns that compiled code computes: fields of Samples, in their order
_RMS, _MAX, _MEAN, _INTEGRAL, _SETTLED = range(len(KINDS))


class BatchMeasures:
    """An observer of a loop that has the measures of every arm."""

    def __init__(
        self,
        model: RobotModel,
        size: int,
        period: float,
        event: float | None = None,
        contact_facts: Callable[[], Array] | None = None,
        forces: Callable[[float, Poses, Array], Array] | None = None,
    ):
        """Measure `size` arms with tips and limits of `model`; `event`: see Samples [s].

        `contact_facts`: of a plant with contacts; `forces`: of a contact task with a sensor.
        """
        self._contact_facts, self._forces = contact_facts, forces
        self._model, self._continuous = BatchModel(model), model.continuous
        self._period, self._event, self._end = period, event, 0.0
        served = {'': True, 'contacts': contact_facts is not None, 'force': forces is not None}
        self._measures = [each for each in all_measures() if served[each.needs]]
        self._kinds = np.array([KINDS.index(each.over) for each in self._measures])
        count = len(self._measures)
        self._totals, self._counts = np.zeros((size, count)), np.zeros((size, count))
        self._facts, self._rows = np.zeros((size, _FACTS)), np.zeros((size, count))
        self._effort = np.full((size, model.nv), np.nan)
        self._alive, self._periods = np.ones(size, dtype=bool), np.zeros(size)

    def samples(self, step: Step) -> Samples:
        """Return what measures are computed from in this period."""
        reference_q = np.ascontiguousarray(step.reference.q)
        same = (reference_q == reference_q[0]).all()
        poses = self._model.poses(step.q)
        reference_poses = self._model.poses(reference_q[:1] if same else reference_q)
        _facts_of(
            step.q, step.v, reference_q, poses, reference_poses, step.effort,
            self._model.effort_limit, self._continuous, self._effort, self._facts,
        )  # fmt: skip
        self._effort[:] = step.effort
        contacts = np.full((3, 1), np.nan)
        if self._contact_facts is not None:
            contacts = self._contact_facts().T
        felt, wrench = np.full((2, 1), np.nan), step.measured.wrench
        if self._forces is not None and wrench is not None:
            felt = self._forces(step.t, Poses(poses[1], poses[0]), wrench)
        return Samples(
            step.t, self._period, self._event, step.q, step.v, reference_q, step.effort,
            *self._facts.T, *contacts, *felt,
        )  # fmt: skip

    def __call__(self, step: Step) -> None:
        """Accumulate a period."""
        samples = self.samples(step)
        for column, measure in enumerate(self._measures):
            self._rows[:, column] = values_of(measure, samples)
        self._alive, self._end = step.alive, step.t + self._period
        self._periods += step.alive
        rows = self._rows, self._kinds, step.alive, self._end, self._totals, self._counts
        _accumulate(*rows)

    def results(self) -> dict[str, Array]:
        """Return each measure as an array (N,), and `completed`; nan: less than two periods."""
        short = self._periods < 2
        numbers = {
            measure.name: np.where(short, np.nan, self._result(column))
            for column, measure in enumerate(self._measures)
        }
        missing = dict.fromkeys(measure_names(), np.full(len(short), np.nan))
        return missing | numbers | {'completed': self._alive & ~short}

    def _result(self, column: int) -> Array:
        total, count, kind = self._totals[:, column], self._counts[:, column], self._kinds[column]
        if kind == _SETTLED:
            if self._event is None:
                return np.full(len(total), np.nan)
            settled = np.where(total > 0.0, total - self._event, 0.0)
            return np.where(total >= self._end, np.nan, settled)
        values = total * self._period if kind == _INTEGRAL else total.copy()
        if kind in (_RMS, _MEAN):
            values /= np.maximum(count, 1.0)
        if kind == _RMS:
            np.sqrt(values, out=values)
        return np.where(count > 0.0, values, np.nan)


@inlined_njit
def _angle(one, other):
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


@unlocked_njit
def _facts_of(q, v, reference_q, poses, reference_poses, effort, limit, continuous, last, facts):
    turns, tips = poses
    shared, n = min(1, reference_poses[0].shape[0] - 1), q.shape[1]
    for arm in range(q.shape[0]):
        row, square = facts[arm], 0.0
        reference_tip = reference_poses[1][shared * arm]
        for k in range(3):
            square += (tips[arm, k] - reference_tip[k]) ** 2
        joints, peak, share, power, steps = 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            error, torque = reference_q[arm, j] - q[arm, j], effort[arm, j]
            if continuous[j]:
                error = np.remainder(error + np.pi, 2.0 * np.pi) - np.pi
            joints += error * error
            peak = max(peak, abs(torque))
            share = max(share, abs(torque) / limit[j])
            power += abs(torque * v[arm, j])
            steps += (torque - last[arm, j]) ** 2
        row[0] = 1e3 * np.sqrt(square)
        row[1] = _angle(turns[arm], reference_poses[0][shared * arm])
        row[2], row[3], row[4] = np.sqrt(joints / n), peak, share
        row[5], row[6] = power, np.sqrt(steps / n)


@unlocked_njit
def _accumulate(rows, kinds, alive, end, totals, counts):
    for arm in range(rows.shape[0]):
        if not alive[arm]:
            continue
        for column in range(rows.shape[1]):
            x, kind = rows[arm, column], kinds[column]
            if np.isnan(x):
                continue
            counts[arm, column] += 1.0
            if kind == _MAX:
                if counts[arm, column] == 1.0 or x > totals[arm, column]:
                    totals[arm, column] = x
            elif kind == _SETTLED:
                if x != 0.0:
                    totals[arm, column] = end
            else:
                totals[arm, column] += x * x if kind == _RMS else x
