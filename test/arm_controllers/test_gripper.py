"""The gripper's servo and the ends of its goals."""

import numpy as np
import pytest

from arm_controllers.gripper import (
    GripperGoal,
    GripperLaw,
    GripperMonitor,
    GripperParameters,
    gripper_goal,
)
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics import ArmError, RobotModel

MASS = 0.5
FINGER = f"""<robot name="finger">
  <link name="base"/>
  <joint name="finger" type="prismatic"><parent link="base"/><child link="pad"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.05" effort="200" velocity="0.2"/></joint>
  <link name="pad"><inertial><mass value="{MASS}"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
</robot>"""
PERIOD = 1e-3


@pytest.fixture(scope='module')
def model():
    return RobotModel(FINGER)


def moved(law, goal, start, seconds, wall=-1.0, period=PERIOD, late=0):
    """Return positions and efforts (k,) of a finger that a rigid wall stops.

    `late`: control periods from a state to the effort that answers it.
    """
    reference = Reference(1)
    reference.q[:], reference.v[:], reference.effort[:] = goal.position, goal[2], goal[1]
    x, v = np.array([start]), np.zeros(1)
    state, found = law.start(Measurement(x, v), reference), []
    waiting = [np.zeros(1)] * late
    for _ in range(round(seconds / period)):
        effort, state = law(state, Measurement(x, v), reference, period)
        waiting.append(effort)
        effort = waiting.pop(0)
        for _ in range(10):
            v = v + effort / MASS * period / 10
            x = x + v * period / 10
        if x < wall:
            x, v = np.array([wall]), np.zeros(1)
        found.append((x[0], effort[0]))
    return np.array(found).T


def test_the_finger_goes_to_its_goal_at_the_largest_speed(model):
    law = GripperLaw(model, GripperParameters(), 'finger')
    x, effort = moved(law, GripperGoal(0.01, 50.0, 0.1), 0.04, 0.6)
    np.testing.assert_allclose(x[-1], 0.01, atol=1e-9)
    np.testing.assert_allclose(np.diff(x)[100:250], -0.1 * PERIOD, rtol=1e-6)
    assert np.abs(effort).max() <= 50.0


@pytest.mark.parametrize(
    ('frequency', 'late', 'shakes'),
    [(200.0, 1, False), (200.0, 2, True), (100.0, 2, False), (100.0, 3, True), (60.0, 3, False)],
)
def test_commands_that_come_late_shake_a_finger_above_a_frequency(model, frequency, late, shakes):
    law = GripperLaw(model, GripperParameters(natural_frequency=frequency), 'finger')
    x, effort = moved(law, GripperGoal(0.01, 60.0, 0.1), 0.04, 3.0, period=2e-3, late=late)
    if shakes:
        assert np.ptp(x[-300:]) > 5e-3
        assert np.abs(effort[-300:]).max() == 60.0
    else:
        assert np.ptp(x[-300:]) < 1e-6


@pytest.mark.parametrize('most', [5.0, 40.0])
def test_a_stalled_finger_presses_with_the_largest_effort_and_opens_without_delay(model, most):
    law = GripperLaw(model, GripperParameters(), 'finger')
    _, effort = moved(law, GripperGoal(0.0, most, 0.1), 0.04, 0.6, wall=0.02)
    np.testing.assert_allclose(effort[-100:], -most, rtol=1e-9)
    state = (np.array([0.02 - most / law.kp]),)
    reference = Reference(1)
    reference.q[:], reference.v[:], reference.effort[:] = 0.04, 0.1, most
    first, _ = law(state, Measurement(np.array([0.02]), np.zeros(1)), reference, PERIOD)
    assert first[0] > -most


def test_a_stalled_finger_presses_with_the_largest_effort_whatever_noise_its_position_has(model):
    law, reference = GripperLaw(model, GripperParameters(), 'finger'), Reference(1)
    reference.q[:], reference.v[:], reference.effort[:] = 0.0, 0.1, 20.0
    rng, state, found = np.random.default_rng(0), (np.array([0.02]),), []
    for noise in 1e-4 * rng.standard_normal((500, 1)):
        measured = Measurement(0.02 + noise, np.zeros(1))
        effort, state = law(state, measured, reference, PERIOD)
        found.append(effort[0])
    assert np.mean(found[-400:]) == pytest.approx(-20.0, rel=1e-2)


def test_one_of_many_grippers_is_one_alone(model):
    law, reference, many = GripperLaw(model, GripperParameters(), 'finger'), Reference(1), 3
    q = np.linspace(0.01, 0.03, many)[:, np.newaxis]
    reference.q[:], reference.v[:], reference.effort[:] = 0.02, 0.1, 10.0
    measured = Measurement(q, np.zeros_like(q))
    together, _ = law(law.start(measured, reference), measured, reference, PERIOD)
    for k in range(many):
        one = Measurement(q[k], np.zeros(1))
        alone, _ = law(law.start(one, reference), one, reference, PERIOD)
        np.testing.assert_array_equal(together[k], alone)


@pytest.mark.parametrize('allowed', [False, True])
def test_a_goal_stalls_after_the_timeout_without_motion(allowed):
    parameters = GripperParameters(allow_stalling=allowed, stall_timeout=0.5)
    monitor = GripperMonitor(parameters, 0.04)
    monitor.set_goal(GripperGoal(0.0, 10.0, 0.1), 0)
    assert monitor.update(200_000_000, 0.03) is None
    assert monitor.update(400_000_000, 0.02) is None
    assert monitor.update(900_000_000, 0.02) is None
    assert monitor.update(900_000_001, 0.02) == (False, True, allowed)
    assert monitor.update(2_000_000_000, 0.02) is None


@pytest.mark.parametrize('noise', [0.0, 1e-5, 1e-4])
@pytest.mark.parametrize('bounce', [0.0, 1e-3])
def test_a_goal_ends_in_finite_time_whatever_the_noise_and_the_bouncing(noise, bounce):
    """Within stall_timeout + distance / stall_velocity_threshold, and not before it stands."""
    p = GripperParameters(goal_tolerance=0.001, stall_timeout=0.1)
    monitor, rng = GripperMonitor(p, 0.04), np.random.default_rng(3)
    monitor.set_goal(GripperGoal(0.0, 10.0, 0.1), 0)
    for k in range(1, 20_000):
        t = 2e-3 * k
        stands = max(0.0, t - 0.2)  # at 20 mm, after 0.1 m/s
        position = 0.04 - 0.1 * min(t, 0.2) + bounce * abs(np.sin(300.0 * stands))
        outcome = monitor.update(round(t * 1e9), position + noise * rng.standard_normal())
        if outcome is not None:
            break
    assert outcome == (False, True, False)
    assert 0.2 < t < 0.6


@pytest.mark.parametrize(('speed', 'moves'), [(0.0009, False), (0.0012, True), (0.05, True)])
def test_a_finger_stalls_below_the_threshold_of_its_speed_and_not_above(speed, moves):
    monitor = GripperMonitor(GripperParameters(goal_tolerance=0.001, stall_timeout=0.1), 0.04)
    monitor.set_goal(GripperGoal(0.0, 10.0, 0.1), 0)
    for k in range(1, 20_000):
        outcome = monitor.update(k * 2_000_000, 0.04 - speed * 2e-3 * k)
        if outcome is not None:
            break
    assert outcome == (moves, not moves, moves)


def test_a_goal_within_the_tolerance_is_reached():
    monitor = GripperMonitor(GripperParameters(goal_tolerance=0.002), 0.04)
    monitor.set_goal(GripperGoal(0.01, 10.0, 0.1), 0)
    assert monitor.update(1, 0.0121) is None
    assert monitor.update(2, 0.0119) == (True, False, True)


def test_goals_take_values_of_parameters_and_stay_within_limits(model):
    parameters = GripperParameters(max_effort=20.0)
    assert gripper_goal(model, 'finger', parameters, 0.01) == (0.01, 20.0, 0.1)
    assert gripper_goal(model, 'finger', parameters, 0.01, 500.0, 1.0) == (0.01, 200.0, 0.2)


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ((0.06,), "position of the goal of joint 'finger' is 0.06; .*<= 0.05"),
        ((np.nan,), "position of the goal of joint 'finger' is nan"),
        ((0.01, -1.0), "max_effort of the goal of joint 'finger' is -1"),
    ],
)
def test_a_goal_beyond_the_limits_is_refused(model, values, message):
    with pytest.raises(ArmError, match=message):
        gripper_goal(model, 'finger', GripperParameters(), *values)


def test_a_frequency_too_high_for_the_period_is_refused(model):
    law = GripperLaw(model, GripperParameters(natural_frequency=300.0), 'finger')
    law.check_period(1e-3)
    with pytest.raises(ArmError, match='natural_frequency is 300'):
        law.check_period(2e-3)
