"""Time of an iteration of optimal control, and the same optimum by crocoddyl's FDDP.

    python3 -m venv /tmp/crocoddyl && /tmp/crocoddyl/bin/pip install crocoddyl==3.2.1 pin==4.0.0
    ./ws python benchmarks/mpc.py --peer /tmp/crocoddyl/bin/python

The UR5e moves to a goal: 20 nodes of 10 ms, costs of state and torque, no limits, so that both
solve the same problem. crocoddyl is in a virtual environment of its own, whose Python runs
`crocoddyl_side.py`. An iteration is one linearisation and one Riccati recursion, on one core.
Below it: one period of the law `mpc`, and its parts, on a sinusoid beyond the arm's limits.
"""

import argparse
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
from conditions import print_conditions

from arm_controllers import optimal_control as core
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.loop import Loop
from arm_sim.robot import Robot

SIDE = Path(__file__).with_name('crocoddyl_side.py')
NODES, DT, REPETITIONS = 20, 0.01, 200
STATE, TORQUE, FINAL = (10.0, 1.0), 1e-3, (1000.0, 10.0)
GOAL = 0.3  # from the start, every joint [rad]


def case() -> dict[str, Any]:
    """Return the problem."""
    text = find_urdf('ur5e').read_text()
    q = np.array([0.3, -1.2, 1.5, -1.0, -1.4, 0.2])
    v = np.array([0.2, -0.1, 0.3, 0.0, -0.2, 0.1])
    return {
        'urdf': text, 'q': q.tolist(), 'v': v.tolist(), 'goal': (q + GOAL).tolist(), 'dt': DT,
        'nodes': NODES, 'state': STATE, 'torque': TORQUE, 'final': FINAL,
        'repetitions': REPETITIONS,
    }  # fmt: skip


def ours(given: dict[str, Any]) -> dict[str, Any]:
    """Return accelerations (N, n) of the optimum, iterations, and their median time [us]."""
    zeros = np.zeros(6)
    model = BatchModel(RobotModel(given['urdf']).with_joints(zeros, zeros, zeros))
    n, ones = model.nv, np.ones(NODES)
    # As crocoddyl's Euler step: q+ = q + dt v+, with the torque at the start of the step.
    grid = core.Grid(ones, DT * ones, DT**2 * ones)
    start_of_step = grid._replace(t=np.zeros(NODES))
    running = np.repeat([[*STATE, 0.0, TORQUE]], n, axis=0).T[np.newaxis]
    final = np.repeat([[FINAL[0], 0.0, FINAL[1]]], n, axis=0).T[np.newaxis]
    cost, free = core.Cost(running, final), np.full((3, n), np.inf)
    target = np.zeros((1, 3, NODES + 1, n))
    target[:, 0] = given['goal']
    offset, multipliers = np.zeros((1, 1, n)), np.zeros((1, 3, NODES, n))
    motion, times = np.zeros_like(target), []
    motion[:, 0, 0], motion[:, 1, 0] = given['q'], given['v']
    core.follow(grid.t, grid.s, motion)
    for iteration in range(REPETITIONS):
        before, start = motion.copy(), time.perf_counter()
        torque, slopes = core.linearised(model, motion, offset, start_of_step)
        core.solve(grid, cost, core.Limits(-free, free), target, motion, torque, slopes,
                   multipliers, 1)  # fmt: skip
        times.append(time.perf_counter() - start)
        if np.abs(motion - before).max() > 1e-10:
            needed = iteration + 1
    return {'a': motion[0, 2, :-1], 'iterations': needed, 'us': 1e6 * float(np.median(times[1:]))}


class Timed:
    """A law that notes the times of its calls [s]."""

    def __init__(self, law: Any):
        self._law, self.times = law, list[float]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._law, name)

    def __call__(self, *arguments: Any) -> Any:
        """Return what the law does."""
        start = time.perf_counter()
        answer = self._law(*arguments)
        self.times.append(time.perf_counter() - start)
        return answer


def law_times(period: float, frequency: float) -> np.ndarray:
    """Return the times [us] of the law's periods along a sinusoid that the arm cannot follow."""
    experiment = Experiment('ur5e', 'sinusoid', 'mpc', timestep=period)
    given = {'frequency': frequency, 'cycles': 4.0, 'amplitude': (0.2,)}
    loaded = LoadedExperiment(experiment, Robot.load('ur5e'), given)
    law, task = Timed(loaded.law()), loaded.task
    Loop(loaded.plants()[0], law, task.reference).run(task.duration)
    return 1e6 * np.array(law.times[2:])


def main() -> None:
    """Print both, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--peer', default='', help="Python with crocoddyl; '': without it")
    peer = parser.parse_args().peer
    print_conditions()
    given = case()
    own = ours(given)
    print(f'ours: {own["us"]:.0f} us per iteration, {own["iterations"]} iterations')
    if peer:
        line = json.dumps(given)
        environment = {**os.environ, 'OMP_NUM_THREADS': '1', 'PYTHONPATH': ''}
        answer = subprocess.run(
            [peer, str(SIDE)], input=line, text=True, capture_output=True, check=True,
            env=environment,
        )  # fmt: skip
        other = json.loads(answer.stdout)
        again = ours(given)
        a = np.array(other['a'])
        difference = np.abs(own['a'] - a).max() / np.abs(a).max()
        both = 0.5 * (own['us'] + again['us'])
        print(f'crocoddyl {other["version"]}: {other["us"]:.0f} us per iteration, '
              f'{other["iterations"]} iterations')  # fmt: skip
        print(f'ratio of the times {both / other["us"]:.2f}; optimum differs by {difference:.1e}')
    for period in (0.001, 0.002):
        times = law_times(period, 2.5)
        print(f'law at {1 / period:.0f} Hz, limits active: median {np.median(times):.0f} us, '
              f'99 % {np.quantile(times, 0.99):.0f} us, largest {times.max():.0f} us')  # fmt: skip


if __name__ == '__main__':
    main()
