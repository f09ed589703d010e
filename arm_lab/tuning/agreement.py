"""Whether margins predict which drawn arms are unstable: the same arms, run."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import with_error
from arm_dynamics.parameters import with_values
from arm_lab.experiments.drawn_arms import run_batch, tabulated
from arm_lab.experiments.experiment import Experiment
from arm_lab.tuning.candidates import SHAKING
from arm_lab.tuning.margins import course_of
from arm_sim.devices import SensorParameters
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.loop import Step

_NUDGE = 1e-6  # by which two runs of an arm differ at the start [rad | m]
_LOST = 1e-4  # a small error that has come to this has grown [rad | m]


class Agreement(NamedTuple):
    """What was predicted and what came, of N arms.

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


def agreement_of(experiment: Experiment, samples: int) -> Agreement:
    """Draw arms as the Monte Carlo does, with a delay up to the loop's; predict, and run them.

    Each arm runs once with noise, for its tracking error, and twice without, once nudged by 1e-6
    rad: it is unstable if these two part, to 1e-4 rad at some time or to more than the nudge at
    the end, or if they shake as `tune` has it. What noise alone shakes is stable: a law that it
    drives to the torque limits in every other period is no longer the loop that was predicted.
    """
    delay = experiment.drives.command_delay
    drives = replace(experiment.drives, command_delay=0)
    sensors = with_values(experiment.sensors, position_noise=0.0, velocity_noise=0.0)
    loaded = replace(experiment, drives=drives, sensors=sensors).load()
    robot, task = loaded.robot, loaded.task
    ranges = replace(experiment.ranges, delay=delay)
    draws = [ranges.draw(robot.model, experiment.seed, i) for i in range(samples)]
    quiet = [draw._replace(sensors=SensorParameters()) for draw in draws]
    arms = [with_error(robot.model, experiment.drawn(draw).error) for draw in draws]
    predicted = course_of(experiment, arms).margins([draw.delay for draw in draws])

    plant, _ = loaded.batch(draws + quiet * 2, make=BatchPlant)
    apart = _Apart(samples, round(task.duration * 1e9 / plant.parameters.period_ns))

    def nudge(plant: BatchPlant) -> BatchPlant:
        plant.q[2 * samples :] += _NUDGE
        return plant

    law, follow = loaded.batch_law(BatchModel(robot.model)), tabulated(task.reference)
    run = run_batch(task, law, plant, [(0.0, nudge)], [apart], follow)
    alive, found = run.alive, run.measures
    limit = robot.model.effort_limit
    scale = np.sqrt(np.mean(np.where(np.isfinite(limit), limit, 0.0) ** 2)) or 1.0
    first = slice(samples, 2 * samples)
    shakes = ~alive[first] | ~(found['chatter_nm'][first] / scale < SHAKING)
    rms = np.nan_to_num(found['tracking_rms_mm'][:samples], nan=np.inf)
    return Agreement(predicted, shakes | apart.grew, rms)


class _Apart:
    """An observer of a loop: how far the last `count` arms are from as many before them."""

    def __init__(self, count: int, periods: int):
        self._count, self._periods = count, periods
        self._most, self._end = np.zeros((2, count))

    def __call__(self, step: Step) -> None:
        """Compare the states of a period."""
        size, q = self._count, step.q
        distance = np.abs(q[-size:] - q[-2 * size : -size]).max(axis=1)
        np.fmax(self._most, distance, out=self._most)
        if step.number >= 0.9 * self._periods:
            np.fmax(self._end, distance, out=self._end)

    @property
    def grew(self) -> NDArray[np.bool_]:
        """Whether a small difference has grown (N,)."""
        return (self._most > _LOST) | (self._end > _NUDGE)
