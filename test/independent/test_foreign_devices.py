"""Encoders, IMU, guard and brake on an arm that SciPy moves over Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest
from foreign_arm import ForeignArm
from foreign_contact import PressingArm
from foreign_contact import experiment as pressing
from foreign_plant import PERIOD, experiment, foreign_arm
from scipy.integrate import simpson

from arm_controllers.guard import Guard
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.robots import find_urdf
from arm_sim.simulation.brake import Brake
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, PlantParameters, plant_class

LOADED = experiment('computed_torque', 'sinusoid')
MODEL, START = LOADED.robot.model, LOADED.robot.start
SPEEDS = np.array([0.8, -0.5, 0.9, 0.4, -0.3, 0.5])  # [rad/s]
BETWEEN = np.linspace(0.0, PERIOD, 5)[1:-1]  # where limits are looked at as well [s]


def imu_of(arm, command):
    """Return angular velocity and acceleration without gravity (6,), both in the tool's axes."""
    a = arm.acceleration(command, arm.q, arm.v)
    data = arm.model.createData()
    pin.forwardKinematics(arm.model, data, arm.q, arm.v, a)
    tool, local = arm.model.getFrameId(MODEL.tip_frame), pin.ReferenceFrame.LOCAL
    place = pin.updateFramePlacement(arm.model, data, tool)
    felt = pin.getFrameClassicalAcceleration(arm.model, data, tool, local).linear
    spin = pin.getFrameVelocity(arm.model, data, tool, local).angular
    return np.append(spin, felt - place.rotation.T @ arm.model.gravity.linear)


@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
def test_encoders_and_imu_report_the_instant_of_a_foreign_arm(engine):
    kind, step = plant_class(engine), 1e-4
    given = {'timestep': PERIOD, 'actuator': 'torque', 'imu_frame': MODEL.tip_frame}
    plant = kind(MODEL, kind.Parameters(encoder_resolution=(step,), sensor_delay=1, **given))
    arm = foreign_arm(LOADED)
    arm.q = START.copy()
    plant.reset(START)
    ticks = [np.rint(START / step)] * 2
    for k in range(15):
        command = MODEL.gravity_torque(arm.q) + 40.0 * np.sin(0.2 * k + np.arange(6))
        plant.step(command)
        np.testing.assert_allclose(plant.measured.q, step * ticks[-1], atol=1e-12)
        velocity = step * (ticks[-1] - ticks[-2]) / PERIOD
        np.testing.assert_allclose(plant.measured.v, velocity, atol=1e-9)
        arm.move(command, PERIOD)
        ticks.append(np.rint(arm.q / step))
        imu = plant.measured.readings['imu'][4:]
        np.testing.assert_allclose(imu, imu_of(arm, command), atol=1e-4)
    assert np.abs(ticks[-1] - ticks[0]).min() > 3


@pytest.mark.quick(1)
@pytest.mark.parametrize('actuator', ['servo', 'velocity'])
@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
def test_efforts_of_drives_with_feedback_are_what_moves_a_foreign_arm(engine, actuator):
    # They were those of the end of a period, more than 1 N.m beside the mean.
    kind, kp, kd = plant_class(engine), 2000.0 * (actuator == 'servo'), 400.0
    plant = kind(MODEL, kind.Parameters(timestep=PERIOD, actuator=actuator))

    def torque(u, q, v):
        return kp * (u - q) - kd * v if kp else kd * (u - v)

    arm = ForeignArm(find_urdf('ur5e').read_text(), MODEL.armature, torque)
    arm.q, arm.v = START.copy(), SPEEDS.copy()
    plant.reset(START, SPEEDS)
    for k in range(4):
        command = START + SPEEDS * (k * PERIOD + kd / 2000.0) if kp else SPEEDS * (1.0 + 0.02 * k)
        plant.step(command)
        torques = [torque(command, arm.q, arm.v)]
        for _ in range(40):  # the torque of a stiff drive decays within a period
            arm.move(command, PERIOD / 40)
            torques.append(torque(command, arm.q, arm.v))
        mean = simpson(torques, axis=0) / 40.0
        np.testing.assert_allclose(plant.effort, mean, atol=1e-3)  # Simpson's own error
        assert np.abs(torques[-1] - mean).max() > 1.0


@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
def test_the_effort_of_a_drive_at_its_limit_is_the_limit(engine):
    kind = plant_class(engine)
    plant = kind(MODEL, kind.Parameters(timestep=PERIOD))
    plant.reset(START)
    plant.step(START + 0.5 * np.sign(SPEEDS))
    np.testing.assert_array_equal(plant.effort, np.sign(SPEEDS) * MODEL.effort_limit)


def way_of(arm, command_of, seconds):
    """Move an arm; return its positions (k, n), also those between the control instants."""
    found = []
    for _ in range(round(seconds / PERIOD)):
        found += [*arm.move(np.array(command_of()), PERIOD, BETWEEN), arm.q]
    return np.array(found)


def test_a_guard_stops_a_foreign_arm_where_it_says_and_within_its_limits():
    parameters = GuardParameters(reaction='stop', force=50.0, deceleration=(4.0,))
    guard, arm, reference = Guard(LOADED.law(), parameters), foreign_arm(LOADED), Reference(6)
    q, v, near = START.copy(), SPEEDS.copy(), 0.02
    q[2] = MODEL.position_upper[2] - near  # its stop would take 0.045 rad
    arm.q, arm.v, reference.q[:], reference.v[:] = q.copy(), v.copy(), q, v
    hit = Measurement(q, v, wrench=np.array([0.0, 0.0, 60.0, 0.0, 0.0, 0.0]))
    state = guard.start(hit, reference)

    def command():
        nonlocal state
        tau, state = guard(state, hit._replace(q=arm.q, v=arm.v), reference, PERIOD)
        return tau

    way = way_of(arm, command, 0.3)
    times = np.max(np.abs(v)) / 4.0 * np.ones(6)
    times[2] = 2.0 * near / v[2]
    np.testing.assert_allclose(way[-1], q + 0.5 * v * times, atol=1e-4)
    assert way[:, 2].max() < MODEL.position_upper[2] + 1e-6
    np.testing.assert_allclose(arm.v, 0.0, atol=3e-3)


@pytest.mark.slow
def test_the_brake_lets_a_foreign_arm_rest_where_its_decay_ends():
    arm = foreign_arm(LOADED)
    arm.q, arm.v = START.copy(), SPEEDS.copy()
    brake = Brake(MODEL, PlantParameters(timestep=PERIOD, actuator='torque'))
    brake.start(arm.q, arm.v)
    way = way_of(arm, lambda: brake.command(arm.q, arm.v), 0.8) - START
    np.testing.assert_allclose(way[-1], 0.1 * SPEEDS, rtol=0.01)
    assert (np.abs(way) <= np.abs(0.1 * SPEEDS) + 1e-9).all()  # nor does it go beyond


@pytest.mark.parametrize(('stiffness', 'share'), [(4e4, 0.01), (1e6, 0.1)])
def test_the_wrench_of_an_impact_is_that_on_a_foreign_wall(stiffness, share):
    """In contact a reading is up to one integration step old, 0.25 ms."""
    given = {'surface_stiffness': stiffness, 'surface_friction': 0.0, 'distance': 0.0101}
    loaded = pressing('hybrid_force_motion', **given)
    plant, arm = loaded.plants()[0], PressingArm(loaded)
    plant.reset(arm.q)
    down = MODEL.jacobian(arm.q)[2]
    command = loaded.robot.model.gravity_torque(arm.q) - 10.0 * down
    both = []
    for _ in range(30):
        plant.step(command)
        arm.move(command, PERIOD)
        both.append((plant.measured.wrench[:3], arm.wrench(command)[:3]))
    ours, theirs = np.moveaxis(both, 1, 0)
    assert np.abs(ours - theirs).max() < share * np.abs(theirs).max()
