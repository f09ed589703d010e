"""Errors of laws on three plants; the last one is outside the package.

    ./ws python benchmarks/foreign_plant.py

UR5e, 500 Hz, exact model, laws designed for 20 rad/s, RMS error of the tip [mm]. `one step`: the
package's MuJoCo plant takes one step of implicitfast per period. `continuous`: its default plant.
`foreign`: SciPy's DOP853 over Pinocchio (benchmarks/foreign_arm.py), a command is held for a
period. Only the law and the reference are the package's there. On the fast sinusoid (0.2 rad,
2.75 Hz) a torque is at its limit in two thirds of the periods and more.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any

import numpy as np
from conditions import print_conditions
from foreign_arm import Array, ForeignArm

from arm_controllers.measurement import Measurement
from arm_controllers.reference import SampledReference
from arm_dynamics.model_error import with_error
from arm_dynamics.robots import find_urdf
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.measures import track
from arm_sim.robot import Robot

PERIOD = 0.002
SHARP = 1e-4  # below this speed the Coulomb friction of the foreign arm fades [rad/s]
LAWS = (
    'servo:discrete', 'servo:observed', 'servo:inverse_dynamics', 'computed_torque',
    'momentum_observer', 'adaptive_computed_torque', 'joint_impedance', 'operational_space',
    'pd_feedforward', 'mpc',
)  # fmt: skip
FAST = 'fast sinusoid'
TASKS: dict[str, dict[str, Any]] = {
    'cube': {},
    'sinusoid': {'cycles': 2.0},
    FAST: {'cycles': 2.0, 'amplitude': (0.2,), 'frequency': 2.75},
}


def experiment(law: str, task: str, integrator: str = '') -> LoadedExperiment:
    """Return a law on a task."""
    one = Experiment('ur5e', task.split()[-1], law, timestep=PERIOD, integrator=integrator)
    return LoadedExperiment(one, Robot.load('ur5e'), TASKS[task])


def foreign_arm(loaded: LoadedExperiment) -> ForeignArm:
    """Return the arm of an experiment with its drives, outside the package; masses are exact."""
    robot, plant = loaded.robot, loaded.plant_parameters()
    true = with_error(robot.model, loaded.experiment.error)
    servo = plant.actuator == 'servo'
    kp, kd = (np.asarray(x) for x in plant.servo_gains(robot.model)) if servo else (0.0, 0.0)
    most = robot.model.effort_limit

    def torque(command: Array, q: Array, v: Array) -> Array:
        wanted = kp * (command - q) - kd * v if servo else command
        dry = true.friction * np.tanh(v / SHARP)
        return np.clip(wanted, -most, most) - true.damping * v - dry

    return ForeignArm(find_urdf('ur5e').read_text(), true.armature, torque)


def error_on_foreign(loaded: LoadedExperiment) -> float:
    """Return the RMS error of the tip [mm] on the foreign arm."""
    arm, law, task = foreign_arm(loaded), loaded.law(), loaded.task
    sampled = SampledReference(task.reference, len(arm.q), round(PERIOD * 1e9))
    first = sampled.at(0)
    arm.q, arm.v = first.q.copy(), first.v.copy()
    frame, errors, state = loaded.robot.model.tip_frame, [], None
    for k in range(round(task.duration / PERIOD)):
        reference = sampled.at(k * round(PERIOD * 1e9))
        errors.append(arm.tip(arm.q, frame) - arm.tip(reference.q, frame))
        measured = Measurement(arm.q.copy(), arm.v.copy())
        if state is None:
            state = law.start(measured, reference)
        command, state = law(state, measured, reference, PERIOD)
        arm.move(np.array(command), PERIOD)
    return float(1e3 * np.sqrt(np.mean(np.square(errors).sum(1))))


def error(law: str, task: str, plant: str) -> float:
    """Return the RMS error of the tip [mm]."""
    if plant == 'foreign':
        return error_on_foreign(experiment(law, task))
    loaded = experiment(law, task, 'implicitfast' if plant == 'one step' else '')
    return float(1e3 * np.sqrt(np.mean(track(loaded.robot.model, loaded.run()).error ** 2)))


def main() -> int:
    """Run the laws and print their table; 1: a law is worse on the foreign plant."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--laws', nargs='+', default=LAWS)
    laws = parser.parse_args().laws
    print_conditions()
    plants = ('one step', 'continuous', 'foreign')
    with ProcessPoolExecutor() as pool:
        jobs = {key: pool.submit(error, *key) for key in product(laws, TASKS, plants)}
        print('\n| law | ' + ' | '.join(f'{t}, {p}' for t, p in product(TASKS, plants)) + ' |')
        print('| --- |' + ' ---: |' * (len(TASKS) * len(plants)))
        worse = 0
        for law in laws:
            found = [jobs[law, task, plant].result() for task, plant in product(TASKS, plants)]
            ours, theirs = np.array(found[1::3]), np.array(found[2::3])
            worse += int((theirs > 1.05 * ours + 1e-6).any())
            print(f'| {law} | ' + ' | '.join(f'{x:.3g}' for x in found) + ' |', flush=True)
    return int(worse > 0)


if __name__ == '__main__':
    sys.exit(main())
