"""What benchmarks of drawn tasks share: the cases, a line of progress, a table, one checksum."""

import argparse
import os
from collections.abc import Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path

import numpy as np
from conditions import print_conditions
from scipy.stats import binomtest

from arm_lab.experiments.executors import completed, executor
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.progress import new_console, progress
from arm_sim.loop.measures import track
from arm_sim.tasks import Run

Rows = Sequence[tuple[str, str]]  # names of numbers of the report, with their headings


@cache
def first_case(robot: str, task: str, law: str) -> LoadedExperiment:
    """Return the task with its first case."""
    return Experiment.of_files(robot, task, law).load()


def result(robot: str, task: str, law: str, rows: Rows, number: int) -> np.ndarray:
    """Return success, the numbers of the rows, and the record's SHA-256 (32,) of a drawn case."""
    first = first_case(robot, task, law)
    loaded = LoadedExperiment(first.experiment, first.robot, {'number': number})
    record = loaded.run()
    found = loaded.task.report.results(Run(record, track(loaded.robot.model, record)))
    digest = list(bytes.fromhex(record.checksum()))
    numbers = (np.nan if found[name] is None else found[name] for name, _ in rows)
    return np.array([found['success'], *numbers, *digest], dtype=float)


def interval(good: int, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a success rate."""
    return tuple(binomtest(good, count).proportion_ci(method='wilson'))


def study(
    text: str, task: str, rows: Rows, words: tuple[str, str], robot: str, law: str,
    least: float = 1.0,
) -> int:  # fmt: skip
    """Run the cases of a command line, and print the table.

    Args:
        text: docstring of the benchmark.
        task, robot, law: by name; the last two are options.
        rows: of the table.
        words: what is counted, also an option, and what a success is, for example 'blocks' and
            'at their place'.
        least: share of successes for exit code 0.
    """
    what, succeeded = words
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument(f'--{what}', type=int, default=1000, dest='count')
    parser.add_argument('--workers', type=int, default=1)
    parser.add_argument('--robot', default=robot)
    parser.add_argument('--law', default=law)
    parser.add_argument('--keep', type=Path, help='file of finished cases, to go on after a stop')
    given = parser.parse_args()
    print_conditions()
    answers, numbers = {}, range(given.count)
    if given.keep and given.keep.exists() and given.keep.stat().st_size:
        kept = np.loadtxt(given.keep, ndmin=2)
        answers = {int(row[0]): row[1:] for row in kept if row[0] < given.count}
    left = [number for number in numbers if number not in answers]
    good = sum(answer[0] > 0.0 for answer in answers.values())
    job = partial(result, given.robot, task, given.law, rows)
    with (
        executor(given.workers) as pool,
        progress(what, given.count, new_console(stderr=True)) as show,
        open(given.keep or os.devnull, 'a', encoding='utf-8') as kept_file,
    ):
        for place, answer in completed(pool, job, left):
            number = left[place]
            answers[number] = answer
            print(number, *answer.tolist(), file=kept_file, flush=True)
            good += answer[0] > 0.0
            show(len(answers), f'{good} {succeeded}')
    table = np.array([answers[number] for number in numbers])
    success = table[:, 0] > 0.0
    print(f'{"":32}{"mean":>12}{"95 %":>12}{"largest":>12}')
    for (_, heading), column in zip(rows, table[:, 1:].T, strict=False):
        shown = (np.nanmean(column), np.nanpercentile(column, 95), np.nanmax(column))
        print(f'{heading:32}' + ''.join(f'{x:12.5g}' for x in shown))
    for number in np.flatnonzero(~success)[:10]:
        print(f'{what}: number {number} is not {succeeded}')
    digest = sha256(table[:, -32:].astype(np.uint8).tobytes()).hexdigest()
    low, high = interval(int(success.sum()), given.count)
    rate = f'{success.mean():.2%}, 95 % interval {low:.2%} to {high:.2%}'
    print(f'{success.sum()} of {given.count} {what} {succeeded} ({rate})')
    print(f'SHA-256 of all records: {digest[:16]}...')
    return 0 if success.mean() >= least else 1
