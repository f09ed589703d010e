"""How well an arm with every inertial 30 % off is found, and what its controller gains.

    ./ws python benchmarks/identification.py [ur5e planar_3r five_joint_arm panda.urdf ...]

The model is the robot's; the plant's links have masses and inertias 30 % more or less, by chance,
and rotors and friction that the model does not know. 60 s of an exciting motion under computed
torque with the wrong model give noisy positions and torques; a second motion is predicted.
"""

import argparse
import sys
import time
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
from conditions import print_conditions

from arm_controllers.known_friction import FRICTION_VELOCITIES
from arm_controllers.laws import Law
from arm_controllers.reference import Reference, ReferenceFunction
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.motors import DCMotors
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.identification.estimation import IdentificationParameters, identify
from arm_lab.identification.excitation import ExcitationParameters, plan
from arm_lab.identification.fourier import FourierSeries
from arm_lab.identification.identified_arm import with_parameters
from arm_lab.identification.motor_constants import motor_constants
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.signals import MotionSamples
from arm_lab.identification.torque_scale import Carrying, TorqueScales, torque_scales
from arm_sim.devices import SensorParameters
from arm_sim.engines.analytical import AnalyticalParameters, AnalyticalPlant
from arm_sim.loop.measures import rms, track
from arm_sim.loop.record import Record
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, PlantParameters, plant_class
from arm_sim.tasks import make_task

NOISE = SensorParameters(position_noise=1e-5, velocity_noise=1e-3, sensor_seed=11)
PARAMETERS = PlantParameters(actuator='torque', timestep=2e-3)
TORQUE_NOISE = 0.01  # standard deviation, as a share of a joint's RMS torque


def other_arm(model: RobotModel, seed: int, coulomb: float = 0.1) -> RobotModel:
    """Return an arm that its model does not know: inertials, rotors and friction differ."""
    rng = np.random.default_rng(seed)
    tree, frames = ElementTree.fromstring(model.urdf), model.pin_model.frames
    names = [
        link.get('name', '') for link in tree.iterfind('link') if link.find('inertial') is not None
    ]
    links = sum(frames[model.frame_id(name)].parentJoint > 0 for name in names)
    q = [model.random_configuration(rng) for _ in range(30)]
    inertia = np.mean([np.diagonal(model.mass_matrix(each)) for each in q], axis=0)
    v, a = rng.uniform(-1.5, 1.5, (2, 30, model.nv))
    usual = rms(np.array([model.inverse_dynamics(*s) for s in zip(q, v, a, strict=True)]))

    def scales() -> tuple[float, ...]:
        return tuple(1.0 + 0.3 * rng.choice([-1.0, 1.0], links))

    def some(values) -> tuple[float, ...]:
        return tuple((values * rng.uniform(0.5, 1.0, model.nv)).tolist())

    return with_error(
        model,
        ModelError(
            mass_scale=scales(),
            inertia_scale=scales(),
            armature=some(0.2 * inertia),
            friction=some(coulomb * usual),
            damping=some(0.05 * usual),
        ),
    )


def driven(
    robot: Robot,
    plant: RobotModel,
    motion: FourierSeries,
    seconds: float,
    noise: SensorParameters = NOISE,
    engine: str = 'mujoco',
) -> Record:
    """Return the record of a motion under computed torque with the robot's model."""
    arm = plant_class(engine)(plant, replace(PARAMETERS, **vars(noise)))
    return run_closed_loop(arm, computed_torque(robot), following(motion), seconds)


def computed_torque(robot: Robot, friction: str = 'measured') -> Law:
    """Return computed torque as it is designed for a robot."""
    task = Experiment(robot.name, 'sinusoid', 'computed_torque', friction_velocity=friction)
    return LoadedExperiment(task, robot).law()


def following(motion: FourierSeries) -> ReferenceFunction:
    """Return the motion as a reference."""

    def follow(t: float, reference: Reference) -> None:
        reference.row[:] = 0.0
        reference.q[:], reference.v[:], reference.a[:] = (x[0] for x in motion.states([t]))

    return follow


def measured(record: Record, noise: SensorParameters = NOISE) -> MotionSamples:
    """Return what sensors say: positions as the law had them, torques of the period before."""
    steps, n = record.q.shape
    scale = np.array([[noise.position_noise], [noise.velocity_noise]])
    positions = (scale * np.random.default_rng(noise.sensor_seed).standard_normal((steps, 2, n)))[
        :, 0
    ]
    rng = np.random.default_rng(noise.sensor_seed + 1)
    effort = record.effort + TORQUE_NOISE * rms(record.effort) * rng.standard_normal((steps, n))
    return MotionSamples(record.t[1:], (record.q + positions)[1:], effort[:-1])


class Turning(Law):
    """V = Ke (v_r + rate (q_r - q)), by the constants in the robot's file: no model is needed."""

    command_interface = 'voltage'

    def __init__(self, robot: Robot, rate: float = 20.0):
        self.model, self.sent, self._rate = robot.model, [], rate
        self._ke = np.array(robot.parameters()['torque_constant'])

    def __call__(self, state, measured, reference: Reference, dt: float) -> tuple:
        """Return the voltages, and keep them."""
        self.sent.append(self._ke * (reference.v + self._rate * (reference.q - measured.q)))
        return self.sent[-1], state


def driven_by_voltages(
    robot: Robot, plant: RobotModel, motors: DCMotors, motion: FourierSeries, seconds: float
) -> tuple[MotionSamples, np.ndarray]:
    """Return what sensors say of a motion by unknown motors, and the voltages."""
    numbers = {'actuator': 'voltage', 'timestep': 1e-3, 'effort_limits': False}
    arm = AnalyticalPlant(plant, AnalyticalParameters(**numbers, **vars(motors), **vars(NOISE)))
    law = Turning(robot)
    record = run_closed_loop(arm, law, following(motion), seconds)
    return measured(record), np.array(law.sent)[:-1]


def scales_found(robot: Robot, plant: RobotModel, motion: FourierSeries, seconds: float,
                 scale: np.ndarray, mass: float,
                 ) -> tuple[MotionSamples, TorqueScales]:  # fmt: skip
    """Return a bare recording whose torques are off, and the scales that it and a load show."""
    regressor, recordings = JointRegressor(robot.model), []
    for payload in (0.0, mass):
        arm = with_error(plant, ModelError(payload=payload))
        seen = measured(driven(robot, arm, motion, seconds))
        off = MotionSamples(seen.times, seen.q, seen.effort * scale)
        recordings.append(Carrying(off, payload))
    known = IdentificationParameters()
    return recordings[0].samples, torque_scales(regressor, recordings, known)


def torque_error(model: RobotModel, plant: RobotModel, motion: FourierSeries) -> np.ndarray:
    """Return RMS of the torque that a model gets wrong on a motion, over the torque's RMS (n,)."""
    states = list(zip(*motion.states(np.linspace(0.0, motion.period, 2001)), strict=True))
    told, true = (np.array([m.inverse_dynamics(*s) for s in states]) for m in (model, plant))
    return rms(told - true) / rms(true)


def cube_error(
    robot: Robot, plant: RobotModel, engine: str = 'mujoco', friction: str = 'measured'
) -> float:
    """Return the tracking error RMS [mm] of the cube under computed torque."""
    arm = plant_class(engine)(plant, PARAMETERS)
    record = make_task('cube', robot).run(computed_torque(robot, friction), arm)
    return float(rms(track(robot.model, record).error) * 1e3)


def study(name: str, engine: str, coulomb: float, seed: int, evaluations: int = 500) -> None:
    """Print what is found of one arm."""
    robot = Robot.load(name)
    plant = other_arm(robot.model, seed, coulomb)
    first = plan(robot.model, ExcitationParameters(evaluations=evaluations, seed=seed))
    asked = ExcitationParameters(evaluations=50, harmonics=7, period=7.0, seed=seed + 1)
    unseen = plan(robot.model, asked).motion
    samples = measured(driven(robot, plant, first.motion, 60.0, engine=engine))
    begin, cpu = time.perf_counter(), time.process_time()
    found = identify(JointRegressor(robot.model), samples, IdentificationParameters())
    took = time.perf_counter() - begin, time.process_time() - cpu
    better = with_parameters(found.regressor, found.pi)
    errors = [torque_error(model, plant, unseen) for model in (robot.model, better)]
    print(
        f'{robot.name}, seed {seed}: condition {first.condition:.3g}, {len(samples.times)} states'
    )
    print(f'  identified in {took[0]:.1f} s, {took[1]:.1f} s of CPU; lag {found.lag * 1e3:.3f} ms')
    for told, error in zip(('as given', 'identified'), errors, strict=True):
        print(f'  torque on an unseen path, {told}: {", ".join(f"{e:.2%}" for e in error)}')
    models = {'wrong': robot.model, 'identified': better, 'exact': plant}
    tracked = {}
    for told, model in models.items():
        arm = replace(robot, model=model)
        record = driven(arm, plant, unseen, unseen.period, SensorParameters(), engine)
        tracked[told] = float(rms(record.q - record.q_reference).max())
    print('  joint error on it [mrad RMS]:', {k: round(1e3 * x, 4) for k, x in tracked.items()})
    if name == 'ur5e':
        for friction in FRICTION_VELOCITIES if coulomb else ('measured',):
            cube = {k: cube_error(replace(robot, model=m), plant, engine, friction)
                    for k, m in models.items()}  # fmt: skip
            told = {k: round(x, 4) for k, x in cube.items()}
            print(f'  cube [mm RMS], friction by the {friction} velocity:', told)


def coverage(name: str, seed: int, runs: int, position_noise: float) -> None:
    """Print how many of the stated intervals of 95 % contain the true parameters.

    One motion of 24 s at 250 Hz, of an arm whose torques are exact, has other noise in each run.
    """
    robot = Robot.load(name)
    plant, regressor = other_arm(robot.model, seed), JointRegressor(robot.model)
    motion = plan(robot.model, ExcitationParameters(evaluations=500, seed=seed)).motion
    times, true = np.arange(0.0, 24.0, 0.004), JointRegressor(plant).parameters()
    q, v, a = motion.states(times)
    tau = np.array([plant.inverse_dynamics(*s) for s in zip(q, v, a, strict=True)])
    lags, scores = [], {'combinations': [], 'single parameters': []}
    for run in range(runs):
        rng = np.random.default_rng(run)
        noisy = tau + 2.0 * TORQUE_NOISE * rms(tau) * rng.standard_normal(tau.shape)
        samples = MotionSamples(times, q + position_noise * rng.standard_normal(q.shape), noisy)
        found = identify(regressor, samples, IdentificationParameters())
        sure = (found.share_left < 0.3) & (found.errors > 0.0)
        known = found.base_errors > 0.0
        base = (found.base_values - found.base.matrix() @ true)[known]
        scores['combinations'].append(base / found.base_errors[known])
        scores['single parameters'].append(((found.pi - true) / found.errors)[sure])
        lags.append((found.lag, found.lag_error))
    (mean, stated), spread = np.mean(lags, axis=0), np.std(lags, axis=0)[0]
    print(f'{robot.name}, {runs} runs, position noise {position_noise:g} rad:')
    print(f'  lag {1e3 * mean:.3f} ms, spread {1e3 * spread:.3f}, stated {1e3 * stated:.3f}')
    for what, each in scores.items():
        score = np.concatenate(each)
        share = (np.abs(score) < 1.96).mean()
        print(f'  {what}: error over stated {rms(score):.2f} RMS, {share:.1%} in the intervals')


def drives_study(name: str, seed: int, mass: float, seconds: float = 60.0) -> None:
    """Print what is found of torques that are 30 % off, and of motors where the arm has any."""
    robot = Robot.load(name)
    n, rng = robot.model.nv, np.random.default_rng(seed)
    plant, known = other_arm(robot.model, seed), IdentificationParameters()
    motion = plan(robot.model, ExcitationParameters(evaluations=500, seed=seed)).motion
    scale = 1.0 + 0.3 * rng.choice([-1.0, 1.0], n)
    bare, found = scales_found(robot, plant, motion, seconds, scale, mass)
    print(f'{robot.name}, seed {seed}: torques off by 30 %, payload of {mass:g} kg known')
    print(f'  found wrong by: {wrong(found.values, scale)}; shown: {found.shown.tolist()}')
    regressor = JointRegressor(robot.model)
    true = Carrying(MotionSamples(bare.times, bare.q, bare.effort / scale[0]))
    base = torque_scales(regressor, [true], known, right=0)
    told = wrong(base.values, scale / scale[0])
    print(f'  by the first joint, whose torque is right: {told}; shown: {base.shown.tolist()}')
    if robot.parameters('simulator').get('actuator') != 'voltage':
        return
    kt = np.array(robot.parameters()['torque_constant']) * scale
    ra = 1.0 + 0.3 * rng.choice([-1.0, 1.0], n)
    motors = DCMotors(torque_constant=tuple(kt), armature_resistance=tuple(ra))
    made = motor_constants(
        *driven_by_voltages(robot, plant, motors, motion, seconds), known.cutoff,
        robot.model.joint_names,
    )  # fmt: skip
    print(f'  motors, torque constant: {wrong(made.back_emf, kt)}')
    print(f'  motors, resistance: {wrong(made.resistance, ra)}')


def wrong(found: np.ndarray, true: np.ndarray) -> str:
    """Return by how much each number is wrong, in words."""
    return ', '.join(f'{x:.3%}' for x in np.abs(found / true - 1.0))


def main() -> int:
    """Study each robot that is named; with --engine analytical friction is what models have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('robots', nargs='*', default=['ur5e', 'planar_3r'])
    parser.add_argument('--engine', default='mujoco', choices=RIGID_BODY_ENGINES)
    share = 'Coulomb friction as a share of usual torques (0.1)'
    parser.add_argument('--coulomb', type=float, default=0.1, help=share)
    parser.add_argument('--seed', type=int, default=1)
    payload = 'torque scales and motors instead, with a known payload of this mass [kg]'
    parser.add_argument('--drives', type=float, default=0.0, metavar='KG', help=payload)
    told = 'standard errors instead, with this number of runs with other noise'
    parser.add_argument('--coverage', type=int, default=0, metavar='RUNS', help=told)
    options = parser.parse_args()
    print_conditions()
    for name in options.robots:
        try:
            if options.coverage:
                for noise in (NOISE.position_noise, 2e-4):
                    coverage(name, options.seed, options.coverage, noise)
                continue
            if options.drives:
                drives_study(name, options.seed, options.drives)
                continue
            study(name, options.engine, options.coulomb, options.seed)
        except ArmError as error:
            print(f'{name}: {error}', file=sys.stderr)
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
