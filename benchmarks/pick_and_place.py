"""Drawn blocks, picked up and put down: success rate, grip, slip, place, and one checksum.

    ./ws python benchmarks/pick_and_place.py --blocks 1000 --workers 2

The ranges of sides, mass, friction and pose are the parameters of the task `pick_and_place`.
"""

import argparse
from functools import cache, partial
from hashlib import sha256

import numpy as np
from conditions import print_conditions

from arm_sim.experiments.executors import completed, executor
from arm_sim.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.measures import track
from arm_sim.progress import new_console, progress
from arm_sim.tasks import Run

ROWS = (  # of the report, with the heading
    ('gripper_effort_n', 'effort of the gripper [N]'),
    ('slip_mm', 'slip in the hand [mm]'),
    ('place_error_mm', 'distance from the place [mm]'),
    ('place_turn_rad', 'turn from the place [rad]'),
)


@cache
def task_of(robot: str, law: str) -> LoadedExperiment:
    """Return the task with its first block."""
    return Experiment.of_files(robot, 'pick_and_place', law).load()


def picked(robot: str, law: str, number: int) -> np.ndarray:
    """Return success, the numbers of ROWS, and the record's SHA-256 (32,) of a drawn block."""
    first = task_of(robot, law)
    loaded = LoadedExperiment(first.experiment, first.robot, {'number': number})
    record = loaded.run()
    found = loaded.task.results(Run(record, track(loaded.robot.model, record)))
    digest = list(bytes.fromhex(record.checksum()))
    return np.array([found['success'], *(found[name] for name, _ in ROWS), *digest], dtype=float)


def main() -> int:
    """Print the table; exit code 0 if every block is at its place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--blocks', type=int, default=1000)
    parser.add_argument('--workers', type=int, default=1)
    parser.add_argument('--robot', default='ur5e gripper:=parallel')
    parser.add_argument('--law', default='computed_torque')
    given = parser.parse_args()
    print_conditions()
    answers, numbers, placed = {}, range(given.blocks), 0
    job = partial(picked, given.robot, given.law)
    with (
        executor(given.workers) as pool,
        progress(new_console(stderr=True), 'blocks', given.blocks) as show,
    ):
        for number, answer in completed(pool, job, numbers):
            answers[number] = answer
            placed += answer[0] > 0.0
            show(len(answers), f'{placed} at their place')
    table = np.array([answers[number] for number in numbers])
    success = table[:, 0] > 0.0
    print(f'{"":32}{"mean":>12}{"95 %":>12}{"largest":>12}')
    for (_, heading), column in zip(ROWS, table[:, 1:].T, strict=False):
        shown = (column.mean(), np.percentile(column, 95), column.max())
        print(f'{heading:32}' + ''.join(f'{x:12.5g}' for x in shown))
    for number in np.flatnonzero(~success)[:10]:
        print(f'block {number} is not at its place')
    digest = sha256(table[:, -32:].astype(np.uint8).tobytes()).hexdigest()
    print(f'{success.sum()} of {given.blocks} blocks at their place ({success.mean():.1%})')
    print(f'SHA-256 of all records: {digest[:16]}...')
    return 0 if success.all() else 1


if __name__ == '__main__':
    raise SystemExit(main())
