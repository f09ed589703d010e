"""The analytical engine against MuJoCo and against theory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arm_dynamics import RobotModel
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import ForwardModel, ForwardModelParameters
from arm_dynamics.compiled.joint_torques import motor_torque
from arm_dynamics.motors import DCMotors
from arm_dynamics.robots import find_urdf
from arm_sim.engines.analytical import AnalyticalParameters, AnalyticalPlant
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.integration import rk4_step
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import PlantParameters

HOME = np.array([-1.5, -1.5, 1.5, -1.5, -1.5, 0.0])
SERVO = {
    'servo_kp': (2000.0, 2000.0, 2000.0, 500.0, 500.0, 500.0),
    'servo_kd': (400.0, 400.0, 400.0, 100.0, 100.0, 100.0),
}


@pytest.fixture(scope='module')
def ur5e():
    return RobotModel.from_urdf(find_urdf('ur5e_menagerie'), armature=0.1)


def both(model, **parameters):
    given = PlantParameters(**parameters)
    return AnalyticalPlant(model, given), MujocoPlant(model, given)


def follow(plants, command, steps, start=HOME):
    for plant in plants:
        plant.reset(start)
    for k in range(steps):
        for plant in plants:
            plant.step(command(k, plant))
    analytical, mujoco = plants
    return np.abs(analytical.q - mujoco.q).max(), np.abs(analytical.v - mujoco.v).max()


def swing(k, plant):
    return HOME + 0.3 * np.sin(0.002 * k * np.arange(1, 7))


@pytest.mark.slow
def test_servos_agree_with_mujoco_to_rounding(ur5e):
    position, velocity = follow(both(ur5e, **SERVO), swing, 2000)
    assert position < 1e-12
    assert velocity < 1e-12


def test_servos_with_viscous_friction_agree_with_mujoco(ur5e):
    damped = RobotModel.from_urdf(ur5e.urdf, armature=0.1, damping=3.0)
    position, velocity = follow(both(damped, **SERVO), swing, 1000)
    assert position < 1e-12
    assert velocity < 1e-12


def test_saturated_servos_agree_with_mujoco(ur5e):
    plants = both(ur5e, **SERVO)
    position, velocity = follow(plants, lambda k, plant: HOME + 1.0, 30)
    assert (np.abs(plants[0].effort) >= 28.0).any()
    assert position < 1e-12
    assert velocity < 1e-12


def test_torque_motors_agree_with_mujoco(ur5e):
    def torque(k, plant):
        return ur5e.gravity_torque(plant.q) - 20.0 * plant.v + 5.0 * np.sin(0.01 * k)

    position, velocity = follow(both(ur5e, actuator='torque'), torque, 1000)
    assert position < 1e-11
    assert velocity < 1e-11


@pytest.mark.slow
def test_external_wrench_agrees_with_mujoco(ur5e):
    plants = both(ur5e, **SERVO)
    for plant in plants:
        plant.reset(HOME)
        plant.apply_wrench(ur5e.tip_frame, [3.0, 4.0, 5.0, 0.1, 0.2, 0.3])
        plant.apply_wrench('forearm_link', [-3.0, 10.0, 5.0, 1.0, 0.0, -0.3])
    for _ in range(500):
        for plant in plants:
            plant.step(HOME)
    assert_allclose(plants[0].q, plants[1].q, atol=1e-12)
    assert_allclose(plants[0].v, plants[1].v, atol=1e-12)


@pytest.mark.parametrize('robot', ['ur5e', 'planar_3r', 'five_joint_arm'])
def test_rk4_agrees_with_mujocos_rk4(robot):
    model = RobotModel.from_urdf(find_urdf(robot))
    given = PlantParameters(
        actuator='torque', integrator='rk4', timestep=1e-3, effort_limits=False
    )
    start = np.clip(np.full(model.nv, 0.2), model.position_lower, model.position_upper)
    plants = (AnalyticalPlant(model, given), MujocoPlant(model, given))
    position, velocity = follow(plants, lambda k, plant: np.zeros(model.nv), 100, start)
    assert position < 1e-11
    assert velocity < 1e-10


@pytest.mark.slow
def test_engines_differ_by_the_order_of_their_integrators(ur5e):
    # Semi-implicit Euler against RK4: a difference of order h at a fixed time.
    differences = []
    for step in (0.002, 0.001, 0.0005):
        common = {'actuator': 'torque', 'timestep': step}
        euler = AnalyticalPlant(ur5e, PlantParameters(integrator='implicitfast', **common))
        mujoco = MujocoPlant(ur5e, PlantParameters(integrator='rk4', **common))
        steps = round(0.2 / step)
        differences.append(follow((euler, mujoco), lambda k, plant: np.zeros(6), steps)[0])
    ratios = np.array(differences[:-1]) / differences[1:]
    assert_allclose(ratios, 2.0, rtol=0.1)


def test_model_check_accepts_the_engine(ur5e):
    assert check_model(AnalyticalPlant(ur5e, PlantParameters(**SERVO)), ur5e) < 1e-12


def test_coulomb_friction_holds_until_the_torque_exceeds_it(ur5e):
    dry = RobotModel.from_urdf(ur5e.urdf, armature=0.1, friction=8.0)
    plant = AnalyticalPlant(dry, AnalyticalParameters(actuator='torque'))
    gravity = ur5e.gravity_torque(HOME)
    plant.reset(HOME)
    for _ in range(200):
        plant.step(gravity + 7.9)
    assert_allclose(plant.q, HOME, atol=1e-9)
    plant.reset(HOME)
    for _ in range(50):
        plant.step(gravity + np.array([12.0, 0, 0, 0, 0, 0]))
    assert plant.v[0] > 0.01


def test_coulomb_friction_stops_a_coasting_joint_without_reversing_it():
    model = RobotModel.from_urdf(find_urdf('planar_3r'), friction=2.0)
    plant = AnalyticalPlant(model, AnalyticalParameters(actuator='torque'))
    plant.reset(np.zeros(3), [1.0, 0.0, 0.0])
    speeds = []
    for _ in range(2000):
        plant.step(np.zeros(3))
        speeds.append(plant.v[0])
    assert min(speeds) > -1e-9
    assert_allclose(plant.v, 0.0, atol=1e-12)


def test_rk4_with_dry_friction_finds_that_of_each_stage():
    """As a batch does: classical rk4 over the accelerations of Euler's steps, to the bit."""
    model = RobotModel.from_urdf(find_urdf('planar_3r'), friction=(2.0, 1.0, 0.5))
    smooth, euler = (
        ForwardModel(model, ForwardModelParameters(integrator=x))
        for x in ('rk4', 'explicit_euler')
    )
    command, h = np.array([3.0, -0.4, 0.2]), 2e-3

    def acceleration(q, v):
        after = np.concatenate([q, v])
        euler.advance(after, command, h, 1)
        return (after[3:] - v) / h

    q, v = np.array([0.3, -0.5, 0.7]), np.array([0.4, -0.01, 0.002])  # two joints stop
    state = smooth.initial_state(q, v)
    for _ in range(50):
        smooth.advance(state, command, h, 1)
        rk4_step(acceleration, q, v, h)
        assert_array_equal(state, [*q, *v])
    assert v[0] > 0.1
    assert abs(v[2]) < 1e-9


def test_limit_spring_stops_an_arm_where_it_balances():
    model = RobotModel.from_urdf(find_urdf('planar_3r'))
    given = AnalyticalParameters(
        actuator='torque', limit_stiffness=(1000.0,), limit_damping=(50.0,), timestep=1e-3
    )
    plant = AnalyticalPlant(model, given)
    plant.reset([3.1, 0.0, 0.0])
    for _ in range(20_000):
        plant.step(np.array([10.0, 0.0, 0.0]))
    # At rest the spring's torque balances the command: 1000 (q - limit) = 10.
    assert_allclose(plant.q[0] - model.position_upper[0], 0.01, atol=1e-4)


def test_dc_motor_runs_up_to_the_speed_where_back_emf_takes_the_voltage():
    slider = (
        '<robot name="rotor"><link name="base"/><link name="disc"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="shaft" type="continuous"><parent link="base"/><child link="disc"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    model = RobotModel.from_urdf(slider, armature=0.1)
    given = AnalyticalParameters(
        actuator='voltage', torque_constant=(0.5,), armature_resistance=(2.0,),
        brush_drop=(1.0,), half_drop_voltage=(1.5,), timestep=1e-3,
    )  # fmt: skip
    plant = AnalyticalPlant(model, given)
    plant.reset([0.0])
    time_constant = (0.1 + 0.1) * 2.0 / 0.5**2
    for _ in range(round(time_constant / 1e-3)):
        plant.step(np.array([6.0]))
    final = (6.0 - 1.0 * (1.0 - 0.5 ** (6.0 / 1.5))) / 0.5
    assert_allclose(plant.v[0], final * (1.0 - np.exp(-1.0)), rtol=1e-3)


def test_motors_find_the_voltage_of_a_torque(ur5e):
    motors = DCMotors(
        (10.0, 1.0, 0.3, 2.0, 3.0, 4.0), (9.0,), (1.5,), (0.5, 0.0, 0.9, 0.1, 0.2, 0.0), (0.8,)
    )
    constants = motors.constants(ur5e.joint_names)
    table = ForwardModelParameters('voltage', motors=motors).table(ur5e)
    torque, v = np.random.default_rng(0).normal(0.0, 3.0, (2, 50, 6))
    voltage = constants.voltage(torque, v)
    found = [
        [motor_torque(*each, table, i) for i, each in enumerate(zip(*rows, strict=True))]
        for rows in zip(voltage, v, strict=True)
    ]
    assert_allclose(found, torque, atol=1e-11)


def test_forward_model_remembers_nothing(ur5e):
    forward = ForwardModel(ur5e, ForwardModelParameters('servo'))
    rng = np.random.default_rng(2)
    start = forward.initial_state(HOME, rng.normal(size=6))
    first = forward.step(start, HOME, 0.002, 50, {'wrist_3_link': [1, 2, 3, 0, 0, 0]})
    forward.step(rng.normal(size=12), HOME + 1.0, 0.002, 7)
    again = forward.step(start, HOME, 0.002, 50, {'wrist_3_link': [1, 2, 3, 0, 0, 0]})
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize(
    ('change', 'says'),
    [
        ({'state': np.zeros(5)}, r'state has shape \(5,\); it must be \(12,\)'),
        ({'state': np.full(12, np.inf)}, r'state\[0\] is inf; it must be finite'),
        ({'command': np.zeros(7)}, r'command has shape \(7,\); it must be \(6,\)'),
        ({'command': np.full(6, np.nan)}, r'command\[0\] is nan; it must be finite'),
        ({'dt': 0.0}, 'time step is 0 s; it must be finite and > 0'),
        ({'dt': 0.5}, 'time step 0.5 s is not stable with semi_implicit_euler: at most 0.0'),
        ({'wrenches': {'nose': np.zeros(6)}}, "no frame 'nose'"),
        ({'wrenches': {'wrist_3_link': [1.0]}}, r'wrench on .* has shape \(1,\)'),
    ],
)
def test_forward_model_refuses_bad_input(ur5e, change, says):
    forward = ForwardModel(ur5e, ForwardModelParameters('servo', integrator='semi_implicit_euler'))
    given = {'state': np.zeros(12), 'command': np.zeros(6), 'dt': 1e-4, **change}
    with pytest.raises(ArmError, match=says):
        forward.step(**given)


@pytest.mark.parametrize(
    ('parameters', 'says'),
    [
        ({'integrator': 'leapfrog'}, "integrator is 'leapfrog'; allowed: explicit_euler"),
        ({'integrator': 'lagged_euler'}, "'lagged_euler' needs actuator 'voltage'"),
        ({'integrator': 'explicit_euler', 'timestep': 0.01}, 'time step 0.01 s is not stable'),
        ({'armature_resistance': (0.0,)}, 'armature_resistance of joint .* must be > 0'),
        ({'brush_drop': (5.0,)}, 'half_drop_voltage of joint .* must be > 3.466 V'),
        ({'limit_stiffness': (-1.0,)}, 'limit_stiffness of joint .* must be >= 0'),
        ({'torque_constant': (1.0, 2.0)}, r'torque_constant has 2 values; allowed: 1 or .* \(6\)'),
    ],
)
def test_bad_parameters_are_refused_in_one_line(ur5e, parameters, says):
    with pytest.raises(ArmError, match=says) as refusal:
        AnalyticalPlant(ur5e, AnalyticalParameters(**parameters))
    assert '\n' not in str(refusal.value)


def test_a_wrench_on_an_unknown_frame_changes_nothing(ur5e):
    plant = AnalyticalPlant(ur5e, PlantParameters(**SERVO))
    with pytest.raises(ArmError, match="no frame 'nose'"):
        plant.apply_wrench('nose', np.ones(6))
    plant.reset(HOME)
    other = AnalyticalPlant(ur5e, PlantParameters(**SERVO))
    other.reset(HOME)
    plant.step(HOME)
    other.step(HOME)
    np.testing.assert_array_equal(plant.q, other.q)
