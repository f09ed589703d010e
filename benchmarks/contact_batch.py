"""Arms of a batch in contact: control periods per second, compared with MuJoCo alone.

    ./ws python benchmarks/contact_batch.py [--arms 1000] [--tasks press] [--periods 100]

UR5e with the probe under hybrid_force_motion. Each arm has a surface of its own: stiffness and
friction are drawn, for `press` tilt too. The batch runs until the tools press; then are measured
  batch  the loop of all arms: law, sensors, physics
  floor  the same integration steps of the same arms: MuJoCo's batch alone, with the last controls
All on one thread; the rate is that by CPU time, of one core.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from conditions import print_conditions

from arm_dynamics.compiled import BatchModel
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.loop import Loop
from arm_sim.loop.mujoco_batch import MujocoBatch

BEGIN = {'press': 1.2, 'wipe': 2.5}  # the tools press from then on [s]
STIFFNESS, FRICTION, TILT = (1e4, 1e5), (0.0, 0.5), (-10.0, 10.0)  # [N/m], [1], [deg]


def loop_of(task: str, arms: int) -> Loop:
    """Return the loop of drawn arms."""
    first = Experiment.of_files('ur5e gripper:=probe', task, 'hybrid_force_motion').load()
    rng, each = np.random.default_rng(0), []
    for _ in range(arms):
        surface = {
            'surface_stiffness': float(np.exp(rng.uniform(*np.log(STIFFNESS)))),
            'surface_friction': float(rng.uniform(*FRICTION)),
        }
        if task == 'press':
            surface['surface_tilt'] = float(rng.uniform(*TILT))
        each.append(LoadedExperiment(first.experiment, first.robot, surface).plant_parameters())
    model = first.robot.model
    plant = MujocoBatch([model] * arms, each)
    return Loop(plant, first.batch_law(BatchModel(model)), first.task.reference)


def timed(run: Callable[[], None], count: int) -> float:
    """Return how many of `count` periods a second of CPU time does."""
    begin = time.process_time()
    run()
    return count / (time.process_time() - begin)


def main() -> None:
    """Measure all rows and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--arms', type=int, default=1000)
    parser.add_argument('--tasks', nargs='+', choices=BEGIN, default=list(BEGIN))
    parser.add_argument('--periods', type=int, default=100)
    parser.add_argument('--rounds', type=int, default=3)
    given = parser.parse_args()
    print_conditions()
    print(f'{"":10}{"batch":>10}{"floor":>10}{"share":>8}   periods/s of one core')
    for task in given.tasks:
        loop = loop_of(task, given.arms)
        loop.run(BEGIN[task])
        plant, facts = loop.plant, loop.plant.contacts.facts()
        count, rates = given.arms * given.periods, []

        def alone(plant: MujocoBatch = plant) -> None:
            for _ in range(given.periods):
                plant._batch.step(nstep=plant._steps)

        for _ in range(given.rounds):
            own = timed(lambda loop=loop: loop.run(given.periods * loop.period), count)
            rates.append((own, timed(alone, count)))
        batch, floor = np.median(rates, axis=0)
        touching = (facts[:, 1] > 0.0).mean()
        shown = f'{touching:.0%} touch, {np.nanmedian(facts[:, 1]):.3g} N'
        print(f'{task:10}{batch:10.0f}{floor:10.0f}{batch / floor:8.2f}   {shown}')


if __name__ == '__main__':
    main()
