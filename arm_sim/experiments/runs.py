"""Experiments run in the loop, one or many, and measured."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array
from arm_sim.experiments.experiment import Experiment
from arm_sim.experiments.work import Work, own_work
from arm_sim.loop.measures import Measures, Tracking, measure_names, summarize
from arm_sim.loop.record import Record
from arm_sim.loop.report import common_rows, print_report


def record_of(experiment: Experiment) -> Record:
    """Return the record of an experiment, run in the loop."""
    return experiment.load().run()


class Result(NamedTuple):
    """An experiment that has run.

    Attributes:
        experiment: what was done.
        record: states, references and torques, period by period.
        tracking: errors of the tip and of the joints over time.
        measures: the numbers of the run.
    """

    experiment: Experiment
    record: Record
    tracking: Tracking
    measures: Measures

    def print(self) -> None:
        """Print the table of the run."""
        e, loaded = self.experiment, self.experiment.load()
        names, event = loaded.robot.model.joint_names, loaded.task.event
        report = summarize(names, self.record, self.tracking, event)
        title = f'{e.task}: {e.robot}, {e.law}, engine {e.engine}, {loaded.task.duration:g} s'
        print_report(title, ('', 'RMS', 'max', 'where'), common_rows(report), (), ())


def run(experiment: Experiment) -> Result:
    """Run an experiment in the loop and measure it."""
    loaded = experiment.load()
    record = loaded.run()
    tracking = loaded.track(record)
    return Result(experiment, record, tracking, loaded.task.measure(record, tracking))


def observe(
    experiment: Experiment, record: Callable[[Experiment], Record] = record_of
) -> tuple[Measures, Array]:
    """Return the measures of an experiment, and the error over time (2, about 500): [s], [mm].

    `record` runs the experiment: in the loop or over topics.
    """
    loaded, found = experiment.load(), record(experiment)
    tracking = loaded.track(found)
    course = np.vstack([found.t, 1e3 * tracking.error])[:, :: max(1, len(found.t) // 500)]
    return loaded.task.measure(found, tracking), course


def observe_all(
    experiments: Sequence[Experiment],
    workers: int = 1,
    progress: Callable[[int], None] = lambda done: None,
    record: Callable[[Experiment], Record] = record_of,
    work: Work | None = None,
) -> list[tuple[Measures, Array]]:
    """Return `observe` of each experiment.

    Args:
        experiments: what is to be done.
        workers: number of processes.
        progress: called with the number of experiments done.
        record: runs an experiment.
        work: where the experiments run, in place of `workers`.
    """
    found: dict[int, tuple[Measures, Array]] = {}
    identity = {'cases': [asdict(each) for each in experiments], 'over': record.__name__}
    with own_work(work, workers) as own:
        for number, answer in own.results(partial(_observed, record), experiments, identity):
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
