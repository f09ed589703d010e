"""Whether margins tell beforehand which drawn arms are unstable: the same arms, run."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.experiments.monte_carlo import tabulated
from arm_sim.loop.batch_loop import run_batch
from arm_sim.loop.batch_measures import BatchMeasures
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.closed_loop import Imperfections
from arm_sim.tasks import make_task
from arm_sim.tuning.margins import Loop, course_of
from arm_sim.tuning.trial import SHAKING

_NUDGE = 1e-6  # by which two runs of an arm differ at the start [rad | m]
_LOST = 1e-4  # a small error that has come to this has grown [rad | m]


class Agreement(NamedTuple):
    """What was foretold and what came, of N arms.

    Attributes:
        margins: (N,) from end to end of the task [1/s].
        unstable: (N,) whether a small error grew in the run without noise.
        rms_mm: (N,) tracking error of the tip in the run with noise [mm].
    """

    margins: Array
    unstable: NDArray[np.bool_]
    rms_mm: Array

    @property
    def share(self) -> float:
        """How many arms are what their margin says."""
        return float(np.mean((self.margins < 0.0) == self.unstable))


def agreement_of(loop: Loop, samples: int) -> Agreement:
    """Draw arms as the Monte Carlo does, with a delay up to the loop's; foretell, and run them.

    Each arm runs once with noise, for its tracking error, and twice without, once nudged by 1e-6
    rad: it is unstable if these two part, to 1e-4 rad at some time or to more than the nudge at
    the end, or if they shake as `tune` has it. What noise alone shakes is stable: a law that it
    drives to the torque limits in every other period is no longer the loop that was foretold.
    """
    robot = loop.load()
    ranges = replace(loop.ranges, delay=loop.delay)
    draws = [ranges.draw(robot, loop.seed, i) for i in range(samples)]
    arms = [with_error(robot.model, error) for error, _ in draws]
    given = [imperfections for _, imperfections in draws]
    foretold = course_of(loop, arms).margins([each.delay for each in given])
    quiet = [Imperfections(delay=each.delay) for each in given]

    task = make_task(loop.task, robot)
    loaded = [with_error(each, ModelError(payload=task.payload)) for each in arms]
    plant = BatchPlant(loaded * 3, loop.plant_of(robot), loop.engine)
    period = plant.parameters.period_ns * 1e-9
    measures = BatchMeasures(robot.model, 3 * samples, period)
    apart = _Apart(samples, round(task.duration / period))

    def nudge(plant: BatchPlant) -> BatchPlant:
        plant.q[2 * samples :] += _NUDGE
        return plant

    alive, _ = run_batch(
        plant, loop.make(robot, BatchModel(robot.model)), tabulated(task.reference),
        task.duration, [measures, apart], [(0.0, nudge)],
        given + quiet * 2,
    )  # fmt: skip
    found = measures.results()
    limit = robot.model.effort_limit
    scale = np.sqrt(np.mean(np.where(np.isfinite(limit), limit, 0.0) ** 2)) or 1.0
    first = slice(samples, 2 * samples)
    shakes = ~alive[first] | ~(found['chatter_nm'][first] / scale < SHAKING)
    rms = np.nan_to_num(found['tracking_rms_mm'][:samples], nan=np.inf)
    return Agreement(foretold, shakes | apart.grew, rms)


class _Apart:
    """An observer of run_batch: how far the last `count` arms are from as many before them."""

    def __init__(self, count: int, periods: int):
        self._count, self._periods = count, periods
        self._most, self._end = np.zeros((2, count))

    def __call__(
        self, i: int, q: Array, v: Array, reference: Reference, effort: Array, alive: Array
    ) -> None:
        """Look at the state of period i."""
        size = self._count
        distance = np.abs(q[-size:] - q[-2 * size : -size]).max(axis=1)
        np.fmax(self._most, distance, out=self._most)
        if i >= 0.9 * self._periods:
            np.fmax(self._end, distance, out=self._end)

    @property
    def grew(self) -> NDArray[np.bool_]:
        """Whether a small difference has grown (N,)."""
        return (self._most > _LOST) | (self._end > _NUDGE)
