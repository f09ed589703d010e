"""Gains that `tune` found, on drawn arms outside the package: stable too, and as exact?

    ./ws ros2 run arm_sim tune --robot planar_3r --law computed_torque
    ./ws python benchmarks/foreign_tuning.py --config tuning/tune_computed_torque.yaml --arms 100

The arms are those that `tune` draws after its search: masses, friction, delay, noise, effort
limits. Each runs in the package's batch, and as SciPy's DOP853 over Pinocchio
(benchmarks/foreign_arm.py) under a held command; only law, reference and the drawn numbers are the
package's there. `apart`: largest factor between both errors of an arm. The exit code is 1 if an
arm is unstable on one plant alone.
"""

import argparse
import sys
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from conditions import print_conditions
from foreign_arm import Array, ForeignArm

from arm_controllers.measurement import Measurement
from arm_controllers.reference import SampledReference
from arm_dynamics.model_error import with_error
from arm_dynamics.robots import find_urdf
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.ranges import Draw
from arm_lab.tuning.candidates import SHAKING, Drawn, try_gains
from arm_sim.robot import Robot

SHARP = 1e-4  # below this speed the Coulomb friction of the foreign arm fades [rad/s]
FIRST = 100_000  # of the arms, behind those that the search has seen


def foreign_arm(loaded: LoadedExperiment) -> ForeignArm:
    """Return the arm of an experiment, with its masses, friction and effort limits."""
    true = with_error(loaded.robot.model, loaded.experiment.error)

    def torque(command: Array, q: Array, v: Array) -> Array:
        dry = true.friction * np.tanh(v / SHARP)
        return np.clip(command, -true.effort_limit, true.effort_limit) - true.damping * v - dry

    arm = ForeignArm(find_urdf('planar_3r').read_text(), true.armature, torque, accuracy=1e-8)
    for k, inertia in enumerate(true.pin_model.inertias):
        arm.model.inertias[k] = inertia
    return arm


def run_foreign(experiment: Experiment, draw: Draw) -> tuple[float, float]:
    """Return the RMS error of the tip [mm], and the chatter as a share of the effort limits."""
    loaded = LoadedExperiment(experiment, Robot.load(experiment.robot, experiment.config)).on(draw)
    arm, law, task = foreign_arm(loaded), loaded.law(), loaded.task
    period = loaded.plant_parameters().period_ns
    sampled = SampledReference(task.reference, len(arm.q), period)
    rng, sensors = np.random.default_rng(draw.sensors.sensor_seed), draw.sensors
    first, frame = sampled.at(0), loaded.robot.model.tip_frame
    arm.q, arm.v = first.q.copy(), first.v.copy()
    errors, steps, state, sent = [], [], None, deque[Array]()
    for k in range(round(task.duration * 1e9 / period)):
        reference = sampled.at(k * period)
        errors.append(arm.tip(arm.q, frame) - arm.tip(reference.q, frame))
        noise = rng.standard_normal((2, len(arm.q)))
        measured = Measurement(
            arm.q + sensors.position_noise * noise[0], arm.v + sensors.velocity_noise * noise[1]
        )
        if state is None:
            state = law.start(measured, reference)
        command, state = law(state, measured, reference, period / 1e9)
        sent.append(np.array(command))
        if len(sent) > draw.delay + 1:
            steps.append(sent[1] - sent[0])
            sent.popleft()
        arm.move(sent[0], period / 1e9)
        if not np.isfinite(arm.q).all() or np.abs(arm.q - reference.q).max() > np.pi:
            return np.inf, np.inf
    limit = loaded.robot.model.effort_limit
    chatter = np.sqrt(np.mean(np.square(steps))) / np.sqrt(np.mean(limit**2))
    return float(1e3 * np.sqrt(np.mean(np.square(errors).sum(1)))), float(chatter)


def main() -> int:
    """Run the arms on both plants, and print a row for each law's gains."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--law', default='computed_torque', help='one that commands torques')
    parser.add_argument('--config', default='', help='parameter file that tune wrote')
    parser.add_argument('--arms', type=int, default=100)
    given = parser.parse_args()
    print_conditions()
    print('| gains | plant | 95 % RMS [mm] | largest [mm] | chatter | unstable | apart |')
    print('| --- | --- | ---: | ---: | ---: | ---: | ---: |')
    differ = 0
    for gains, config in {'shipped': '', 'tuned': given.config}.items():
        if gains == 'tuned' and not config:
            continue
        one = Experiment.of_files('planar_3r', 'sinusoid', given.law, config=config)
        loaded = one.load()
        ours = try_gains(one, [Drawn(FIRST, given.arms)], [loaded.law_parameters])[0]
        draws = [one.ranges.draw(loaded.robot.model, 0, FIRST + k) for k in range(given.arms)]
        with ProcessPoolExecutor() as pool:
            rms, chatter = np.array(list(pool.map(partial(run_foreign, one), draws))).T
        unstable = ~(chatter < SHAKING)
        apart = np.exp(np.abs(np.log(rms / ours[:, 0])).max())
        rows = ('package', *ours[:, [0, 2, 3]].T, ''), ('foreign', rms, chatter, unstable, apart)
        for plant, errors, shakes, lost, factor in rows:
            print(
                f'| {gains} | {plant} | {np.quantile(errors, 0.95):.4g} | {errors.max():.4g} | '
                f'{np.quantile(shakes, 0.95):.2%} | {int(np.sum(lost))} | '
                f'{f"{factor:.3f}" if factor else ""} |',
                flush=True,
            )
        differ += int((unstable != ours[:, 3].astype(bool)).sum())
    return int(differ > 0)


if __name__ == '__main__':
    sys.exit(main())
