"""Elastic gears, backlash, friction and ripple, against closed forms and between engines."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp

from arm_dynamics.checks import ArmError
from arm_dynamics.model import STANDSTILL, RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.published.motion_model_plant import MotionModelPlant
from arm_sim.loop.batch_plant import BatchPlant, batch_of
from arm_sim.loop.mujoco_batch import MujocoBatch
from arm_sim.robot import Robot
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, PlantParameters, plant_class

LINK = 0.4  # inertia of the one link [kg m^2]
ROTOR = 0.1  # [kg m^2]
STIFF = 400.0  # [N.m/rad]
STEP = 1e-3  # [s]
WHEEL = f"""<robot name="wheel"><link name="base"/><link name="wheel"><inertial>
  <mass value="1"/><inertia ixx="1" iyy="1" izz="{LINK}" ixy="0" ixz="0" iyz="0"/>
</inertial></link><joint name="axle" type="continuous"><parent link="base"/>
<child link="wheel"/><axis xyz="0 0 1"/><limit effort="1000" velocity="100"/></joint></robot>"""
TORQUE = PlantParameters(actuator='torque', timestep=STEP)
ELASTIC = replace(TORQUE, joint_stiffness=(STIFF,))
THREE = Robot.load('planar_3r')
WITH_FRICTION = RobotModel(THREE.model.urdf, armature=0.05, damping=0.2, friction=0.4)
EVERYTHING = replace(
    TORQUE,
    joint_substeps=4,
    joint_stiffness=(2000.0, 0.0, 500.0),
    joint_damping=(1.0, 0.0, 0.2),
    backlash=(2e-3, 0.0, 0.0),
    static_friction=(1.5,),
    ripple_amplitude=(0.3,),
    ripple_harmonic=(24.0,),
    ripple_phase=(0.7,),
)

both_engines = pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)


def wheel(engine, parameters, rotor=ROTOR, **friction):
    return plant_class(engine)(RobotModel(WHEEL, armature=rotor, **friction), parameters)


def course(plant, periods, command=0.0):
    """Return q, v of the link, q, v of the rotor after each period (periods, 4)."""
    rows = []
    for k in range(periods):
        plant.step(np.array([command(k) if callable(command) else command]))
        rows.append((plant.q[0], plant.v[0], plant.motors[0][0], plant.motors[1][0]))
    return np.array(rows).T


@both_engines
@pytest.mark.parametrize('rotor', [ROTOR, 1e9], ids=['free', 'locked'])
def test_an_elastic_joint_oscillates_at_the_frequency_of_two_masses(engine, rotor):
    plant, start, n = wheel(engine, ELASTIC, rotor), 0.01, 1000
    plant.motors[0][:] = start
    link_q, link_v, rotor_q, rotor_v = course(plant, n)
    omega = np.sqrt(STIFF * (1.0 / LINK + 1.0 / rotor))
    # Semi-implicit Euler turns by this angle per step, exactly; it is omega h + O(h^3).
    angle = np.arccos(1.0 - 0.5 * (omega * STEP) ** 2)
    assert_allclose(angle / STEP, omega, rtol=(omega * STEP) ** 2 / 20.0)
    k = np.arange(1, n + 1)
    exact = start * np.cos(angle * (k + 0.5)) / np.cos(0.5 * angle)
    assert_allclose(rotor_q - link_q, exact, atol=1e-9 * start)
    if rotor == ROTOR:
        assert_allclose(LINK * link_v + rotor * rotor_v, 0.0, atol=1e-13)


@both_engines
def test_a_gear_damper_takes_the_energy_of_the_two_masses(engine):
    d = 0.5
    plant, start = wheel(engine, replace(ELASTIC, joint_damping=(d,), joint_substeps=10)), 0.01
    plant.motors[0][:] = start
    link_q, _, rotor_q, _ = course(plant, 300)
    inverse = 1.0 / LINK + 1.0 / ROTOR
    decay = 0.5 * d * inverse
    omega = np.sqrt(STIFF * inverse - decay**2)
    t = STEP * np.arange(1, 301)
    wave = np.cos(omega * t) + decay / omega * np.sin(omega * t)
    assert_allclose(rotor_q - link_q, start * np.exp(-decay * t) * wave, atol=0.01 * start)


def energy(model, plant, stiffness):
    """Return the energy of links, rotors and gears [J]."""
    (q, v), (m, w) = (plant.q, plant.v), plant.motors
    links = model.mass_matrix(q) - np.diag(model.armature)
    height = pin.computePotentialEnergy(model.pin_model, model.pin_data, model.to_pin(q))
    twist = 0.5 * stiffness * (m - q) @ (m - q)
    return 0.5 * v @ links @ v + 0.5 * w @ (model.armature * w) + twist + height


@both_engines
def test_an_elastic_arm_without_dampers_keeps_its_energy_to_the_order_of_the_step(engine):
    model, drift = RobotModel(THREE.model.urdf, armature=0.05), []
    for substeps in (4, 8):
        parameters = replace(TORQUE, joint_stiffness=(1000.0,), joint_substeps=substeps)
        plant = plant_class(engine)(model, parameters)
        plant.reset(THREE.start, np.array([0.5, -1.0, 1.0]))
        start = energy(model, plant, 1000.0)
        largest = 0.0
        for _ in range(500):
            plant.step(np.zeros(3))
            largest = max(largest, abs(energy(model, plant, 1000.0) - start))
        drift.append(largest)
    assert drift[0] < 0.1
    assert_allclose(drift[0] / drift[1], 2.0, rtol=0.1)


@both_engines
def test_a_rotor_crosses_the_backlash_as_if_alone_and_hits_as_an_elastic_ball(engine):
    gap, tau = 0.1, 2.0
    plant = wheel(engine, replace(ELASTIC, backlash=(gap,), joint_substeps=4))
    h, speed = STEP / 4.0, 1.0
    free = course(plant, 100, tau)
    steps = 4 * np.arange(1, 101)
    inside = np.abs(free[2]) < 0.5 * gap
    assert 50 < inside.sum() < 100
    assert_array_equal(free[0][inside], 0.0)
    alone = 0.5 * tau / ROTOR * h**2 * steps * (steps + 1.0)
    assert_allclose(free[2][inside], alone[inside], atol=1e-15)
    plant.reset(np.zeros(1))
    plant.motors[1][:] = speed
    link_q, link_v, rotor_q, rotor_v = course(plant, 160)
    assert np.abs(rotor_q - link_q)[-1] < 0.5 * gap  # apart again
    assert_allclose(link_v[-1], 2.0 * ROTOR * speed / (ROTOR + LINK), rtol=1e-2)
    assert_allclose(rotor_v[-1], (ROTOR - LINK) * speed / (ROTOR + LINK), rtol=1e-2)


def stribeck(v, dry, static, fading, damping):
    """Return the friction torque of docs/drives.md."""
    size = dry + (static - dry) * np.exp(-((v / fading) ** 2))
    return size * np.clip(v / STANDSTILL, -1.0, 1.0) + damping * v


@both_engines
def test_stick_slip_of_a_mass_on_a_pulled_spring_is_that_of_an_ode_solver(engine):
    k, speed, dry, static, fading, damping = 120.0, 0.12, 1.0, 6.0, 0.3, 0.2
    inertia, end = LINK + ROTOR, 4.0

    def slope(t, x):
        friction = stribeck(x[1], dry, static, fading, damping)
        return x[1], (k * (speed * t - x[0]) - friction) / inertia

    answer = solve_ivp(slope, (0.0, end), [0.0, 0.0], 'LSODA', rtol=1e-9, atol=1e-12)
    parameters = replace(
        TORQUE, actuator='servo', servo_kp=(k,), servo_kd=(0.0,), timestep=5e-4,
        static_friction=(static,), stribeck_velocity=(fading,),
    )  # fmt: skip
    peaks = {}
    for h in (5e-4, 2.5e-4):
        plant = wheel(engine, replace(parameters, timestep=h), friction=dry, damping=damping)
        _, v, _, _ = course(plant, round(end / h), lambda i, h=h: speed * h * (i + 0.5))
        t = h * np.arange(1, v.size + 1)
        peaks[h] = rising(t, v)
    exact = rising(answer.t, answer.y[1])
    assert len(exact) >= 3
    assert answer.y[1].max() > 3.0 * speed
    period = np.diff(exact).mean()
    errors = [np.diff(each).mean() / period - 1.0 for each in peaks.values()]
    assert_allclose(errors, 0.0, atol=1e-2)
    assert_allclose(errors[0] / errors[1], 2.0, rtol=0.05)  # of first order in the step
    assert_allclose(2.0 * errors[1] - errors[0], 0.0, atol=5e-4)


def rising(t, v, level=0.2):
    """Return the times at which v rises beyond a level."""
    at = np.flatnonzero((v[:-1] < level) & (v[1:] >= level))
    return t[at] + (level - v[at]) / (v[at + 1] - v[at]) * (t[at + 1] - t[at])


@both_engines
def test_friction_far_beyond_a_joints_inertia_stops_it_without_chatter(engine):
    parameters = replace(TORQUE, timestep=0.01, static_friction=(50.0,))
    _, v, _, _ = course(wheel(engine, parameters, friction=50.0), 50, 20.0)
    assert_allclose(v[-1], 20.0 / 50.0 * STANDSTILL, rtol=1e-9)  # creeps, as the model says
    assert (np.diff(v) >= -1e-15).all()


@both_engines
def test_torque_ripple_is_a_potential(engine):
    a, n, phase, start = 0.5, 6.0, 0.3, 2.0
    parameters = replace(
        TORQUE, ripple_amplitude=(a,), ripple_harmonic=(n,), ripple_phase=(phase,)
    )
    plant = wheel(engine, replace(parameters, joint_substeps=10))
    plant.reset(np.zeros(1), np.full(1, start))
    q, v, m, w = course(plant, 1000)
    assert_array_equal((m, w), (q, v))
    kept = 0.5 * (LINK + ROTOR) * (v**2 - start**2) + a / n * (
        np.cos(n * q + phase) - np.cos(phase)
    )
    assert np.ptp(v) > 0.1
    assert_allclose(kept, 0.0, atol=2e-4)


@both_engines
def test_encoders_report_their_side_of_a_gear_that_bears_the_weight(engine):
    model = RobotModel(THREE.model.urdf, armature=0.05)
    weight, parameters = (
        model.gravity_torque(THREE.start),
        replace(TORQUE, joint_stiffness=(900.0,)),
    )
    for side, twist in (('motor', weight / 900.0), ('link', np.zeros(3))):
        for noise in (0.0, 1e-12):  # without and with sensors
            given = replace(parameters, encoders=side, position_noise=noise, joint_substeps=4)
            plant = plant_class(engine)(model, given)
            plant.reset(THREE.start)
            for _ in range(50):
                assert_allclose(plant.measured.q, THREE.start + twist, atol=1e-9)
                plant.step(weight)
            assert_allclose(plant.q, THREE.start, atol=1e-9)
            assert_allclose(plant.effort, weight)


def commands(arms, periods=150):
    return np.random.default_rng(1).normal(0.0, 1.0, (periods, arms, 3)).cumsum(axis=0)


def motion(plant, sent):
    """Return links, rotors and torques after each period, from the robot's start."""
    plant.reset(np.broadcast_to(THREE.start, plant.q.shape))
    rows = []
    for row in sent:
        plant.step(np.ascontiguousarray(row.reshape(plant.q.shape)))
        rows.append((plant.q.copy(), *(each.copy() for each in plant.motors), plant.effort.copy()))
    return np.array(rows)


@pytest.mark.parametrize('actuator', ['torque', 'servo'])
def test_both_engines_agree_to_rounding_with_all_of_it(actuator):
    parameters = replace(EVERYTHING, actuator=actuator, servo_kp=(800.0,), servo_kd=(20.0,))
    sent = commands(1) if actuator == 'torque' else THREE.start + 0.05 * commands(1)
    one, other = (
        motion(plant_class(each)(WITH_FRICTION, parameters), sent) for each in RIGID_BODY_ENGINES
    )
    assert np.ptp(one[:, 0], axis=0).min() > 0.01
    assert np.abs(one[:, 1] - one[:, 0])[:, [0, 2]].max() > 2e-3
    assert_allclose(one, other, atol=1e-9)


def test_each_arm_of_a_batch_is_one_arm_to_the_last_bit():
    models = [with_error(WITH_FRICTION, ModelError(payload=0.1 + 0.2 * k)) for k in range(3)]
    each = [replace(EVERYTHING, static_friction=(1.5 + k,)) for k in range(3)]
    sent = commands(3)
    whole = motion(MujocoBatch(models, each, threads=2), sent)
    for k in (0, 2):
        assert_array_equal(
            whole[:, :, k], motion(plant_class('mujoco')(models[k], each[k]), sent[:, k])
        )
    compiled = motion(BatchPlant(models, each, 'mujoco'), sent)
    assert_allclose(compiled, whole, atol=1e-9)
    assert_array_equal(
        compiled[:, :, 1:2], motion(BatchPlant(models[1:2], each[1:2], 'mujoco'), sent[:, 1:2])
    )
    assert isinstance(batch_of(models, each, 'analytical'), BatchPlant)


def test_rotors_go_on_when_a_payload_falls_off():
    made, sent = plant_class('mujoco'), commands(1)
    whole = motion(made(WITH_FRICTION, EVERYTHING), sent)
    first, then = made(WITH_FRICTION, EVERYTHING), made(WITH_FRICTION, EVERYTHING)
    motion(first, sent[:50])
    then.continue_from(first)
    for row in sent[50:]:
        then.step(row[0])
    assert_allclose(then.q, whole[-1][0], atol=1e-12)


@both_engines
def test_the_links_are_compared_with_the_controllers_model(engine):
    assert check_model(plant_class(engine)(WITH_FRICTION, EVERYTHING), WITH_FRICTION) < 1e-12


@pytest.mark.parametrize(
    ('given', 'message'),
    [
        ({'integrator': 'euler'}, "integrator is 'euler'; joints.* need 'implicitfast'"),
        ({'backlash': (0.1,), 'joint_stiffness': (0.0,)}, 'backlash needs joints.stiffness > 0'),
        ({'static_friction': (0.1,)}, 'it must be >= the Coulomb friction 0.4'),
        ({'joint_substeps': 1, 'joint_stiffness': (1e6,)}, 'joints.substeps >= '),
        ({'joint_stiffness': (1.0, 2.0)}, 'joints.stiffness has 2 values; allowed: 1 or one per'),
    ],
)
def test_joints_that_cannot_be_are_refused_in_one_line(given, message):
    for engine in RIGID_BODY_ENGINES:
        with pytest.raises(ArmError) as refused:
            plant_class(engine)(WITH_FRICTION, replace(EVERYTHING, **given))
        assert message in str(refused.value)
        assert '\n' not in str(refused.value)


def test_an_elastic_joint_needs_a_rotor_and_an_engine_with_joints():
    with pytest.raises(ArmError, match='needs the inertia of its rotor, armature'):
        plant_class('mujoco')(RobotModel(THREE.model.urdf, armature=0.0), EVERYTHING)
    with pytest.raises(ArmError, match='only engines mujoco and analytical'):
        MotionModelPlant(WITH_FRICTION, replace(EVERYTHING, actuator='servo'))
