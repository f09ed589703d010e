"""Velocity servos against a closed form, and joints with different actuators in one arm."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.analytical import AnalyticalPlant
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.mujoco_batch import MujocoBatch
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.simulation import Simulation

PLANTS = {
    'mujoco': MujocoPlant,
    'analytical': AnalyticalPlant,
    'batch as mujoco': lambda model, p: BatchPlant([model] * 3, p, 'mujoco'),
    'batch': lambda model, p: BatchPlant([model] * 3, p, 'analytical'),
    'batch in mujoco': lambda model, p: MujocoBatch([model] * 3, p),
}
UR5E = RobotModel.from_urdf(find_urdf('ur5e'), armature=0.1)
MIXTURE = ('servo', 'velocity', 'torque', 'velocity', 'servo', 'torque')
MIXED = PlantParameters(
    actuator=MIXTURE, servo_kp=(2000.0,) * 3 + (500.0,) * 3, servo_kd=(400.0,) * 3 + (90.0,) * 3
)


def rows(plant):
    """Return the states and efforts of the plant's arms, which must be alike."""
    return [np.atleast_2d(each) for each in (plant.q, plant.v, plant.effort)]


@pytest.mark.parametrize('name', PLANTS)
def test_a_velocity_servo_is_a_low_pass_of_first_order(name):
    """M dv/dt = kd (u - v) with an implicit step h: u - v shrinks by 1/(1 + h kd/m) per step."""
    arm = RobotModel.from_urdf('docs/tutorial/pendulum.urdf', gravity=(0.0, 0.0, 0.0))
    m, kd, u, h, steps = arm.mass_matrix(np.zeros(1))[0, 0], 2.0, 0.7, 1e-3, 150
    stepped = PlantParameters(
        actuator='velocity', servo_kd=(kd,), timestep=h, integrator='implicitfast'
    )
    plant = PLANTS[name](arm, stepped)
    assert plant.command_interface == 'velocity'
    for _ in range(steps):
        plant.step(np.full(plant.q.shape, u))
    left = (1.0 + h * kd / m) ** -np.arange(1, steps + 1)
    q, v, effort = rows(plant)
    np.testing.assert_allclose(v, u * (1.0 - left[-1]), rtol=1e-11)
    np.testing.assert_allclose(q, h * u * (1.0 - left).sum(), rtol=1e-11)
    np.testing.assert_allclose(effort, kd * u * left[-2], rtol=1e-9)
    time = steps * h
    np.testing.assert_allclose(v, u * (1.0 - np.exp(-kd / m * time)), rtol=4e-3)


def test_a_velocity_servo_has_its_effort_limit_and_needs_a_gain():
    arm = RobotModel.from_urdf('docs/tutorial/pendulum.urdf', gravity=(0.0, 0.0, 0.0))
    for plant_of in PLANTS.values():
        plant = plant_of(arm, PlantParameters(actuator='velocity', servo_kd=(100.0,)))
        plant.step(np.full(plant.q.shape, 9.0))
        np.testing.assert_array_equal(plant.effort, 40.0)
        with pytest.raises(ArmError, match="servo_kd of joint 'hinge' is 0; it must be > 0"):
            plant_of(arm, PlantParameters(actuator='velocity', servo_kd=(0.0,)))


@pytest.mark.parametrize('name', PLANTS)
def test_joints_with_different_actuators_move_as_with_torques_alone(name):
    """Each joint's torque is its own actuator's: explicit steps of a plant with torque motors."""
    explicit = partial(replace, timestep=5e-4, integrator='semi_implicit_euler')
    if 'mujoco' in name:
        explicit = partial(
            replace, timestep=5e-4, servo_kd=(0.02,), servo_kp=(200.0,), integrator='implicitfast'
        )
    mixed = explicit(MIXED)
    plant, motors = (
        PLANTS[name](UR5E, mixed),
        PLANTS[name](UR5E, replace(mixed, actuator='torque')),
    )
    kp, kd = mixed.servo_gains(UR5E)
    rng = np.random.default_rng(0)
    for each in (plant, motors):
        each.reset([0.1, -1.2, 1.1, -0.6, 0.9, 0.2])
    for _ in range(40):
        (q, *_), (v, *_) = plant.q.reshape(-1, 6), plant.v.reshape(-1, 6)
        kinds = [kind == np.array(MIXTURE) for kind in ('servo', 'velocity', 'torque')]
        command = np.select(kinds, [q + 0.01, rng.uniform(-0.3, 0.3, 6), rng.uniform(-9, 9, 6)])
        torques = [kp * (command - q) - kd * v, kd * (command - v), command]
        plant.step(np.broadcast_to(command, plant.q.shape).copy())
        motors.step(np.broadcast_to(np.select(kinds, torques), plant.q.shape).copy())
        tolerance = 1e-4 if 'mujoco' in name else 1e-9
        np.testing.assert_allclose(plant.v, motors.v, rtol=tolerance, atol=tolerance)


def test_engines_agree_on_joints_with_different_actuators():
    plants = [plant_of(UR5E, MIXED) for plant_of in PLANTS.values()]
    command = np.array([0.2, -0.1, 12.0, 0.3, 0.4, -1.0])
    for plant in plants:
        plant.reset([0.1, -1.2, 1.1, -0.6, 0.9, 0.2])
        for _ in range(100):
            plant.step(np.broadcast_to(command, plant.q.shape).copy())
    for plant in plants[1:]:
        for found, expected in zip(rows(plant), rows(plants[0]), strict=True):
            np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), atol=1e-8)


@pytest.mark.parametrize('actuator', ['velocity', MIXTURE])
@pytest.mark.parametrize('engine', [MujocoPlant, AnalyticalPlant])
def test_the_brake_stops_joints_with_any_actuator(actuator, engine):
    plant = engine(UR5E, replace(MIXED, actuator=actuator, timestep=1e-3))
    simulation = Simulation(plant, UR5E, [0.1, -1.2, 1.1, -0.6, 0.9, 0.2], [0.3] * 6)
    start, v = plant.q.copy(), plant.v.copy()
    for _ in range(1500):
        simulation.advance(None)
    assert simulation.at_rest
    np.testing.assert_allclose(plant.q, start + v / 10.0, atol=2e-3)


def test_delay_and_rate_limit_are_of_joints_with_any_actuator():
    parameters = replace(MIXED, command_delay=1, effort_rate_limit=(1000.0,), timestep=1e-3)
    plant, undelayed = (
        MujocoPlant(UR5E, parameters),
        MujocoPlant(UR5E, replace(MIXED, timestep=1e-3)),
    )
    hold = np.where(np.array(MIXTURE) == 'servo', plant.q, 0.0)
    command = hold + np.array([0.01, 0.2, 5.0, -0.1, -0.02, 0.3])
    limited = np.where(np.array(MIXTURE) == 'torque', np.clip(command, -1.0, 1.0), command)
    for sent, acting in ((hold, hold), (command, hold), (command, limited)):
        plant.step(sent)
        undelayed.step(acting)
        np.testing.assert_array_equal(plant.q, undelayed.q)
        np.testing.assert_array_equal(plant.effort, undelayed.effort)


@pytest.mark.parametrize(
    ('actuator', 'message'),
    [
        (('servo', 'torque'), r'actuator has 2 values; allowed: 1 or one per joint \(6\)'),
        (('voltage',) + ('torque',) * 5, "'voltage' is for all joints or for none"),
        (('magic',) * 6, "actuator is 'magic'; allowed: servo, torque, voltage, velocity"),
    ],
)
def test_actuators_that_cannot_be_are_refused(actuator, message):
    for plant_of in PLANTS.values():
        with pytest.raises(ArmError, match=message):
            plant_of(UR5E, PlantParameters(actuator=actuator))


def test_a_command_that_is_not_finite_names_the_joint_and_its_interface():
    simulation = Simulation(MujocoPlant(UR5E, MIXED), UR5E, UR5E.neutral())
    command = np.array([0.0, np.nan, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(ArmError, match="'shoulder_lift_joint': velocity command nan is not a fin"):
        simulation.advance(command)
    assert simulation.steps == 0
