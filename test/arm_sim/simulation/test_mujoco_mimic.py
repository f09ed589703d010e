"""Joints that follow others by <mimic> in the engines: one motion, alone and in a batch."""

from dataclasses import replace

import numpy as np
import pytest
from mimic_arm import mimic_arm, mimic_urdf

from arm_dynamics import RobotModel
from arm_dynamics.checks import ArmError
from arm_sim.engines.analytical import AnalyticalPlant
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_plant import batch_of
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import PlantParameters

START = np.array([0.1, 0.2, 0.3])
SMOOTH = RobotModel(mimic_urdf(), 'level_link', friction=(0.0,))
# Of the motion below: what MuJoCo's equality leaves of a follower's error, and of the engines'.
FOLLOWER, ENGINES = 2e-7, 1e-6  # [rad | m]
SERVO = PlantParameters(servo_kp=(200.0,), servo_kd=(20.0,), timestep=1e-3, control_decimation=2)
TORQUE = PlantParameters(actuator='torque', timestep=1e-3, control_decimation=2)


def command(k, actuator):
    if actuator == 'servo':
        return START + np.array([0.3, 0.25, 0.45]) * np.sin(2.0 * np.pi * 2e-3 * k)
    held = SMOOTH.gravity_torque(START)
    return held + np.array([0.3, 0.5, 0.1]) * np.cos(6.0 * 2e-3 * k)


@pytest.mark.parametrize('parameters', [SERVO, TORQUE], ids=['servo', 'torque'])
def test_engines_move_alike_for_a_second_and_followers_stay_at_their_leaders(parameters):
    plants = MujocoPlant(SMOOTH, parameters), AnalyticalPlant(SMOOTH, parameters)
    worst = follower = 0.0
    for plant in plants:
        assert check_model(plant, SMOOTH) < 1e-12
        plant.reset(START)
    mj_data, places = plants[0].mj_data, []
    for k in range(500):
        for plant in plants:
            plant.step(command(k, parameters.actuator))
        error = mj_data.qpos - SMOOTH.all_positions(plants[0].q)
        follower = max(follower, np.abs(error).max())
        worst = max(worst, np.abs(plants[0].q - plants[1].q).max())
        places.append(plants[0].q.copy())
    assert 0.0 < follower < FOLLOWER
    assert worst < ENGINES
    assert np.ptp(places, axis=0).min() > 0.03
    np.testing.assert_allclose(plants[0].effort, plants[1].effort, atol=1e-3)


def test_friction_and_limits_of_followers_act_on_the_leader():
    model = mimic_arm()
    plant = MujocoPlant(model, TORQUE)
    damping, friction = plant.joint_friction()
    np.testing.assert_array_equal(damping, model.damping)
    np.testing.assert_array_equal(friction, model.friction)
    plant.reset(START)
    for _ in range(1000):
        plant.step(np.array([0.0, -60.0, 0.0]))
    assert plant.q[1] == pytest.approx(-1.3, abs=0.05)  # where `level` is at its limit
    assert plant.q[0] == pytest.approx(START[0], abs=0.3)


def test_a_wrench_on_a_follower_moves_its_leader_alike_in_both_engines():
    ends = []
    for engine in (MujocoPlant, AnalyticalPlant):
        plant = engine(SMOOTH, TORQUE)
        plant.reset(START)
        plant.apply_wrench('tip_of_other_link', (0.5, 1.0, -1.0, 0.02, 0.0, 0.01))
        for _ in range(100):
            plant.step(SMOOTH.gravity_torque(START))
        ends.append(plant.q.copy())
    np.testing.assert_allclose(*ends, atol=ENGINES)
    assert abs(ends[0] - START).min() > 1e-3


@pytest.mark.parametrize('engine', ['mujoco', 'analytical'])
def test_one_arm_of_a_batch_is_one_arm_alone(engine):
    model = RobotModel(mimic_urdf(3), 'lift_link', friction=(0.0,))
    one = {'mujoco': MujocoPlant, 'analytical': AnalyticalPlant}[engine](model, SERVO)
    many = batch_of([model] * 3, SERVO, engine)
    one.reset(START[:2])
    many.reset(START[:2])
    for k in range(100):
        one.step(command(k, 'servo')[:2])
        many.step(command(k, 'servo')[:2] + np.array([[0.0], [0.1], [0.2]]))
    equal = np.testing.assert_array_equal if engine == 'mujoco' else np.testing.assert_allclose
    for found, wanted in ((many.q, one.q), (many.v, one.v), (many.effort, one.effort)):
        equal(found[0], wanted)
    assert abs(many.q[1] - one.q).min() > 1e-3


def test_mujocos_implicit_integrator_is_refused():
    with pytest.raises(ArmError, match="integrator 'implicit' has no joints that follow others"):
        MujocoPlant(SMOOTH, PlantParameters(integrator='implicit'))


def test_a_strongly_damped_object_next_to_such_an_arm_sinks_at_its_steady_speed(tmp_path):
    scene = tmp_path / 'flap.xml'
    scene.write_text(
        '<mujoco><worldbody><body name="flap" pos="2 0 1"><joint name="hinge" axis="0 1 0" '
        'damping="5"/><geom type="box" size="0.1 0.1 0.01" pos="0.1 0 0" mass="0.01"/></body>'
        '</worldbody></mujoco>'
    )
    plant = MujocoPlant(SMOOTH, replace(SERVO, scene=str(scene)))
    plant.reset(START)
    for _ in range(100):
        plant.step(START)
    assert plant.mj_data.joint('hinge').qvel[0] == pytest.approx(0.01 * 9.81 * 0.1 / 5.0, rel=1e-3)
