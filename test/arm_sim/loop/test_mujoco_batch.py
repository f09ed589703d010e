"""Many arms in MuJoCo itself: each is MujocoPlant's, to the last bit."""

from dataclasses import replace

import numpy as np
import pytest
from experiment_parts import imperfect
from numpy.testing import assert_allclose, assert_array_equal

from arm_controllers.laws import law_class
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_plant import BatchPlant, batch_of
from arm_sim.loop.events import Push, replacement
from arm_sim.loop.loop import Loop
from arm_sim.loop.mujoco_batch import MujocoBatch
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.scene import SceneObject, objects_text
from arm_sim.tasks import make_task

ARMS, PERIODS = 5, 60
ROBOT = Robot.load('planar_3r')
MODELS = [
    with_error(ROBOT.model, ModelError(payload=0.1 + 0.1 * k, friction=(0.3 * k,)))
    for k in range(ARMS)
]
TORQUE = PlantParameters(actuator='torque', timestep=1e-3)
COMMANDS = np.random.default_rng(1).normal(0.0, 30.0, (PERIODS, ARMS, 3)).cumsum(axis=0) / 9.0
WRENCHES = np.random.default_rng(2).normal(0.0, 9.0, (ARMS, 6))


def motion(plant, arms):
    """Return positions and torques (periods, N, n) from rest at odd poses, with a push."""
    rows = []
    plant.reset(np.array([0.3 * arm + ROBOT.start for arm in arms]))
    for k, command in enumerate(COMMANDS):
        if k in (20, 40):
            plant.apply_wrench(ROBOT.model.tip_frame, WRENCHES[list(arms)] * (k == 20))
        plant.step(np.ascontiguousarray(command[list(arms)]))
        rows.append((plant.q.copy(), plant.effort.copy()))
    return np.array(rows).swapaxes(0, 1)


def alone(parameters, arm):
    plant, rows = MujocoPlant(MODELS[arm], parameters), []
    plant.reset(0.3 * arm + ROBOT.start)
    for k, command in enumerate(COMMANDS):
        if k in (20, 40):
            plant.apply_wrench(ROBOT.model.tip_frame, WRENCHES[arm] * (k == 20))
        plant.step(command[arm])
        rows.append((plant.q.copy(), plant.effort.copy()))
    return np.array(rows).swapaxes(0, 1)


@pytest.mark.parametrize(
    'values',
    [
        {},
        {'integrator': 'rk4', 'control_decimation': 3},
        {'actuator': 'servo', 'integrator': 'euler'},
    ],
)
def test_each_arm_is_mujocos_own_in_any_number_order_and_threads(values):
    parameters = replace(TORQUE, **values)
    whole = motion(MujocoBatch(MODELS, parameters), range(ARMS))
    assert np.ptp(whole[0, -1], axis=0).min() > 0.01
    for arm in (0, ARMS - 1):
        assert_array_equal(whole[:, :, arm], alone(parameters, arm))
    order = (3, 0, 4)
    some = MujocoBatch([MODELS[arm] for arm in order], parameters, threads=2)
    assert_array_equal(motion(some, order), whole[:, :, list(order)])


@pytest.mark.parametrize('integrator', ['continuous', 'rk4'])
def test_efforts_of_servos_are_those_of_one_arm(integrator):
    parameters = replace(TORQUE, actuator='servo', integrator=integrator)
    whole = motion(MujocoBatch([MODELS[1]] * ARMS, parameters), [1] * ARMS)
    for arm in (0, ARMS - 1):
        assert_array_equal(whole[:, :, arm], alone(parameters, 1))


@pytest.mark.slow
def test_arms_that_fall_on_the_floor_lie_there_as_mujocos_own():
    robot = Robot.load('ur5e')
    models = [with_error(robot.model, ModelError(payload=kg)) for kg in (1.0, 4.0)]
    touching = replace(TORQUE, contacts=True, floor=True)
    rows = []
    for parameters in (touching, TORQUE):
        plant = MujocoBatch(models, parameters)
        plant.reset(robot.start)
        for _ in range(700):
            plant.step(np.zeros((2, 6)))
        rows.append(plant.q.copy())
    assert np.abs(rows[0] - rows[1]).max() > 0.1
    for arm, model in enumerate(models):
        plant = MujocoPlant(model, touching)
        plant.reset(robot.start)
        for _ in range(700):
            plant.step(np.zeros(6))
        assert_array_equal(rows[0][arm], plant.q)


@pytest.mark.parametrize('law', ['computed_torque_pid', 'servo'])
def test_an_arm_of_the_loop_is_the_one_arm_loop(law):
    task, cls, rows = make_task('sinusoid', ROBOT), law_class(law), []
    actuator = 'servo' if cls.command_interface == 'position' else 'torque'
    parameters = replace(TORQUE, actuator=actuator, contacts=True, command_delay=1)
    each = [imperfect(parameters, 1 + k % 2, position_noise=1e-6, seed=k) for k in range(ARMS)]
    push = Push(ROBOT.model.tip_frame, (5.0, -3.0, 0.0, 0.0, 0.0, 1.0), 0.02, 0.06).events()
    bare = batch_of([ROBOT.model] * ARMS, parameters, 'mujoco')
    assert isinstance(bare, MujocoBatch)
    plant, own = batch_of(MODELS, each, 'mujoco'), cls(BatchModel(ROBOT.model), cls.Parameters())
    loop = Loop(plant, own, task.reference, [*push, replacement(0.06, bare)])
    loop.run(0.1, [lambda step: rows.append(step.q)])
    assert loop.alive.all()
    assert not loop.beyond.any()
    for arm, model in enumerate(MODELS):
        record = run_closed_loop(
            MujocoPlant(model, each[arm]), cls(ROBOT.model, cls.Parameters()), task.reference,
            0.1, [*push, replacement(0.06, MujocoPlant(ROBOT.model, parameters))],
        )  # fmt: skip
        assert_allclose(np.array(rows)[:, arm], record.q, rtol=0, atol=1e-12)


def test_arms_with_objects_of_their_own_are_mujocos_own():
    robot, still = Robot.load('ur5e'), np.zeros(6)
    x, y, z = robot.model.forward_kinematics(robot.start).translation.tolist()
    each = [
        replace(TORQUE, objects=objects_text([SceneObject(
            name='bench', size=(0.6, 0.6, 0.1), position=(x, y, z - 0.1), friction=0.4 * k,
            rotation=(0.0, 0.1 * k, 0.0), stiffness=1e4 * (k + 1),
        )]))
        for k in range(2)
    ]  # fmt: skip
    batch, moved = MujocoBatch([robot.model] * 2, each), []
    batch.reset(robot.start)
    for own in each:
        plant = MujocoPlant(robot.model, own)
        plant.reset(robot.start)
        for _ in range(200):
            plant.step(still)
        moved.append(plant.q.copy())
    for _ in range(200):
        batch.step(np.array([still, still]))
    assert_array_equal(batch.q, moved)
    assert np.isfinite(batch.contacts.facts()).all()
    assert np.abs(batch.q[0] - batch.q[1]).max() > 1e-3
    with pytest.raises(ArmError, match='arm 1 of a batch has other links, joints or objects'):
        batch_of([robot.model] * 2, [TORQUE, each[0]], 'mujoco')


def test_an_arm_that_leaves_the_finite_numbers_leaves_the_others_alone():
    free, law = replace(TORQUE, effort_limits=False), law_class('pd')
    plant = MujocoBatch(MODELS, free)
    new = motion(plant, range(ARMS))
    found = []
    for noise in (0.0, 1e300):
        rows = []
        wild = [imperfect(free, velocity_noise=noise), *[free] * (ARMS - 1)]
        own = law(BatchModel(ROBOT.model), law.Parameters())
        loop = Loop(MujocoBatch(MODELS, wild), own, make_task('sinusoid', ROBOT).reference)
        loop.run(0.02, [lambda step, rows=rows: rows.append(step.q)])
        found.append(np.array(rows)[:, 1:])
    assert_array_equal(loop.alive, [False] + [True] * (ARMS - 1))
    assert_array_equal(*found)
    assert_array_equal(motion(plant, range(ARMS)), new)  # it begins again as if nothing had been


def test_compiled_code_steps_what_it_models():
    assert isinstance(batch_of(MODELS, TORQUE, 'mujoco'), BatchPlant)
    assert isinstance(batch_of(MODELS, replace(TORQUE, contacts=True), 'mujoco'), MujocoBatch)
    with pytest.raises(ArmError, match='contacts is true'):
        batch_of(MODELS, replace(TORQUE, contacts=True), 'analytical')


def test_what_mujoco_cannot_have_is_refused():
    with pytest.raises(ArmError, match='a batch has no arms'):
        MujocoBatch([], TORQUE)
    with pytest.raises(ArmError, match='arm 1 of a batch has other links, joints or objects'):
        MujocoBatch([ROBOT.model, Robot.load('ur5e').model], TORQUE)
    with pytest.raises(ArmError, match="integrator .* is 'explicit_euler'"):
        MujocoBatch(MODELS, replace(TORQUE, integrator='explicit_euler'))
    with pytest.raises(ArmError, match="no frame 'moon'"):
        MujocoBatch(MODELS, TORQUE).apply_wrench('moon', np.zeros(6))
    assert MujocoBatch(MODELS[:1], TORQUE).q.shape == (1, MODELS[0].nv)
