"""Experiments run in the loop, one or many, and measured."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np

from arm_dynamics.checks import Array
from arm_lab.experiments.executors import SERIAL, Work
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.measures import Measures, measure_names
from arm_sim.loop.record import Record


def record_of(experiment: Experiment) -> Record:
    """Return the record of an experiment, run in the loop."""
    return experiment.load().run()


def observe(
    experiment: Experiment, record: Callable[[Experiment], Record] = record_of
) -> tuple[Measures, Array]:
    """Return the measures of an experiment, and the error over time (2, about 500): [s], [mm].

    `record` runs the experiment: in the loop or over topics.
    """
    loaded, found = experiment.load(), record(experiment)
    tracking = loaded.track(found)
    course = np.vstack([found.t, 1e3 * tracking.error])[:, :: max(1, len(found.t) // 500)]
    return loaded.task.report.measure(found, tracking), course


def observe_all(
    experiments: Sequence[Experiment],
    progress: Callable[[int], None] = lambda done: None,
    record: Callable[[Experiment], Record] = record_of,
    work: Work = SERIAL,
) -> list[tuple[Measures, Array]]:
    """Return `observe` of each experiment.

    Args:
        experiments: what is to be done.
        progress: called with the number of experiments done.
        record: runs an experiment.
        work: where the experiments run.
    """
    found: dict[int, tuple[Measures, Array]] = {}
    identity = {'cases': [asdict(each) for each in experiments], 'over': record.__name__}
    for number, answer in work.results(partial(_observed, record), experiments, identity):
        names = measure_names()
        completed, *head = answer[: 1 + len(names)].tolist()
        measures = Measures(zip(names, head, strict=True), completed=bool(completed))
        found[number] = measures, answer[1 + len(names) :].reshape(2, -1)
        progress(len(found))
    return [found[k] for k in range(len(experiments))]


def _observed(record: Callable[[Experiment], Record], experiment: Experiment) -> Array:
    measures, course = observe(experiment, record)
    values = [measures[name] for name in measure_names()]
    return np.concatenate([[measures.completed], values, course.ravel()])
