"""What joint_trajectory_controller has by parameter: integration, overshoot, speed, ends."""

import numpy as np
import pytest
from following import DT, HOME, MODEL, NAMES, REST, SECOND, assert_no_jump, ends, goal, make, run

from arm_controllers.follower.goal import GoalError, JointTolerance, ResultCode

FAR = HOME + np.array([0.6, 0.3, -0.3, 0.2, 0.2, 0.4])


def trapezoid(distance, speed, acceleration, every=0.1):
    """A motion of one joint as a time parameterisation samples it: times, positions, v, a."""
    ramp, cruise = speed / acceleration, distance / speed - speed / acceleration
    end = 2 * ramp + cruise
    t = np.append(np.arange(every, end, every), end)
    phase = np.searchsorted([ramp, ramp + cruise], t)
    left = end - t
    q = np.choose(
        phase,
        [
            acceleration * t**2 / 2,
            speed * (t - ramp / 2),
            distance - acceleration * left**2 / 2,
        ],
    )
    v = np.choose(phase, [acceleration * t, speed + 0 * t, acceleration * left])
    a = np.choose(phase, [acceleration, 0.0, -acceleration]) * np.ones_like(t)
    v[-1] = a[-1] = 0.0
    return t, q, v, a


def sampled(speed=np.pi, acceleration=6.0):
    t, q, v, a = trapezoid(2.5, speed, acceleration)
    one = np.eye(6)[0]
    return goal(t, HOME + np.outer(q, one), np.outer(v, one), np.outer(a, one))


def test_motion_sampled_at_full_speed_runs_although_its_polynomials_overshoot_between_points():
    limit = MODEL.velocity_limit[0]
    wanted = sampled(limit)
    with pytest.raises(GoalError, match='velocity') as error:
        make(limit_overshoot=0.0).set_goal(wanted, 0)
    assert 1.0 < error.value.value / limit < 1.02  # between two points
    arm = make()
    arm.set_goal(wanted, 0)
    _, v, _ = run(arm, 0, 3 * SECOND)
    assert limit < v[:, 0].max() <= 1.02 * limit
    assert ends(arm) == [(None, ResultCode.SUCCESSFUL)]


def test_overshoot_is_between_points_points_themselves_keep_the_limits():
    limit = MODEL.velocity_limit[0]
    with pytest.raises(GoalError, match='velocity') as error:
        make().set_goal(sampled(1.001 * limit), 0)
    assert 'point' in str(error.value)
    one = np.eye(6)[0]
    with pytest.raises(GoalError, match='velocity'):  # a line has its speed at its ends
        make().set_goal(goal([1.0, 2.0], [HOME, HOME + 1.01 * limit * one]), 0)
    with pytest.raises(GoalError, match='acceleration'):
        make(max_acceleration=(5.99,)).set_goal(sampled(2.0, 6.0), 0)
    upper = MODEL.position_upper[0]
    swing = goal([1.0, 2.0], [HOME + (upper - HOME[0]) * one, HOME], [0.01 * one, REST])
    with pytest.raises(GoalError, match='position'):
        make(limit_overshoot=1.0).set_goal(swing, 0)


@pytest.mark.parametrize(('joint', 'jump'), [(0, 0.9), (0, 3.0), (2, -1.5)])
def test_a_slider_at_full_speed_moves_the_arm_within_its_velocity_limit(joint, jump):
    arm, target, rows = make(), HOME.copy(), []
    target[joint] += jump
    for k in range(25):  # each tenth of a second, as rqt_joint_trajectory_controller
        now = arm.reference.q
        time = max((np.abs(now - target) / MODEL.velocity_limit).max(), 0.5)
        if np.abs(now - target).max() > 1e-4:
            arm.set_goal(goal([time], [target]), k * SECOND // 10)
        rows.append(run(arm, k * SECOND // 10, (k + 1) * SECOND // 10))
    q, v, _ = (np.concatenate(column) for column in zip(*rows, strict=True))
    assert_no_jump(q, v)
    assert (np.abs(v) <= MODEL.velocity_limit + 1e-9).all()
    np.testing.assert_allclose(q[-1], target, atol=1e-3)


@pytest.mark.parametrize(('time', 'identifier'), [(0.5, 'of the action'), (0.3, None)])
def test_a_single_position_that_is_too_fast_is_refused_of_the_action_and_of_any_slider(
    time, identifier
):
    target = HOME + np.array([1.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(GoalError, match='is above its upper limit 3.14159 rad/s'):
        make().set_goal(goal([time], [target], identifier=identifier), 0)


def test_points_of_velocities_alone_are_integrated_where_that_is_allowed():
    t = np.array([0.5, 1.0, 2.0])
    v = np.array([[0.4], [0.4], [0.0]]) * np.ones(6)
    wanted = goal(t, 0 * v, v, has_position=False)
    with pytest.raises(GoalError, match='allow_integration_in_goal_trajectories'):
        make().set_goal(wanted, 0)
    arm = make(allow_integration_in_goal_trajectories=True)
    arm.set_goal(wanted, 0)
    q, seen, a = run(arm, 0, 3 * SECOND)
    np.testing.assert_allclose(q[-1] - HOME, 0.4 * (0.25 + 0.5 + 0.5), rtol=1e-12)
    np.testing.assert_allclose(seen[125], 0.2, rtol=1e-9)  # linear in between
    np.testing.assert_allclose(a[125], 0.8, rtol=1e-9)
    assert_no_jump(q, seen)
    assert ends(arm) == [(None, ResultCode.SUCCESSFUL)]


@pytest.mark.parametrize('with_velocities', [False, True])
def test_points_of_accelerations_are_integrated_twice(with_velocities):
    t = np.linspace(0.2, 2.0, 10)
    a = (np.cos(np.pi * t) * 0.5)[:, np.newaxis] * np.ones(6)
    times = np.linspace(0.0, 2.0, 200_001)
    straight = np.interp(times, np.append(0.0, t), np.append(0.0, a[:, 0]))
    speed = np.append(0.0, np.cumsum((straight[1:] + straight[:-1]) / 2 * 1e-5))
    way = np.cumsum((speed[1:] + speed[:-1]) / 2 * 1e-5)[-1]
    v = np.interp(t, times, speed)[:, np.newaxis] * np.ones(6) if with_velocities else None
    rules = {'allow_nonzero_velocity_at_trajectory_end': True}
    arm = make(allow_integration_in_goal_trajectories=True, **rules)
    arm.set_goal(goal(t, 0 * a, v, a, has_position=False), 0)
    _, _, seen = run(arm, 0, 2 * SECOND)
    np.testing.assert_allclose(arm.peek(2 * SECOND).q - HOME, way, atol=1e-8)
    np.testing.assert_allclose(seen[50], np.interp(0.1, [0, 0.2], [0, a[0, 0]]), atol=1e-6)


def test_points_without_positions_need_the_same_fields_at_all_of_them():
    rules = {'allow_integration_in_goal_trajectories': True}
    none, flags = [REST, REST], np.array([True, False])
    some = goal([1.0, 2.0], none, none, has_velocity=flags, has_position=False)
    with pytest.raises(GoalError, match='no velocity.*point 1'):
        make(**rules).set_goal(some, 0)
    with pytest.raises(GoalError, match='no positions, velocities or accelerations'):
        make(**rules).set_goal(goal([1.0], [HOME], has_position=False), 0)


def test_without_interpolation_the_arm_is_asked_to_be_at_a_point_until_the_next():
    arm = make(interpolation_method='none')
    middle = (HOME + FAR) / 2
    arm.set_goal(goal([1.0, 2.0], [middle, FAR]), 0)
    q, v, _ = run(arm, 0, 3 * SECOND)
    assert not v.any()
    per_second = SECOND // DT
    np.testing.assert_array_equal(q[:per_second], np.tile(HOME, (per_second, 1)))
    np.testing.assert_array_equal(q[per_second : 2 * per_second], np.tile(middle, (500, 1)))
    np.testing.assert_array_equal(q[2 * per_second :], np.tile(FAR, (500, 1)))
    assert ends(arm) == [(None, ResultCode.SUCCESSFUL)]
    with pytest.raises(GoalError, match='interpolation_method'):
        arm.set_goal(goal([1.0], [HOME], [REST]), 3 * SECOND)
    with pytest.raises(GoalError, match='velocity'):  # steps are no way round the limits
        arm.set_goal(goal([1.0, 1.05], [FAR, HOME]), 3 * SECOND)


def test_without_replacement_joints_that_the_new_goal_leaves_out_brake_and_hold():
    """As newest JTC means `allow_trajectory_replacement: false`; the goal is taken either way.

    Joint 0 at v = 1.5 * 0.3 / 2 rad/s, its peak, stops v^2 / (2 * 3) later.
    """
    arm = make(
        allow_partial_joints_goal=True,
        allow_trajectory_replacement=False,
        max_deceleration_on_cancel=(3.0,),
    )
    arm.set_goal(goal([2.0], [HOME + 0.3], [REST], identifier='a'), 0)
    run(arm, 0, SECOND)
    q, v = arm.peek(SECOND).q[0], arm.peek(SECOND).v[0]
    np.testing.assert_allclose(v, 0.225, rtol=1e-6)
    arm.set_goal(goal([1.0], [[HOME[2]]], [[0.0]], names=NAMES[2:3], start_ns=SECOND), SECOND)
    rows, _, a = run(arm, SECOND, 3 * SECOND)
    assert ends(arm) == [('a', ResultCode.INVALID_GOAL), (None, ResultCode.SUCCESSFUL)]
    np.testing.assert_allclose(rows[-1, 0], q + v**2 / 6.0, atol=1e-9)
    assert np.abs(a[1:, 0]).max() <= 3.0 + 1e-9


def test_an_arm_that_does_not_arrive_is_waited_for_no_longer_than_cmd_timeout():
    arm = make(goal_tolerance=(0.01,), cmd_timeout=0.5)
    arm.set_goal(goal([1.0], [FAR]), 0)
    for time_ns in range(0, 2 * SECOND, DT):
        arm.update(time_ns, HOME, REST)
        if arm.results:
            break
    assert abs(time_ns - 1.5 * SECOND) <= 2 * DT
    assert arm.results[0].code is ResultCode.GOAL_TOLERANCE_VIOLATED
    assert 'cmd_timeout' in arm.results[0].message


def test_deceleration_zero_stops_at_once_on_a_cancel_and_one_joint_may_be_alone_in_that():
    for asked, stopped in (((0.0,), np.ones(6)), ((0.0, 5.0, 5.0, 5.0, 5.0, 5.0), np.eye(6)[0])):
        arm = make(max_deceleration_on_cancel=asked)
        arm.set_goal(goal([2.0], [FAR]), 0)
        run(arm, 0, SECOND)
        arm.cancel(SECOND - DT)
        v = arm.update(SECOND, HOME, REST).v
        np.testing.assert_array_equal(v == 0.0, stopped.astype(bool))


@pytest.mark.parametrize('value', [-0.5, float('nan'), float('inf')])
def test_tolerance_of_acceleration_is_checked_as_a_value(value):
    tolerance = JointTolerance(NAMES[0], acceleration=value)
    with pytest.raises(GoalError, match='acceleration tolerance'):
        make().set_goal(goal([1.0], [FAR], path_tolerance=(tolerance,)), 0)
    free = JointTolerance(NAMES[0], acceleration=-1.0)
    make().set_goal(goal([1.0], [FAR], goal_tolerance=(free,)), 0)


# Speed


def quintic():
    return goal([2.0], [FAR], [REST], [REST])


def test_at_half_speed_a_goal_takes_twice_its_time_along_the_same_path():
    arm = make(speed_scaling=0.5)
    arm.set_goal(quintic(), 0)
    q, v, a = run(arm, 0, 5 * SECOND)
    fast = make()
    fast.set_goal(quintic(), 0)
    q_fast, v_fast, a_fast = run(fast, 0, 5 * SECOND)
    # The first step is at full speed by a half: it is at rest, where the factor changes at once.
    late = q[2::2][:1000]
    assert np.abs(late - q_fast[: len(late)]).max() < np.abs(v_fast).max() * 2e-3
    assert abs(np.abs(v).max() / np.abs(v_fast).max() - 0.5) < 1e-3
    assert abs(np.abs(a).max() / np.abs(a_fast).max() - 0.25) < 1e-3
    assert_no_jump(q, v)
    np.testing.assert_allclose(q[-1], FAR, atol=1e-12)
    assert ends(arm) == [(None, ResultCode.SUCCESSFUL)]
    done = np.flatnonzero(np.abs(v).max(axis=1) > 0)[-1] * DT
    assert abs(done - 4 * SECOND) <= 2 * DT


def test_speed_changes_within_deceleration_limits_and_the_reference_stays_consistent():
    arm = make(max_deceleration_on_cancel=(2.0,))
    arm.set_goal(quintic(), 0)
    parts, peak = [run(arm, 0, SECOND)], np.abs(arm.reference.v).max()
    for k, share in enumerate((0.0, 1.0, 0.3, 1.0)):
        arm.scaling.wanted = share
        start = (1 + 2 * k) * SECOND
        parts.append(run(arm, start, start + 2 * SECOND))
        if share == 0.0:
            assert not arm.reference.v.any()  # the arm is at rest, and the goal continues
            assert len(arm.goals) == 1
    q, v, a = (np.vstack(columns) for columns in zip(*parts, strict=True))
    assert_no_jump(q, v)
    h = DT * 1e-9
    # Where a change begins or ends the acceleration jumps, by the 2 rad/s^2 that are allowed.
    np.testing.assert_allclose(np.diff(v, axis=0), h * (a[1:] + a[:-1]) / 2, atol=h * 1.01)
    assert np.abs(v).max() <= peak * (1 + 1e-3)
    np.testing.assert_allclose(q[-1], FAR, atol=1e-12)


def test_a_cancel_at_a_low_speed_brakes_from_that_speed_in_time():
    arm = make(speed_scaling=0.25, max_deceleration_on_cancel=(1.0,))
    arm.set_goal(quintic(), 0)
    run(arm, 0, 4 * SECOND)
    speed = np.abs(arm.reference.v).max()
    arm.cancel(4 * SECOND - DT)
    q, v, _ = run(arm, 4 * SECOND, 5 * SECOND)
    assert_no_jump(q, v, 1.01)
    still = np.flatnonzero(np.abs(v).max(axis=1) == 0)[0] * DT * 1e-9
    assert abs(still - speed / 1.0) <= 2 * DT * 1e-9  # |v| / a, as at full speed


def test_a_goal_that_replaces_another_at_a_low_speed_joins_it_without_a_jump():
    arm = make(speed_scaling=0.5)
    arm.set_goal(quintic(), 0)
    before = run(arm, 0, 2 * SECOND)
    arm.set_goal(goal([2.0], [HOME], [REST]), 2 * SECOND - DT)
    after = run(arm, 2 * SECOND, 8 * SECOND)
    q, v = (np.vstack(pair) for pair in list(zip(before, after, strict=True))[:2])
    assert_no_jump(q, v)
    assert abs(arm.peek(8 * SECOND).q - HOME).max() < 1e-12


def test_peek_at_a_low_speed_returns_the_future_reference():
    arm = make(speed_scaling=0.5)
    arm.set_goal(quintic(), 0)
    run(arm, 0, SECOND)
    ahead = arm.peek(SECOND + 100 * DT).copy()
    run(arm, SECOND, SECOND + 101 * DT)
    # The present step is not yet taken at the call of peek: half a step at most.
    np.testing.assert_allclose(arm.reference.q, ahead.q, atol=DT * 1e-9 * np.abs(ahead.v).max())
