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

from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.identification import (
    ExcitationParameters,
    FourierSeries,
    IdentificationParameters,
    JointRegressor,
    Samples,
    identify,
    plan,
    with_parameters,
)
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.comparison.laws import make_law
from arm_sim.plants.plant import RIGID_BODY_ENGINES, PlantParameters, plant_class
from arm_sim.runs.closed_loop import Imperfections, run_closed_loop
from arm_sim.runs.measures import rms, track
from arm_sim.runs.record import Record
from arm_sim.runs.robot import Robot
from arm_sim.tasks import make_task

NOISE = Imperfections(position_noise=1e-5, velocity_noise=1e-3, seed=11)
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
    noise: Imperfections | None = NOISE,
    engine: str = 'mujoco',
) -> Record:
    """Return the record of a motion under computed torque with the robot's model."""
    arm = plant_class(engine)(plant, PARAMETERS)

    def follow(t: float, reference: Reference) -> None:
        reference.row[:] = 0.0
        reference.q[:], reference.v[:], reference.a[:] = (x[0] for x in motion.states([t]))

    return run_closed_loop(arm, make_law('computed_torque', robot), follow, seconds, (), noise)


def measured(record: Record, noise: Imperfections = NOISE) -> Samples:
    """Return what sensors say: positions as the law had them, torques of the period before."""
    steps, n = record.q.shape
    scale = np.array([[noise.position_noise], [noise.velocity_noise]])
    positions = (scale * np.random.default_rng(noise.seed).standard_normal((steps, 2, n)))[:, 0]
    rng = np.random.default_rng(noise.seed + 1)
    effort = record.effort + TORQUE_NOISE * rms(record.effort) * rng.standard_normal((steps, n))
    return Samples(record.t[1:], (record.q + positions)[1:], effort[:-1])


def torque_error(model: RobotModel, plant: RobotModel, motion: FourierSeries) -> np.ndarray:
    """Return RMS of the torque that a model gets wrong on a motion, over the torque's RMS (n,)."""
    states = list(zip(*motion.states(np.linspace(0.0, motion.period, 2001)), strict=True))
    told, true = (np.array([m.inverse_dynamics(*s) for s in states]) for m in (model, plant))
    return rms(told - true) / rms(true)


def cube_error(robot: Robot, plant: RobotModel, engine: str = 'mujoco') -> float:
    """Return the tracking error RMS [mm] of the cube under computed torque."""
    arm = plant_class(engine)(plant, PARAMETERS)
    record = make_task('cube', robot).run(make_law('computed_torque', robot), arm)
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
        record = driven(arm, plant, unseen, unseen.period, None, engine)
        tracked[told] = float(rms(record.q - record.q_reference).max())
    print('  joint error on it [mrad RMS]:', {k: round(1e3 * x, 4) for k, x in tracked.items()})
    if name == 'ur5e':
        cube = {k: cube_error(replace(robot, model=m), plant, engine) for k, m in models.items()}
        print('  cube [mm RMS]:', {k: round(x, 4) for k, x in cube.items()})


def main() -> int:
    """Study each robot that is named; with --engine analytical friction is what models have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('robots', nargs='*', default=['ur5e', 'planar_3r'])
    parser.add_argument('--engine', default='mujoco', choices=RIGID_BODY_ENGINES)
    share = 'Coulomb friction as a share of usual torques (0.1)'
    parser.add_argument('--coulomb', type=float, default=0.1, help=share)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    print_conditions()
    for name in options.robots:
        try:
            study(name, options.engine, options.coulomb, options.seed)
        except ArmError as error:
            print(f'{name}: {error}', file=sys.stderr)
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
