"""Candidates for a law's gains, tried on many drawn arms as one batch."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from arm_controllers.reference import ReferenceFunction
from arm_dynamics.checks import Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import with_error
from arm_dynamics.parameters import Parameters
from arm_lab.experiments.batchable import check_tunable
from arm_lab.experiments.drawn_arms import BatchRun, run_batch, tabulated
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.ranges import Draw
from arm_sim.loop.batch_plant import batch_of
from arm_sim.loop.many_arms import ManyArms
from arm_sim.loop.mujoco_batch import MujocoBatch
from arm_sim.simulation.plant import PlantParameters

SHAKING = 0.1  # chatter over the effort limits from which an arm counts as unstable


class Drawn(NamedTuple):
    """Arms [first, first + number) of an experiment's draws, with additional periods of delay."""

    first: int
    number: int
    more_delay: int = 0


COLUMNS = ('tracking RMS [mm]', 'torque share', 'chatter share', 'unstable')


def try_gains(
    experiment: Experiment, arms: Sequence[Drawn], candidates: Sequence[Parameters]
) -> Array:
    """Return COLUMNS (candidates, arms, 4) of the arms under each of the law's parameters.

    The torque is the largest over the arm's own effort limit, the chatter the RMS change from
    period to period over the RMS of the model's. inf: the loop left the finite numbers.

    Raises:
        ArmError: a law or a task that a batch does not run.
    """
    loaded, draws, reference = _arms(experiment, tuple(arms))
    own = loaded.robot.model
    models = [with_error(own, experiment.drawn(draw).error) for draw in draws]
    count, size = len(draws), len(draws) * len(candidates)

    def run(rows: Sequence[int], make: Callable[..., ManyArms]) -> BatchRun:
        """Return what came of some of all rows, a row per candidate and arm."""
        pairs = [divmod(int(row), count) for row in rows]
        gains = [candidates[k] for k, _ in pairs]
        plant, events = loaded.batch([draws[arm] for _, arm in pairs], gains, make)
        law = loaded.batch_law(BatchModel(own), gains)
        return run_batch(loaded.task, law, plant, events, reference=reference)

    found = run(range(size), batch_of)
    columns = _columns(own, models * len(candidates), found)
    beyond = found.beyond & (columns[3] == 0.0)
    if beyond.any():  # stable so far, but at a joint's limit, which only MuJoCo has
        which = np.flatnonzero(beyond)
        found = run(which.tolist(), _in_mujoco)
        columns[:, beyond] = _columns(own, [models[row % count] for row in which], found)
    return np.moveaxis(columns.reshape(4, len(candidates), count), 0, -1)


def _in_mujoco(
    models: Sequence[RobotModel], parameters: Sequence[PlantParameters], engine: str
) -> ManyArms:
    return MujocoBatch(models, parameters)


def _columns(model: RobotModel, arms: Sequence[RobotModel], found: BatchRun) -> Array:
    """Return COLUMNS (4, N) of arms with these measures; `model` is the law's."""
    limit = np.where(np.isfinite(model.effort_limit), model.effort_limit, 0.0)
    own = np.array([limit[0] / arm.effort_limit[0] if limit[0] else 1.0 for arm in arms])
    scale = np.sqrt(np.mean(limit**2)) or 1.0
    measures, chatter = found.measures, found.measures['chatter_nm'] / scale
    share = measures['peak_torque_share'] * own
    rows = np.array([measures['tracking_rms_mm'], share, chatter])
    lost = ~found.alive | ~np.isfinite(rows).all(axis=0)
    rows[:, lost] = np.inf
    return np.vstack([rows, lost | ~(chatter < SHAKING)])


@lru_cache(4)
def _arms(
    experiment: Experiment, arms: tuple[Drawn, ...]
) -> tuple[LoadedExperiment, list[Draw], ReferenceFunction]:
    """Return the experiment with its robot, the drawn arms, and the tabulated reference."""
    loaded = experiment.load()
    model, ranges, draws = check_tunable(loaded), experiment.ranges, []
    for drawn in arms:
        for index in range(drawn.first, drawn.first + drawn.number):
            draw = ranges.draw(model, experiment.seed, index)
            delay = ranges.delay if drawn.more_delay else draw.delay
            draws.append(draw._replace(delay=delay + drawn.more_delay))
    return loaded, draws, tabulated(loaded.task.reference)
