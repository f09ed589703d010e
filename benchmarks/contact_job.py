"""Control periods per second of tasks in contact, compared with MuJoCo alone.

    ./ws python benchmarks/contact_job.py [--tasks press] [--where loop floor] [--json FILE]

Each row runs a whole task with the robot's files:
  loop      in one process without ROS: law, sensors, physics, record
  floor     the same physics with the same integration steps: MuJoCo alone replays the controls of
            that loop, and must end in the same state
  topics    by `task.launch.py`, in separate processes
  composed  the same with `composed:=true`
Rows are measured in turn, several rounds, and the median counts. Over topics the rate is that of
the task's report, and the CPU time that of all processes from 0 % to 100 % of the task, for each
period. States and torques must have one checksum everywhere, but for wipe over topics: the points
of its goal are not at control instants.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
import psutil
from conditions import (
    Row,
    in_turn,
    medians,
    own_domain,
    print_conditions,
    rounds_parser,
    write_json,
)
from main_job import cpu_times

from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.record import RECORD, Record


class Job(NamedTuple):
    """A task with its tool and its law."""

    tool: str
    law: str


JOBS = {
    'press': Job('probe', 'hybrid_force_motion'),
    'wipe': Job('probe', 'hybrid_force_motion'),
    'peg_in_hole': Job('peg', 'cartesian_impedance'),
    'open_door': Job('fork', 'cartesian_impedance'),
    'pick_and_place': Job('parallel', 'computed_torque'),
}
WHERE = 'loop', 'floor', 'topics', 'composed'


def checksum(record: Record) -> str:
    """Return the checksum of states and torques; over topics objects come at a lower rate."""
    return replace(record, objects=np.empty((0, 0, 7))).checksum()


class Bare:
    """A task in this process: its law and plant, and the controls that MuJoCo had in a run."""

    def __init__(self, task: str):
        """Run the task once; what is compiled is compiled then."""
        tool, law = JOBS[task]
        loaded = Experiment.of_files(f'ur5e gripper:={tool}', task, law).load()
        self._run = partial(loaded.task.run, loaded.law(), *loaded.plants()[:1])
        plant: Any = self._run.args[1]
        self._model, self._data, self._act = plant.mj_model, plant.mj_data, plant.act
        self._controls: list[Any] = []
        plant.act = self._kept
        self.checksum = checksum(self._run())
        del plant.act
        self._end = self._data.qpos.copy()
        self._steps = round(plant.parameters.period / plant.integration_step)
        step_us = round(plant.integration_step * 1e6)
        print(f'{task}, {law}: {self._steps} integration steps of {step_us} us in each period')

    def _kept(self, command: Any) -> None:
        if not self._controls:
            state = mujoco.mjtState.mjSTATE_INTEGRATION
            self._start = np.empty(mujoco.mj_stateSize(self._model, state))
            mujoco.mj_getState(self._model, self._data, self._start, state)
        self._act(command)
        self._controls.append(self._data.ctrl.copy())

    def loop(self) -> int:
        """Run the loop; return its number of periods."""
        record = self._run()
        assert checksum(record) == self.checksum
        return len(record.t)

    def floor(self) -> int:
        """Let MuJoCo replay the controls; return the number of periods."""
        model, data = self._model, self._data
        mujoco.mj_setState(model, data, self._start, mujoco.mjtState.mjSTATE_INTEGRATION)
        for control in self._controls:
            data.ctrl[:] = control
            mujoco.mj_step(model, data, self._steps)
        assert np.array_equal(data.qpos, self._end)
        return len(self._controls)


def timed(run: Callable[[], int], seconds: float) -> Row:
    """Return the rate of whole runs [periods/s], and the CPU time per period [us]."""
    count, begin, used = 0, time.monotonic(), time.process_time()
    while time.monotonic() < begin + seconds:
        count += run()
    cpu_us = 1e6 * (time.process_time() - used) / count
    return {'rate': count / (time.monotonic() - begin), 'cpu_us': cpu_us}


def launched(task: str, composed: bool, expected: str, seconds: float) -> Row:
    """Return rate and CPU time per period of a task by its launch; `expected`: its checksum."""
    del seconds  # a task lasts as long as it lasts
    tool, law = JOBS[task]
    values = {'task': task, 'gripper': tool, 'controller': law, 'composed': str(composed).lower()}
    with tempfile.TemporaryDirectory() as folder:
        words = [f'{name}:={value}' for name, value in values.items()]
        command = ['ros2', 'launch', 'arm_sim', 'task.launch.py', *words, f'output_dir:={folder}']
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        launch, used = psutil.Process(process.pid), []
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(f'{task}: ') and ('  0%' in line or '100%' in line):
                used.append(cpu_times(launch))
        if process.wait() != 0 or len(used) < 2:
            raise SystemExit(f'{" ".join(command)} ended with exit code {process.returncode}')
        report = json.loads((Path(folder) / 'report.json').read_text())
        record = Record.load(Path(folder) / RECORD)
    same = checksum(record) == expected
    assert same or task == 'wipe', f'{task}: the record is not that of the loop'
    of_each = {
        f'cpu_us {name}': 1e6 * (used[-1][name] - used[0].get(name, 0.0)) / report['steps']
        for name in used[-1]
    }
    return {'rate': report['cycles_per_second'], 'cpu_us': sum(of_each.values()), **of_each}


def print_table(middle: dict[str, Row]) -> None:
    """Print the rates, and of what they are which share."""
    print(f'\n{"":24s}{"periods/s":>10s}{"CPU us":>8s}   share of')
    for row, own in middle.items():
        task, _, where = row.partition(' ')
        others = {'loop': 'floor', 'topics': 'loop', 'composed': 'loop'}
        other = middle.get(f'{task} {others.get(where, "")}')
        share = f'{own["rate"] / other["rate"]:.2f} {others[where]}' if other else ''
        each = ', '.join(f'{name[7:]} {us:.0f}' for name, us in own.items() if ' ' in name)
        print(f'{row:24s}{own["rate"]:10.0f}{own["cpu_us"]:8.0f}   {share:12s}{each}')


def main() -> None:
    """Measure all rows and print the table."""
    parser = rounds_parser(__doc__, 3.0)
    parser.add_argument('--tasks', nargs='+', choices=JOBS, default=list(JOBS))
    parser.add_argument('--where', nargs='+', choices=WHERE, default=WHERE[:3])
    options = parser.parse_args()
    own_domain()
    print_conditions()
    os.environ['PYTHONUNBUFFERED'] = '1'
    measures: dict[str, Callable[[float], Row]] = {}
    for task in options.tasks:
        bare = Bare(task)
        of_place = {
            'loop': partial(timed, bare.loop),
            'floor': partial(timed, bare.floor),
            'topics': partial(launched, task, False, bare.checksum),
            'composed': partial(launched, task, True, bare.checksum),
        }
        measures |= {f'{task} {where}': of_place[where] for where in options.where}
    found = in_turn(measures, options.seconds, options.rounds)
    print_table(medians(found))
    write_json(options.json, found)


if __name__ == '__main__':
    main()
