"""Closed-loop periods per second of many arms: `./ws python benchmarks/batch.py`.

UR5e at 1 kHz, N arms whose masses differ, on a sinusoid. Compared: the batch on all
cores; mujoco.rollout, one period a call, with the same law for all arms, and with a law per arm;
MuJoCo's own batch; the one-arm loop; every law, with masses drawn alone and with all drawn and
measured. Rates are per second of wall-clock time, and per second of CPU time times the cores: what
the machine would do without other processes. The best of several runs; ratios by CPU.
"""

import argparse
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import mujoco.rollout
import numpy as np
from conditions import print_conditions

from arm_controllers.laws import Law
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.experiments.compared_laws import compared_laws
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.ranges import Draw, Ranges
from arm_sim.devices import SensorParameters
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_measures import BatchMeasures
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.loop import Loop
from arm_sim.loop.mujoco_batch import MujocoBatch
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot

CORES = os.cpu_count() or 1
PERIOD = 1e-3
ROBOT = Robot.load('ur5e')


class Rate(NamedTuple):
    """Control periods per second: by the clock on the wall, and by CPU time on all cores."""

    wall: float
    cpu: float


def rate(run: Callable[[], int], repetitions: int, cores: int = CORES) -> Rate:
    """Return the best rates of a run, which returns how many periods it did."""
    run()
    found = []
    for _ in range(repetitions):
        wall, cpu = time.perf_counter(), time.process_time()
        count = run()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        found.append(Rate(count / wall, count / cpu * cores))
    return Rate(max(each.wall for each in found), max(each.cpu for each in found))


def case_of(law: str, engine: str = 'analytical') -> LoadedExperiment:
    """Return the experiment that all rows run."""
    return LoadedExperiment(Experiment('ur5e', 'sinusoid', law, engine, PERIOD), ROBOT)


def law_of_many(name: str) -> Law:
    """Return a law for many arms."""
    return case_of(name).law(BatchModel(ROBOT.model))


def batch(name: str, arms: int, duration: float, full: bool) -> Callable[[], int]:
    """Return a run of the batch, a share of the arms on each core.

    `full`: friction, delay, noise and limits differ as well, and all measures are taken.
    """
    draws = [Ranges().draw(ROBOT.model, 0, i) for i in range(arms)]
    if not full:
        draws = [masses_of(draw) for draw in draws]
    shares, case = np.array_split(np.arange(arms), CORES), case_of(name)
    loops = []
    for share in shares:
        plant, _ = case.batch([draws[arm] for arm in share], make=of_analytical)
        loops.append(Loop(plant, law_of_many(name), case.task.reference))

    def run_part(loop: Loop) -> None:
        size = loop.plant.arms[0]
        loop.reset()
        loop.run(duration, [BatchMeasures(ROBOT.model, size, PERIOD)] if full else [])

    def run() -> int:
        with ThreadPoolExecutor(len(loops)) as pool:
            list(pool.map(run_part, loops))
        return arms * round(duration / PERIOD)

    return run


def masses_of(draw: Draw) -> Draw:
    """Return a drawn arm of which only the masses differ."""
    return Draw(ModelError(mass_scale=draw.error.mass_scale), 0, SensorParameters())


def of_analytical(models, parameters, engine: str) -> BatchPlant:
    """Return the arms in compiled code; all have one object of parameters where they may."""
    alike = len(set(parameters)) == 1
    return BatchPlant(models, parameters[0] if alike else parameters, engine)


def rollout(arms: int, duration: float, law_per_arm: bool) -> Callable[[], int]:
    """Return a run of mujoco.rollout, a period a call, under computed torque."""
    draws = [Ranges().draw(ROBOT.model, 0, i).error for i in range(arms)]
    errors = [ModelError(mass_scale=error.mass_scale) for error in draws]
    case = case_of('computed_torque', 'mujoco')
    parameters, task = case.plant_parameters(), case.task
    models = [MujocoPlant(with_error(ROBOT.model, error), parameters).mj_model for error in errors]
    data = [mujoco.MjData(models[0]) for _ in range(CORES)]
    full, n = mujoco.mjtState.mjSTATE_FULLPHYSICS, ROBOT.model.nv
    size = mujoco.mj_stateSize(models[0], full)
    together, alone = law_of_many('computed_torque'), case.law()
    reference, every = Reference(n), Reference(n, (arms,))

    def run() -> int:
        task.reference(0.0, reference)
        state = np.zeros((arms, size))
        state[:, 1 : n + 1], state[:, n + 1 : 2 * n + 1] = reference.q, reference.v
        commands = np.empty((arms, 1, n))
        steps = round(duration / PERIOD)
        with mujoco.rollout.Rollout(nthread=CORES) as threads:
            for k in range(steps):
                task.reference(k * PERIOD, reference)
                q, v = state[:, 1 : n + 1], state[:, n + 1 : 2 * n + 1]
                if law_per_arm:
                    for arm in range(arms):
                        one = Measurement(q[arm], v[arm])
                        commands[arm, 0], _ = alone((), one, reference, PERIOD)
                else:
                    every.row[:] = reference.row
                    commands[:, 0], _ = together((), Measurement(q, v), every, PERIOD)
                state = threads.rollout(models, data, state, commands)[0][:, 0]
        return arms * steps

    return run


def own_batch(arms: int, duration: float) -> Callable[[], int]:
    """Return a run of MujocoBatch on all cores, under computed torque."""
    case = case_of('computed_torque', 'mujoco')
    draws = [masses_of(Ranges().draw(ROBOT.model, 0, i)) for i in range(arms)]
    models = [with_error(ROBOT.model, draw.error) for draw in draws]
    plant = MujocoBatch(models, case.plant_parameters(), CORES)
    loop = Loop(plant, law_of_many('computed_torque'), case.task.reference)

    def run() -> int:
        loop.reset()
        loop.run(duration)
        return arms * round(duration / PERIOD)

    return run


def one_arm(duration: float) -> Callable[[], int]:
    """Return a run of the one-arm loop on MuJoCo."""
    case = case_of('computed_torque', 'mujoco')
    plant, law, task = MujocoPlant(ROBOT.model, case.plant_parameters()), case.law(), case.task

    def run() -> int:
        return len(run_closed_loop(plant, law, task.reference, duration).t)

    return run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--arms', type=int, default=1000)
    parser.add_argument('--duration', type=float, default=0.3, help='simulated seconds (0.3)')
    parser.add_argument('--repetitions', type=int, default=5)
    options = parser.parse_args()
    arms, duration, repetitions = options.arms, options.duration, options.repetitions
    print_conditions()
    print(f'UR5e, 1 kHz, {arms} arms, {duration:g} s; million periods per second')
    print(f'{"":50}{"wall":>9}{"CPU x cores":>13}{"batch over it":>15}')

    def row(name: str, found: Rate, best: Rate) -> None:
        ratio = best.cpu / found.cpu
        print(
            f'{name:50}{found.wall * 1e-6:9.3f}{found.cpu * 1e-6:13.3f}{ratio:15.1f}', flush=True
        )

    best = rate(batch('computed_torque', arms, duration, False), repetitions)
    row('batch, computed torque', best, best)
    few = min(arms, 200)
    for name, run in (
        ('mujoco.rollout, the same law for all arms', rollout(arms, duration / 3, False)),
        ('mujoco.rollout, a law per arm', rollout(few, duration / 3, True)),
    ):
        row(name, rate(run, min(repetitions, 3)), best)
    row("MuJoCo's own batch (MujocoBatch)", rate(own_batch(few, duration / 3), 2), best)
    alone = rate(one_arm(1.0), repetitions, cores=1)
    row('one-arm loop (one core)', alone, best)
    for full, what in ((False, 'batch'), (True, 'all drawn and measured')):
        for law in compared_laws():
            found = rate(batch(law, arms, duration / 3, full), min(repetitions, 3))
            row(f'{what}, {law}'[:50], found, best)


if __name__ == '__main__':
    main()
