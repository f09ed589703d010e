"""The MuJoCo plant against the model, its brake, and the simulation around both."""

import re
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from arms import MIXED, SHIPPED, load_arm

from arm_dynamics import ArmError, JointLimitError, RobotModel
from arm_dynamics.inverse_kinematics import solve_ik
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf, robot_names
from arm_lab.published.motion_model_plant import MotionModelParameters, MotionModelPlant
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.brake import Brake
from arm_sim.simulation.divergence import PhysicsDivergedError
from arm_sim.simulation.limits import Limits
from arm_sim.simulation.model_check import MODEL_TOLERANCE, check_model
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, PlantParameters, plant_class
from arm_sim.simulation.simulation import Simulation

UR5E = RobotModel.from_urdf(find_urdf('ur5e'), armature=0.1)
POSTURE = np.array([-1.5, -1.5, 1.5, -1.5, -1.5, 0.0])
SERVO = PlantParameters(
    servo_kp=(2000.0,) * 3 + (500.0,) * 3, servo_kd=(400.0,) * 3 + (100.0,) * 3
)
TORQUE = replace(SERVO, actuator='torque')


@pytest.mark.parametrize('robot', [*robot_names(), MIXED])
def test_plant_and_model_have_the_same_mass_matrix_and_bias(robot):
    urdf = robot if robot == MIXED else find_urdf(robot)
    model = RobotModel.from_urdf(urdf, armature=0.05, damping=0.3, friction=0.2)
    plant = MujocoPlant(model, PlantParameters())
    assert check_model(plant, model, samples=20, seed=1) < MODEL_TOLERANCE


@pytest.mark.parametrize('name', [*SHIPPED, 'with slides', 'Panda', 'UR5 gripper', 'Talos arm'])
def test_dense_and_sparse_jacobians_agree_and_plants_take_the_dense_one(name):
    arm = load_arm(name)
    model = RobotModel(arm.urdf, arm.tip_frame, friction=0.3)
    plant = MujocoPlant(model, PlantParameters(actuator='torque'))
    option, rng = plant.mj_model.opt, np.random.default_rng(0)
    assert option.jacobian == mujoco.mjtJacobian.mjJAC_DENSE
    lower, upper = np.clip([model.position_lower, model.position_upper], -3.2, 3.2)
    for _ in range(20):
        q = rng.uniform(lower - 0.05, upper + 0.05)  # limits and friction are constraints
        v, tau = rng.normal(size=(2, model.nv))
        a = []
        for kind in (mujoco.mjtJacobian.mjJAC_DENSE, mujoco.mjtJacobian.mjJAC_SPARSE):
            option.jacobian = kind
            plant.reset(q, v)
            plant.mj_data.ctrl[:] = tau
            mujoco.mj_forward(plant.mj_model, plant.mj_data)
            a.append(plant.mj_data.qacc.copy())
        np.testing.assert_allclose(a[1], a[0], rtol=1e-11, atol=1e-11 * np.abs(a[0]).max())


@pytest.mark.parametrize('robot', robot_names())
def test_every_arm_can_be_seen_in_the_viewer(robot):
    model = RobotModel.from_urdf(find_urdf(robot))
    shapes = MujocoPlant(model, PlantParameters()).mj_model.body_geomnum
    assert shapes[1:].sum() == model.urdf.count('<visual>')


def test_a_plant_that_differs_from_the_model_is_refused_with_the_joint():
    heavier = UR5E.urdf.replace('<mass value="2.846"/>', '<mass value="2.847"/>')
    assert heavier != UR5E.urdf
    plant = MujocoPlant(RobotModel.from_urdf(heavier, armature=0.1), SERVO)
    with pytest.raises(ArmError, match=r"joint '\w+': mass matrix .* must agree to 1e-09"):
        check_model(plant, UR5E)


@pytest.mark.parametrize('quantity', ['mass_matrix', 'bias_torque'])
def test_difference_of_plant_and_model_is_reported_relative_to_the_largest_entry(
    quantity, monkeypatch
):
    plant = MujocoPlant(UR5E, SERVO)
    right = getattr(plant, quantity)
    wrong = np.zeros(6)
    wrong[3] = 4e-10
    monkeypatch.setattr(plant, quantity, lambda: right() + wrong)
    message = check_model(plant, UR5E, samples=1)
    size = np.abs(right()).max()
    assert size > 1.1
    np.testing.assert_allclose(message, 4e-10 / size, rtol=1e-3)


@pytest.mark.parametrize(
    ('fact', 'says'),
    [('armature', 'mass matrix'), ('damping', 'damping'), ('friction', 'Coulomb friction')],
)
@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
def test_a_plant_with_other_joints_than_the_model_is_refused(engine, fact, says):
    other = with_error(UR5E, ModelError(**{fact: (0.0, 0.0, 0.4, 0.0, 0.0, 0.0)}))
    plant = plant_class(engine)(other, SERVO)
    assert check_model(plant, other) < MODEL_TOLERANCE
    with pytest.raises(
        ArmError, match=f"joint 'elbow_joint': {says} .* of the plant is [0-9.]+, of the c"
    ):
        check_model(plant, UR5E)


def test_torque_command_gives_the_models_acceleration():
    plant = MujocoPlant(UR5E, replace(TORQUE, timestep=1e-6))
    q, v = POSTURE, np.array([0.3, -0.2, 0.1, 0.4, -0.5, 0.6])
    tau = np.array([5.0, -40.0, 20.0, 2.0, 1.0, 0.5])
    plant.reset(q, v)
    plant.step(tau)
    np.testing.assert_allclose(
        (plant.v - v) / 1e-6, UR5E.forward_dynamics(q, v, tau), rtol=1e-4, atol=1e-3
    )
    np.testing.assert_allclose(plant.effort, tau, atol=1e-12)


def test_a_wrench_on_a_frame_accelerates_as_the_model_says():
    plant = MujocoPlant(UR5E, replace(TORQUE, timestep=1e-6))
    wrench = np.array([10.0, -5.0, 3.0, 0.5, 0.2, -0.1])
    plant.reset(POSTURE)
    plant.apply_wrench('tool0', wrench)
    plant.step(np.zeros(6))
    expected = UR5E.forward_dynamics(POSTURE, np.zeros(6), np.zeros(6), {'tool0': wrench})
    np.testing.assert_allclose(plant.v / 1e-6, expected, rtol=1e-4)
    plant.apply_wrench('tool0', np.zeros(6))
    plant.reset(POSTURE)
    plant.step(np.zeros(6))
    free = UR5E.forward_dynamics(POSTURE, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(plant.v / 1e-6, free, rtol=1e-4)


def test_effort_limits_are_enforced():
    plant = MujocoPlant(UR5E, TORQUE)
    plant.reset(POSTURE)
    plant.step(np.full(6, 1000.0))
    np.testing.assert_allclose(plant.effort, UR5E.effort_limit, atol=1e-12)
    free = MujocoPlant(UR5E, replace(TORQUE, effort_limits=False))
    free.reset(POSTURE)
    free.step(np.full(6, 1000.0))
    np.testing.assert_allclose(free.effort, 1000.0, atol=1e-9)


def test_servo_holds_with_the_droop_of_gravity_over_stiffness():
    plant = MujocoPlant(UR5E, SERVO)
    plant.reset(POSTURE)
    for _ in range(3000):
        plant.step(POSTURE)
    droop = UR5E.gravity_torque(plant.q) / np.array(SERVO.servo_kp)
    np.testing.assert_allclose(POSTURE - plant.q, droop, atol=1e-9)


@pytest.mark.parametrize('parameters', [SERVO, TORQUE])
def test_brake_stops_the_arm_exponentially_and_holds_it(parameters):
    plant = MujocoPlant(UR5E, parameters)
    v = np.array([1.0, 0.5, -0.5, 1.0, 1.0, 1.0])
    plant.reset(POSTURE, v)
    brake = Brake(UR5E, parameters)
    brake.start(plant.q, plant.v)
    for _ in range(1500):
        plant.step(brake.command(plant.q, plant.v))
    np.testing.assert_allclose(plant.v, 0.0, atol=1e-6)
    np.testing.assert_allclose(plant.q - POSTURE, v / 10.0, atol=1e-5)


@pytest.mark.parametrize('parameters', [SERVO, TORQUE])
def test_brake_commands_the_torque_of_a_decaying_speed_within_its_limits(parameters):
    rng = np.random.default_rng(5)
    brake = Brake(UR5E, parameters)
    for speed in (0.3, 3.0):  # the second asks for more than there is
        q, v = rng.uniform(-1.0, 1.0, 6), rng.uniform(-speed, speed, 6)
        brake.start(q, v)
        hold = q + v / 10.0
        q, v = q + 0.01, v - 0.02
        a = 100.0 * (hold - q) - 20.0 * v
        torque = np.clip(UR5E.inverse_dynamics(q, v, a), -UR5E.effort_limit, UR5E.effort_limit)
        command = brake.command(q, v)
        if parameters is SERVO:  # what the drive makes of it
            kp, kd = parameters.servo_gains(UR5E)
            command = kp * (command - q) - kd * v
        np.testing.assert_allclose(command, torque, rtol=1e-9, atol=1e-9)
    brake.start(UR5E.position_upper - 0.1, np.full(6, 3.0))  # 0.3 rad farther is beyond
    at_the_limit = brake.command(UR5E.position_upper, np.zeros(6))
    brake.start(UR5E.position_upper, np.zeros(6))
    np.testing.assert_array_equal(at_the_limit, brake.command(UR5E.position_upper, np.zeros(6)))


def make_simulation(parameters=TORQUE) -> Simulation:
    return Simulation(MujocoPlant(UR5E, parameters), UR5E, POSTURE)


def test_without_a_command_a_torque_driven_arm_does_not_fall():
    simulation = make_simulation()
    for _ in range(1000):
        simulation.advance(None)
    assert simulation.braking
    np.testing.assert_allclose(simulation.plant.q, POSTURE, atol=1e-9)


def test_a_simulation_counts_its_periods_and_those_at_an_effort_limit():
    simulation = make_simulation()
    hold = UR5E.gravity_torque(POSTURE)
    limit = hold.copy()
    limit[5] = UR5E.effort_limit[5]
    commands = (None, hold, limit, hold, -limit, None)
    for command in commands:
        simulation.advance(command)
        assert simulation.braking == (command is None)
    assert simulation.steps == 6
    assert simulation.time_ns == 6 * simulation.period_ns
    assert simulation.saturated == 2
    simulation.reset()
    assert (simulation.steps, simulation.time_ns, simulation.saturated) == (0, 0, 0)


@pytest.mark.parametrize(
    ('speed', 'rests'), [(0.00099, True), (0.00101, False), (-0.00101, False)]
)
def test_an_arm_is_at_rest_below_a_milliradian_per_second(speed, rests):
    simulation = make_simulation()
    simulation.plant.reset(POSTURE, np.array([0.0, 0.0, speed, 0.0, 0.0, 0.0]))
    assert simulation.at_rest is rests


def test_a_wrench_of_the_limits_themselves_is_taken():
    simulation = make_simulation()
    simulation.push('tool0', [0.0, 1000.0, 0.0, 600.0, 800.0, 0.0], 3600 * 10**9)
    with pytest.raises(ArmError, match=r'has a force of 1000\.1 N; allowed'):
        simulation.push('tool0', [0.0, 1000.1, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(ArmError, match=r'has a torque of 1000\.1 N\.m; allowed'):
        simulation.push('tool0', [0.0, 0.0, 0.0, 0.0, 1000.1, 0.0])
    with pytest.raises(ArmError, match='stamped 3601 s ahead'):
        simulation.push('tool0', np.ones(6), 3601 * 10**9)


def test_force_and_torque_of_a_wrench_turn_with_its_frame():
    for turned in (np.array([0.0, 0.0, 0.0, 5.0, 0.0, 0.0]), np.array([0, 5.0, 0, 0, 0, 2.0])):
        one, other = make_simulation(), make_simulation()
        rotation = UR5E.forward_kinematics(POSTURE).rotation
        one.push('tool0', turned)
        in_base = np.concatenate([rotation @ turned[:3], rotation @ turned[3:]])
        other.plant.apply_wrench('tool0', in_base)
        for simulation in (one, other):
            simulation.advance(np.zeros(6))
        np.testing.assert_allclose(one.plant.v, other.plant.v, rtol=1e-12, atol=1e-15)


def test_a_lost_controller_is_followed_by_the_brake():
    simulation = make_simulation()
    for _ in range(100):
        simulation.advance(UR5E.gravity_torque(simulation.plant.q) + np.full(6, 3.0))
    assert not simulation.at_rest
    for _ in range(1500):
        simulation.advance(None)
    assert simulation.at_rest
    at_rest = simulation.plant.q.copy()
    for _ in range(500):
        simulation.advance(None)
    np.testing.assert_allclose(simulation.plant.q, at_rest, atol=1e-6)


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_a_command_that_is_not_finite_moves_nothing(value):
    simulation = make_simulation()
    command = np.zeros(6)
    command[2] = value
    with pytest.raises(ArmError, match=r"'elbow_joint': effort command .* not a finite number"):
        simulation.advance(command)
    assert simulation.time_ns == 0
    np.testing.assert_array_equal(simulation.plant.q, POSTURE)


def test_physics_that_diverges_logs_it_and_reset_recovers():
    wild = replace(SERVO, timestep=0.05, integrator='euler', servo_kp=(1e7,), servo_kd=(0.0,))
    simulation = make_simulation(replace(wild, effort_limits=False))

    def run_away() -> None:
        for _ in range(2000):
            simulation.advance(POSTURE + 1.0)

    with pytest.raises(PhysicsDivergedError, match=r'physics diverged at t = .*reduce timestep'):
        run_away()
    simulation.reset()
    assert np.isfinite(simulation.plant.q).all()
    assert simulation.time_ns == 0


@pytest.mark.parametrize(
    ('push', 'command', 'says'),
    [
        (1e9, 0.0, "reduce external_wrench on 'wrist_3_link', then reset"),
        (0.0, 1e9, r"a command asked for 1e\+09 of '.*', then reset"),
    ],
)
def test_physics_that_diverges_says_whether_a_push_or_a_command_is_to_blame(push, command, says):
    simulation = make_simulation(replace(TORQUE, effort_limits=False))
    simulation.set_limits(Limits(wrench_force_limit=1e12))
    simulation.push('wrist_3_link', [push, 0, 0, 0, 0, 0])

    def run_away() -> None:
        for _ in range(100):
            simulation.advance(np.full(6, command))

    with pytest.raises(PhysicsDivergedError, match=says):
        run_away()


def test_two_runs_are_the_same_bit_for_bit():
    states = []
    for _ in range(2):
        simulation = make_simulation(SERVO)
        for k in range(200):
            simulation.advance(POSTURE + 0.1 * np.sin(0.01 * k))
        states.append((simulation.plant.q.tobytes(), simulation.plant.v.tobytes()))
    assert states[0] == states[1]


def test_control_decimation_is_that_many_steps():
    once = make_simulation(replace(SERVO, control_decimation=4))
    each = make_simulation(SERVO)
    once.advance(POSTURE + 0.1)
    for _ in range(4):
        each.advance(POSTURE + 0.1)
    assert once.time_ns == each.time_ns == 8_000_000
    np.testing.assert_array_equal(once.plant.q, each.plant.q)


def test_an_initial_position_beyond_the_limits_is_refused():
    with pytest.raises(JointLimitError, match="'elbow_joint': position 4 rad"):
        Simulation(MujocoPlant(UR5E, SERVO), UR5E, [0, 0, 4.0, 0, 0, 0])


def test_reset_returns_to_the_initial_velocities():
    moving = np.linspace(0.1, 0.6, 6)
    simulation = Simulation(MujocoPlant(UR5E, TORQUE), UR5E, POSTURE, moving)
    for _ in range(2):
        np.testing.assert_array_equal(simulation.plant.v, moving)
        simulation.advance(np.zeros(6))
        simulation.reset()


@pytest.mark.parametrize(
    ('velocities', 'says'),
    [
        (np.full(6, 4.0), "'shoulder_pan_joint': velocity 4 rad/s is above its upper limit 3.14"),
        (np.zeros(5), r'initial_velocities has shape \(5,\); it must be \(6,\)'),
        (np.full(6, np.nan), r'initial_velocities\[0\] is nan; it must be finite'),
    ],
)
def test_an_impossible_initial_velocity_is_refused(velocities, says):
    with pytest.raises(ArmError, match=says):
        Simulation(MujocoPlant(UR5E, SERVO), UR5E, POSTURE, velocities)


def test_a_wrench_with_a_stamp_acts_from_that_time_on_in_the_axes_of_its_frame():
    early, late = make_simulation(), make_simulation()
    tip = UR5E.forward_kinematics(POSTURE)
    late.push('tool0', np.zeros(6), 10_000_000)  # the last is sent first
    late.push('tool0', np.concatenate([tip.rotation.T @ [0.0, 20.0, 0.0], np.zeros(3)]), 6_000_000)
    hold = UR5E.gravity_torque(POSTURE)
    for k in range(8):
        if k == 3:
            early.plant.apply_wrench('tool0', [0.0, 20.0, 0.0, 0.0, 0.0, 0.0])
        if k == 5:
            early.plant.apply_wrench('tool0', np.zeros(6))
        for simulation in (early, late):
            simulation.advance(hold)
        np.testing.assert_allclose(late.plant.v, early.plant.v, rtol=1e-12, atol=1e-15)
    assert np.abs(late.plant.v).max() > 1e-3
    late.push('tool0', np.ones(6), 100_000_000)
    late.reset()
    for _ in range(100):
        late.advance(hold)
    np.testing.assert_allclose(late.plant.v, 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ('wrench', 'frame', 'time_ns', 'says'),
    [
        ([np.nan] * 6, 'tool0', 0, r'external_wrench\[0\] is nan; it must be finite'),
        (np.ones(6), 'nose', 0, "no frame 'nose'"),
        (np.ones(6), 'tool0', 10**18, 'stamped 1e.09 s ahead of simulated time; allowed: 3600 s'),
    ],
)
def test_an_impossible_wrench_is_refused(wrench, frame, time_ns, says):
    with pytest.raises(ArmError, match=says):
        make_simulation().push(frame, wrench, time_ns)


@pytest.mark.parametrize(
    ('wrench', 'says'),
    [
        ([0, 0, 1001, 0, 0, 0], r'a force of 1001 N; allowed: wrench_force_limit = 1000 N'),
        ([800, 800, 0, 0, 0, 0], r'a force of 1131.37 N'),
        ([0, 0, 0, 0, -1001, 0], r'a torque of 1001 N.m; allowed: wrench_torque_limit = 1000 N.m'),
    ],
)
def test_a_wrench_beyond_its_limit_is_refused_now_and_later_and_pushes_nothing(wrench, says):
    simulation = make_simulation()
    for time_ns in (0, 1_000_000_000):
        with pytest.raises(ArmError, match=says):
            simulation.push('tool0', wrench, time_ns)
    for _ in range(600):
        simulation.advance(None)
    np.testing.assert_allclose(simulation.plant.q, POSTURE, atol=1e-9)
    simulation.set_limits(Limits(wrench_force_limit=2000.0, wrench_torque_limit=2000.0))
    simulation.push('tool0', wrench)
    simulation.advance(None)
    assert simulation.plant.wrenches


def test_only_a_limited_number_of_wrenches_may_wait_for_their_stamp():
    simulation = make_simulation()
    simulation.set_limits(Limits(waiting_wrenches_limit=3))
    for k in range(3):
        simulation.push('tool0', np.ones(6), (9 - k) * 2_000_000)
    with pytest.raises(
        ArmError, match='external_wrench: 3 messages wait for their stamp; allowed: '
    ):
        simulation.push('tool0', np.ones(6), 1_000_000_000)
    simulation.push('tool0', np.zeros(6))  # at once: it does not wait
    for _ in range(10):
        simulation.advance(None)
    simulation.push('tool0', np.ones(6), 1_000_000_000)


# Speed


@pytest.mark.quick(1)
@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
@pytest.mark.parametrize('parameters', [SERVO, TORQUE])
@pytest.mark.parametrize('factor', [1.0, 2.0])
def test_no_command_drives_a_joint_far_beyond_its_speed_limit(engine, parameters, factor):
    sign = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    wild = sign * (UR5E.effort_limit if parameters is TORQUE else 1e3)
    plant = plant_class(engine)(UR5E, parameters)
    limits = Limits(speed_limit_factor=factor)
    simulation = Simulation(plant, UR5E, POSTURE, limits=limits)
    fastest, notices = 0.0, []
    for _ in range(1000):
        simulation.advance(wild)
        fastest = max(fastest, np.max(np.abs(simulation.plant.v) / UR5E.velocity_limit))
        notices += filter(None, [simulation.guard.notice])
        simulation.guard.notice = ''
    assert 0.99 * factor < fastest < factor + 1.0  # what a period's torque adds
    assert len(notices) == 1
    assert re.search(f'speed .* is beyond {factor:g} times its limit 3.14', notices[0])
    assert simulation.guard.samples > 10
    assert not simulation.braking
    for _ in range(2000):
        simulation.advance(None)
    assert simulation.at_rest


@pytest.mark.slow
def test_another_plant_goes_on_with_state_wrench_and_hold_point_and_stays_after_a_reset():
    simulation = make_simulation(SERVO)
    simulation.push('tool0', [0, 0, -20.0, 0, 0, 0])
    for _ in range(2000):
        simulation.advance(None)
    pushed, state = simulation.plant.wrenches, simulation.plant.q.copy()
    loaded = with_error(UR5E, ModelError(payload=2.0))
    simulation.replace(MujocoPlant(loaded, replace(SERVO, servo_kp=(4000.0,))))
    np.testing.assert_array_equal(simulation.plant.q, state)
    np.testing.assert_array_equal(simulation.plant.wrenches['tool0'], pushed['tool0'])
    simulation.push('tool0', np.zeros(6))
    for _ in range(2000):
        simulation.advance(None)
    assert simulation.at_rest
    np.testing.assert_allclose(simulation.plant.q, POSTURE, atol=0.1)  # the brake knows no load
    simulation.reset()
    assert simulation.plant.parameters.servo_kp == (4000.0,)


def test_the_brake_holds_the_arm_where_the_servos_have_got_other_gains():
    simulation = make_simulation(SERVO)
    simulation.replace(MujocoPlant(UR5E, replace(SERVO, servo_kp=(4000.0,))))
    for _ in range(500):
        simulation.advance(None)
    np.testing.assert_allclose(simulation.plant.q, POSTURE, atol=1e-5)


@pytest.mark.parametrize('kind', ['computed_torque', 'independent_joint'])
def test_a_motion_model_that_is_sent_far_away_gets_there_within_twice_its_speed_limits(kind):
    plant = MotionModelPlant(UR5E, MotionModelParameters(motion_type=kind))
    simulation = Simulation(plant, UR5E, POSTURE)
    target, fastest = POSTURE + np.array([3.0, -1.0, 1.0, 1.0, 1.0, 3.0]), 0.0
    for _ in range(1500):
        simulation.advance(target)
        fastest = max(fastest, np.max(np.abs(plant.v) / UR5E.velocity_limit))
    assert fastest < 3.0
    assert simulation.guard.samples
    np.testing.assert_allclose(plant.q, target, atol=1e-6)


def test_without_a_speed_limit_factor_commands_are_obeyed():
    simulation = make_simulation()
    simulation.set_limits(Limits(speed_limit_factor=0.0))
    fastest = 0.0
    for _ in range(500):
        simulation.advance(UR5E.effort_limit)
        fastest = max(fastest, np.max(np.abs(simulation.plant.v) / UR5E.velocity_limit))
    assert fastest > 3.0
    assert simulation.guard.samples == 0
    assert not simulation.guard.notice


def test_within_the_speed_limits_of_all_joints_at_once_nothing_is_braked():
    simulation = Simulation(MujocoPlant(UR5E, TORQUE), UR5E, POSTURE, UR5E.velocity_limit)
    simulation.set_limits(Limits(speed_limit_factor=1.05))
    q, v = simulation.plant.q, simulation.plant.v
    for _ in range(100):
        simulation.advance(UR5E.inverse_dynamics(q, v, np.zeros(6)))
    assert simulation.guard.samples == 0


def test_a_payload_falls_off_at_its_time_and_is_back_after_a_reset():
    loaded = with_error(UR5E, ModelError(payload=2.0))
    swap = (20_000_000, MujocoPlant(UR5E, TORQUE))
    simulation = Simulation(MujocoPlant(loaded, TORQUE), UR5E, POSTURE, swap=swap)
    for _ in range(2):
        for _ in range(10):
            simulation.advance(loaded.gravity_torque(POSTURE))
        np.testing.assert_allclose(simulation.plant.v, 0.0, atol=1e-9)
        simulation.advance(loaded.gravity_torque(POSTURE))
        assert np.abs(simulation.plant.v).max() > 1e-3  # the same torque lifts the lighter arm
        simulation.reset()


@pytest.mark.parametrize(
    ('change', 'says'),
    [
        ({'actuator': 'steam'}, "actuator is 'steam'; allowed: servo"),
        ({'timestep': 0.0}, 'timestep is 0'),
        ({'timestep': 1.0000005e-3}, 'whole number of nanoseconds'),
        ({'control_decimation': 0}, 'control_decimation is 0'),
        ({'servo_kp': (0.0,)}, "servo_kp of joint 'shoulder_pan_joint' is 0"),
        ({'servo_kd': (1.0, 2.0)}, r'servo_kd has 2 values; allowed: 1 or one per joint \(6\)'),
        ({'integrator': 'magic'}, "'magic'; allowed: continuous, euler"),
    ],
)
def test_bad_plant_parameters_are_refused_in_one_line(change, says):
    with pytest.raises(ArmError, match=says):
        MujocoPlant(UR5E, replace(SERVO, **change))


def press(contacts: bool) -> tuple[MujocoPlant, float, float]:
    """Servos ask for a place 5 cm in a table; return the plant, and the tip above the table's top.

    That is the lowest and the last one [m].
    """
    pose = UR5E.forward_kinematics(POSTURE).copy()
    x, y, z = pose.translation
    top = z - 0.03
    table = (x, y, top - 0.05, 0.4, 0.4, 0.1)
    plant = MujocoPlant(UR5E, replace(SERVO, table=table, contacts=contacts))
    pose.translation[2] = top - 0.05
    step = solve_ik(UR5E, pose, POSTURE).q - POSTURE
    plant.reset(POSTURE)
    heights = []
    for i in range(2000):
        plant.step(POSTURE + step * min(1.0, i / 1000))
        heights.append(UR5E.forward_kinematics(plant.q).translation[2] - top)
    return plant, min(heights), heights[-1]


@pytest.mark.slow
def test_with_contacts_the_tip_stays_on_the_table_and_the_joints_carry_the_push():
    plant, lowest, last = press(contacts=True)
    assert lowest > -1e-3  # MuJoCo's contacts are soft
    assert abs(last) < 1e-3
    force, local = np.zeros(3), np.zeros(6)
    for i in range(plant.mj_data.ncon):
        mujoco.mj_contactForce(plant.mj_model, plant.mj_data, i, local)
        force -= plant.mj_data.contact[i].frame.reshape(3, 3).T @ local[:3]
    assert force[2] > 100.0
    wrench = np.linalg.solve(UR5E.jacobian(plant.q).T, UR5E.gravity_torque(plant.q) - plant.effort)
    np.testing.assert_allclose(wrench[:3], force, atol=1.0)  # it creeps to rest


def test_without_contacts_the_tip_goes_through_the_table():
    plant, _, last = press(contacts=False)
    assert plant.mj_data.ncon == 0
    assert last < -0.03


def test_a_table_or_contacts_out_of_reach_change_no_bit():
    def end(**given) -> np.ndarray:
        # Contacts are integrated in steps of implicitfast.
        plant = MujocoPlant(UR5E, replace(SERVO, integrator='implicitfast', **given))
        plant.reset(POSTURE)
        for _ in range(200):
            plant.step(POSTURE + 0.1)
        return np.array([plant.q, plant.v, plant.effort])

    for given in ({'table': (9.0, 9.0, 0.5, 1.0, 1.0, 1.0)}, {'contacts': True}, {'floor': False}):
        np.testing.assert_array_equal(end(**given), end())


@pytest.mark.parametrize('engine', ['analytical', 'motion_model'])
def test_an_engine_without_contacts_refuses_them(engine):
    with pytest.raises(ArmError, match='contacts is true; only engine mujoco has contacts'):
        plant_class(engine)(UR5E, PlantParameters(contacts=True))
