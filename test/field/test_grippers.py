"""Grippers: goals end, in time and with the right result, whatever the fingers do."""

import numpy as np
import pytest
from field import joint, limits, link, model_of

from arm_controllers.gripper import GripperGoal, GripperLaw, GripperMonitor, GripperParameters
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference

PERIOD = 2e-3
FINGER = model_of(
    link('base', 0.0), link('pad', 0.5),
    joint('finger', 'base', 'pad', limits(0.0, 0.05, 200, 0.2), 'prismatic', axis='0 1 0'),
)  # fmt: skip


def end_of(position, goal=0.0, most=60.0, speed=0.1, **parameters):
    """Return time [s] and end of a goal for positions [m] over time [s]."""
    monitor = GripperMonitor(GripperParameters(goal_tolerance=1e-3, **parameters), 0.0)
    monitor.set_goal(GripperGoal(goal, 10.0, speed), 0)
    for k in range(1, round(most / PERIOD)):
        outcome = monitor.update(round(k * PERIOD * 1e9), position(k * PERIOD))
        if outcome is not None:
            return k * PERIOD, outcome
    return None, None


def closing(t, width=0.02):
    """Return the position of fingers that close from 40 mm at 0.1 m/s onto an object."""
    return max(0.04 - 0.1 * t, width)


def test_oscillating_velocity_never_stalls():
    """PR2/pr2_controllers#307. No progress is a stall.

    1 mm of oscillation at 50 Hz on the object: 0.3 m/s, 300 times the threshold.
    """
    t, end = end_of(lambda t: closing(t) + 1e-3 * np.sin(314.0 * t) ** 2, stall_timeout=0.5)
    assert end.stalled
    assert 0.2 < t < 1.3


@pytest.mark.parametrize('allowed', [True, False])
def test_fingers_that_chatter_on_a_bottle_time_out(allowed):
    """PickNikRobotics/moveit_pro_example_ws#951. Set `allow_stalling` for a success.

    Velocity noise of 25 mm/s, as of 0.05 mm at 80 Hz.
    """
    t, end = end_of(
        lambda t: closing(t) + 5e-5 * np.sin(500.0 * t), stall_timeout=0.1, allow_stalling=allowed
    )
    assert (end.stalled, end.succeeded) == (True, allowed)
    assert t < 0.6


def test_a_limit_cycle_never_counts_as_stalled():
    """PickNikRobotics/moveit_pro_example_ws#923. Positions count, not velocities.

    The velocity flips by 0.6 m/s each period: 1.2 mm from one state to the next.
    """

    def position(t):
        return closing(t) + 6e-4 * (-1) ** round(t / PERIOD)

    t, end = end_of(position, stall_timeout=0.5)
    assert end.stalled
    assert 0.2 < t < 1.3


def test_opening_slowly_is_aborted_as_a_stall():
    """PR2/pr2_simulator#104. A slow goal stalls below half its own speed.

    0.8 mm/s, slower than the threshold of 1 mm/s, for 20 mm: 25 s less the tolerance.
    """
    t, end = end_of(lambda t: 8e-4 * t, goal=0.02, speed=8e-4, stall_timeout=0.5)
    assert end.reached_goal
    np.testing.assert_allclose(t, (0.02 - 1e-3) / 8e-4, atol=3 * PERIOD)


def test_a_grasp_of_unknown_size_is_a_failure():
    """ros-controls/ros2_controllers#355. Set `allow_stalling`."""
    for width in (0.005, 0.02, 0.035):
        _, end = end_of(lambda t, width=width: closing(t, width), allow_stalling=True)
        assert end.succeeded
        assert not end.reached_goal


def test_a_gripper_that_never_moves_never_answers():
    """rt-net/sciurus17_ros#124. It stalls after `stall_timeout`.

    Fingers that are held from the start, and with any noise of 1 mm.
    """
    rng = np.random.default_rng(0)
    for noise in (0.0, 1e-3):
        t, end = end_of(lambda t, noise=noise: 0.04 + noise * rng.uniform(-1, 1))
        assert end.stalled
        assert 1.0 < t < 3.0


@pytest.mark.parametrize('most', [0.0, 10.0])
def test_a_max_effort_of_zero_does_not_move_the_gripper(most):
    """ros-controls/ros_controllers#560. Leave the effort out for the controller's own.

    A finger of 0.5 kg under its own law. With 0 N it rests and the goal stalls after
    stall_timeout, 0.5 s; with 10 N it closes by 20 mm at 0.1 m/s within 0.3 s.
    """
    law = GripperLaw(FINGER, GripperParameters(), 'finger')
    x, v, reference = np.array([0.04]), np.zeros(1), Reference(1)
    reference.q[:], reference.v[:], reference.effort[:] = 0.02, 0.1, most
    state, k = law.start(Measurement(x, v), reference), 0
    monitor = GripperMonitor(GripperParameters(stall_timeout=0.5, goal_tolerance=1e-3), 0.04)
    monitor.set_goal(GripperGoal(0.02, most, 0.1), 0)
    outcome = None
    while outcome is None:
        effort, state = law(state, Measurement(x, v), reference, PERIOD)
        v = v + effort / 0.5 * PERIOD
        x, k = x + v * PERIOD, k + 1
        outcome = monitor.update(round(k * PERIOD * 1e9), float(x[0]))
    assert outcome.reached_goal == (most > 0.0)
    assert outcome.stalled == (most == 0.0)
    assert (0.18 < k * PERIOD < 0.3) if most else (0.5 < k * PERIOD < 0.51)


def test_a_goal_succeeds_before_the_fingers_have_moved():
    """hello-robot/stretch_ros#108. Set `goal_tolerance` below the way.

    From 40 to 20 mm at 0.1 m/s: within 1 mm after 0.19 s.
    """
    t, end = end_of(closing, goal=0.02)
    assert end.reached_goal
    np.testing.assert_allclose(t, (0.04 - 0.02 - 1e-3) / 0.1, atol=3 * PERIOD)
