"""The published five-joint arm: its numbers, its step, and what it refuses."""

import numpy as np
import pytest
from five_joint_reference import reference_step
from numpy.testing import assert_allclose

from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import ForwardModel, ForwardModelParameters
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_lab.published.five_joint_arm import (
    ACCELERATION,
    MOTORS,
    POSITION,
    PREVIOUS_VELOCITY,
    STICTION,
    TIP,
    VELOCITY,
    FiveJointArm,
)
from arm_sim.robot import Robot
from arm_sim.simulation.driving_laws import check_law

TARGET = np.array([0.0, -1.1, 0.3, 0.0, 0.0])
STEP = 1e-4

# The published table's cylinders: mass [kg], radius, height [m], axis, offset of the centre [m].
CYLINDERS = (
    ((3.0, 0.085, 0.3, 'z', (0, 0, 0)), (1.5, 0.05, 0.14, 'y', (0.085, 0, 0))),
    ((1.0, 0.05, 0.38, 'x', (0.19, 0, 0)), (1.0, 0.04, 0.1, 'z', (0.38, 0, 0))),
    ((1.0, 0.04, 0.425, 'y', (0, 0.2125, 0)),),
    ((0.3, 0.02, 0.1, 'y', (0, 0, 0)),),
    ((0.2, 0.01, 0.085, 'y', (0, 0.0425, 0)),),
)


@pytest.fixture(scope='module')
def arm():
    return FiveJointArm()


def random_state(arm, rng):
    state = arm.initial_state(rng.uniform(-1.0, 1.0, 5))
    state[VELOCITY] = rng.normal(size=5)
    state[ACCELERATION] = rng.normal(size=5)
    state[PREVIOUS_VELOCITY] = rng.normal(size=5)
    state[STICTION] = rng.integers(0, 2, 5)
    return state


def test_tip_at_the_published_pose(arm):
    assert_allclose(arm.tip_position(TARGET), [0.63397847, 0.0, 0.32288777], atol=5e-9)


def test_holding_torques_at_the_published_pose(arm):
    torque = arm.model.gravity_torque(TARGET)
    assert_allclose(torque[[1, 2, 4]], [-8.123400484, -3.050653620, -0.059816738], atol=5e-10)
    assert_allclose(torque[[0, 3]], 0.0, atol=1e-15)


def test_urdf_has_the_inertias_of_the_published_cylinders(arm):
    for link, parts in enumerate(CYLINDERS):
        mass, moment, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        for m, radius, height, axis, offset in parts:
            along = np.eye(3)['xyz'.index(axis)]
            across = m / 12.0 * (3.0 * radius**2 + height**2)
            solid = across * np.eye(3)
            solid += (0.5 * m * radius**2 - across) * np.outer(along, along)
            c = np.array(offset)
            inertia += solid + m * (c @ c * np.eye(3) - np.outer(c, c))
            mass, moment = mass + m, moment + m * c
        body = arm.model.pin_model.inertias[link + 1]
        com = moment / mass
        at_com = inertia - mass * (com @ com * np.eye(3) - np.outer(com, com))
        assert_allclose(body.mass, mass, rtol=1e-14)
        assert_allclose(body.lever, com, atol=1e-15)
        assert_allclose(body.inertia, at_com, atol=1e-15)


def test_compiled_step_equals_the_plain_one(arm):
    rng = np.random.default_rng(3)
    for _ in range(20):
        state = plain = random_state(arm, rng)
        for _ in range(20):
            voltages = rng.normal(0.0, 5.0, 5)
            state = arm.step(state, voltages, STEP)
            plain = reference_step(arm.model, plain, voltages, STEP)
            assert_allclose(state, plain, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize('moves', [True, False])
def test_a_stopped_joint_without_voltage_stays_unless_others_move(arm, moves):
    state = arm.initial_state(TARGET)
    state[VELOCITY] = [0.3 * moves, 0.2, -0.4 * moves, 0.0, 0.0]
    state[PREVIOUS_VELOCITY] = [0.3 * moves, -0.1, -0.4 * moves, 0.0, 0.0]
    after = arm.step(state, np.zeros(5), STEP)
    assert after[STICTION][1] == (not moves)
    plain = reference_step(arm.model, state, np.zeros(5), STEP)
    assert_allclose(after, plain, rtol=1e-10, atol=1e-10)


def test_position_and_velocity_move_with_the_old_velocity_and_acceleration(arm):
    state = random_state(arm, np.random.default_rng(0))
    state[PREVIOUS_VELOCITY] = state[VELOCITY]
    after = arm.step(state, np.zeros(5), STEP)
    assert_allclose(after[POSITION], state[POSITION] + STEP * state[VELOCITY], rtol=1e-15)
    assert_allclose(after[VELOCITY], state[VELOCITY] + STEP * state[ACCELERATION], rtol=1e-15)
    assert_allclose(after[TIP], arm.tip_position(after[POSITION]), atol=1e-15)


def test_first_step_from_rest_does_not_move_and_finds_the_acceleration(arm):
    after = arm.step(arm.initial_state(TARGET), np.zeros(5), STEP)
    assert_allclose(after[POSITION], TARGET)
    assert_allclose(after[VELOCITY], 0.0)
    free_fall = arm.model.forward_dynamics(TARGET, np.zeros(5), np.zeros(5))
    assert_allclose(after[ACCELERATION], free_fall, rtol=1e-10, atol=1e-10)


def test_velocity_against_the_previous_one_is_stopped(arm):
    state = arm.initial_state(TARGET)
    state[VELOCITY] = [0.0, 0.2, 0.0, 0.0, 0.0]
    state[PREVIOUS_VELOCITY] = [0.0, -0.1, 0.0, 0.0, 0.0]
    after = arm.step(state, [0.0, 1.0, 0.0, 0.0, 0.0], STEP)
    assert after[VELOCITY][1] == 0.0
    assert after[STICTION][1] == 0.0
    assert after[ACCELERATION][1] != 0.0


@pytest.mark.parametrize(
    ('change', 'limits', 'says'),
    [
        (
            {'friction': 0.3},
            False,
            "friction is .*'lagged_euler' has none, as published: set it to 0",
        ),
        (
            {'damping': 0.1},
            False,
            "damping is .*'lagged_euler' has none, as published: set it to 0",
        ),
        ({}, True, "effort_limits is true; integrator 'lagged_euler' has none"),
    ],
)
def test_what_the_published_step_does_not_have_is_refused(change, limits, says):
    model = RobotModel.from_urdf(find_urdf('five_joint_arm'), tip_frame='tip', **change)
    parameters = ForwardModelParameters(
        actuator='voltage', integrator='lagged_euler', motors=MOTORS, effort_limits=limits
    )
    with pytest.raises(ArmError, match=says):
        ForwardModel(model, parameters)


def test_a_flagged_joint_without_any_torque_does_not_accelerate(arm):
    # Gravity is no torque here: it enters, as in the original, as an acceleration of the base.
    state = arm.initial_state(TARGET)
    state[STICTION] = 1.0
    held = arm.step(state, np.zeros(5), STEP)
    assert_allclose(held[ACCELERATION], 0.0)
    assert_allclose(held[STICTION], 1.0)
    freed = arm.step(held, [0.0, 0.0, 0.0, 0.0, 1.0], STEP)
    assert freed[STICTION].tolist() != held[STICTION].tolist()


def test_limit_torque_acts_twice_and_not_at_r5(arm):
    q = np.array([0.0, 0.8, 0.0, 0.0, 1.3])
    after = arm.step(arm.initial_state(q), np.zeros(5), STEP)
    torque = np.array([0.0, 2.0 * 50.0 * (0.7 - 0.8), 0.0, 0.0, 0.0])
    expected = arm.model.forward_dynamics(q, np.zeros(5), torque)
    assert_allclose(after[ACCELERATION], expected, rtol=1e-9, atol=1e-9)


def test_back_emf_brakes_an_arm_that_falls_without_voltage(arm):
    after = arm.run(arm.initial_state(TARGET), np.zeros((2000, 5)), STEP)
    free_fall = arm.model.forward_dynamics(TARGET, np.zeros(5), np.zeros(5))
    assert 0.0 < after[VELOCITY][1] < 0.1
    assert free_fall[1] * 2000 * STEP > 1.0


def test_a_run_is_its_steps_to_the_last_bit_and_nothing_is_remembered(arm):
    rng = np.random.default_rng(1)
    voltages = rng.normal(0.0, 3.0, (50, 5))
    start = random_state(arm, rng)
    state = start
    for row in voltages:
        state = arm.step(state, row, STEP)
        arm.step(random_state(arm, rng), row, STEP)
    np.testing.assert_array_equal(arm.run(start, voltages, STEP), state)


@pytest.mark.parametrize(
    ('change', 'says'),
    [
        ({'state': np.zeros(27)}, r'state has shape \(27,\); it must be \(28,\)'),
        ({'state': np.full(28, np.nan)}, r'state\[0\] is nan; it must be finite'),
        ({'state': np.full(28, 0.5)}, r'stiction flags are .*; allowed: 0 and 1'),
        ({'voltages': np.zeros(4)}, r'voltages has shape \(4,\); it must be \(5,\)'),
        ({'voltages': [0, np.inf, 0, 0, 0]}, r'voltages\[1\] is inf; it must be finite'),
        ({'dt': 0.0}, 'time step is 0 s; it must be finite and > 0'),
        ({'dt': -1e-4}, 'time step is -0.0001 s; it must be finite and > 0'),
        ({'dt': float('nan')}, 'time step is nan s; it must be finite and > 0'),
        ({'dt': 1e-3}, 'time step 0.001 s is not stable .* at most 0.000547 s'),
    ],
)
def test_bad_input_is_refused_in_one_line(arm, change, says):
    given = {'state': np.zeros(28), 'voltages': np.zeros(5), 'dt': STEP} | change
    with pytest.raises(ArmError, match=says) as refusal:
        arm.step(given['state'], given['voltages'], given['dt'])
    assert '\n' not in str(refusal.value)


def test_the_largest_stable_step_is_where_the_arm_begins_to_explode(arm):
    # Released at full speed in the stiffest joint, it decays just below and grows well above.
    def speed_after(step):
        state = arm.forward_model.initial_state(TARGET, [0.0, 0.0, 0.0, 1.0, 1.0])
        for _ in range(300):
            state[15:] = 0.0  # no stiction
            arm.forward_model.advance(state, np.zeros(5), step, 1)
        return np.abs(state[5:10]).max()

    assert speed_after(0.95 * arm.largest_step) < 1.0
    assert not speed_after(3.0 * arm.largest_step) < 1e3


def test_the_robots_file_chooses_the_engine_and_a_law_that_cannot_drive_it_is_refused():
    sections = Robot.load('five_joint_arm').parameters('simulator')
    for law in ('pose_p', 'pose_pi', 'pose_pid', 'motor_computed_torque'):
        check_law('five_joint_arm', law, sections)
    with pytest.raises(
        ArmError,
        match=r"controller 'servo' commands position, which the robot 'five_joint_arm' \(engine "
        r'analytical, integrator lagged_euler\) does not take; those that can drive it: '
        r'motor_computed_torque, pose_p, pose_pi, pose_pid$',
    ):
        check_law('five_joint_arm', 'servo', sections)
    with pytest.raises(ArmError, match="'pose_p' commands voltage, .* drive it: .*servo"):
        check_law('ur5e', 'pose_p', {'engine': 'mujoco'})
