"""What a goal must look like, and the limits it must keep to all along."""

from dataclasses import replace

import numpy as np
import pytest
from following import HOME, MODEL, NAMES, SECOND, assert_names_the_fault, goal, make, states_at

from arm_controllers.follower.goal import Goal, GoalError, JointTolerance, ResultCode
from arm_dynamics.model import RobotModel


def refusal(bad_goal, **parameters):
    """Return the refusal; assert that it changed nothing."""
    arm = make(**parameters)
    arm.set_goal(goal([5.0], [HOME + 0.1], identifier='running'), 0)
    before = [arm.peek(t).row.copy() for t in range(0, 6_000_000_000, 250_000_000)]
    with pytest.raises(GoalError) as error:
        arm.set_goal(bad_goal, 0)
    after = [arm.peek(t).row.copy() for t in range(0, 6_000_000_000, 250_000_000)]
    np.testing.assert_array_equal(after, before)
    assert not arm.results
    assert arm.active_goal.identifier == 'running'
    assert_names_the_fault(error.value)
    return error.value


def test_unknown_joint_is_refused_by_name_with_the_known_ones():
    error = refusal(goal([1.0], [HOME], names=('elbow', *NAMES[1:])))
    assert "joint 'elbow' is unknown" in str(error)
    assert NAMES[0] in str(error)
    assert error.code == ResultCode.INVALID_GOAL


def test_repeated_joint_is_refused():
    error = refusal(goal([1.0], [HOME], names=(NAMES[1], *NAMES[1:])))
    assert f"joint '{NAMES[1]}' is named twice" in str(error)


def test_missing_joint_is_refused_unless_partial_goals_are_allowed():
    part = goal([1.0], [HOME[:3]], names=NAMES[:3])
    assert f"joint '{NAMES[3]}' is missing" in str(refusal(part))
    make(allow_partial_joints_goal=True).set_goal(part, 0)


@pytest.mark.parametrize('field', ['velocities', 'accelerations', 'effort', 'positions'])
def test_field_of_another_length_is_refused(field):
    values = {'positions': [HOME], 'velocities': np.zeros((1, 6)), field: np.zeros((1, 5))}
    values['positions'] = np.array(values['positions'])
    error = refusal(Goal(NAMES, np.array([1.0]), **values))
    assert f'{field} have shape (1, 5)' in str(error)
    assert '(1, 6)' in str(error)


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('field', ['velocities', 'accelerations', 'effort', 'positions'])
def test_number_that_is_not_finite_is_refused_with_joint_point_and_time(field, bad):
    values = {name: np.zeros((2, 6)) for name in ('velocities', 'accelerations', 'effort')}
    values['positions'] = np.array([HOME, HOME])
    values[field][1, 2] = bad
    error = refusal(Goal(NAMES, np.array([1.0, 2.5]), **values))
    quantity = {'effort': 'effort', 'velocities': 'velocity'}.get(field, field[:-1])
    assert f"joint '{NAMES[2]}': {quantity} {bad} is not a finite number" in str(error)
    assert str(bad) in str(error)
    assert '(point 1, t = 2.5 s)' in str(error)


@pytest.mark.parametrize('times', [[1.0, 1.0], [2.0, 1.0], [0.0, 0.0]])
def test_times_that_do_not_increase_are_refused_with_the_point(times):
    error = refusal(goal(times, [HOME, HOME]))
    assert 'point 1' in str(error)
    assert error.point == 1


@pytest.mark.parametrize('times', [[-1.0, 1.0], [np.nan, 1.0], [1.0, np.inf]])
def test_time_before_the_start_or_not_finite_is_refused(times):
    assert 'point' in str(refusal(goal(times, [HOME, HOME])))


def test_position_beyond_its_limit_is_refused_with_joint_value_limit_point_and_time():
    target = HOME.copy()
    target[2] = 3.31
    error = refusal(goal([1.0, 4.0], [HOME, target], np.zeros((2, 6))))
    assert str(error) == (
        f"joint '{NAMES[2]}': position 3.31 rad is above its upper limit 3.14159 rad"
        ' (point 1, t = 4 s)'
    )
    assert (error.joint, error.point, error.time) == (NAMES[2], 1, 4.0)
    np.testing.assert_allclose([error.value, error.upper], [3.31, np.pi], atol=1e-5)


def test_position_beyond_its_limit_between_two_points_is_refused_at_its_extreme():
    near = HOME.copy()
    near[2] = 3.1
    v = np.zeros((3, 6))
    v[1, 2], v[2, 2] = 1.0, -1.0
    error = refusal(
        goal([4.0, 6.0, 7.0], [HOME, near, near], v), allow_nonzero_velocity_at_trajectory_end=True
    )
    # From 3.1 at 1 rad/s back to 3.1 at -1 rad/s in 1 s: a parabola of height 1/4.
    np.testing.assert_allclose(error.value, 3.35, atol=1e-9)
    np.testing.assert_allclose(error.time, 6.5, atol=1e-9)
    assert '(between points 1 and 2, t = 6.5 s)' in str(error)


def test_velocity_between_points_is_checked_against_its_limit():
    target = HOME.copy()
    target[0] += 3.2
    z = np.zeros((1, 6))
    error = refusal(goal([1.5], [target], z, z), max_deceleration_on_cancel=(50.0,))
    np.testing.assert_allclose(error.value, 3.2 / 1.5 * 15 / 8, atol=0.2)
    assert f"joint '{NAMES[0]}': velocity" in str(error)
    assert '3.14159 rad/s' in str(error)


def test_acceleration_is_checked_where_a_limit_is_set():
    wanted = goal([1.0], [HOME + 0.3], np.zeros((1, 6)))
    arm = make()
    arm.set_goal(wanted, 0)
    error = refusal(wanted, max_acceleration=(1.0,))
    assert f"joint '{NAMES[0]}': acceleration -1.8 rad/s^2" in str(error)
    assert 'below its lower limit -1 rad/s^2 (point 0, t = 1 s)' in str(error)


def test_goal_exactly_at_its_limit_is_accepted():
    target = HOME.copy()
    target[2] = MODEL.position_upper[2]
    arm = make()
    arm.set_goal(goal([4.0], [target], np.zeros((1, 6)), np.zeros((1, 6))), 0)
    np.testing.assert_array_equal(arm.peek(5_000_000_000).q, target)


def test_arm_beyond_a_limit_may_return_but_go_no_farther():
    outside = HOME.copy()
    outside[2] = MODEL.position_upper[2] + 0.01
    arm = make(q=outside)
    farther = outside.copy()
    farther[2] += 0.01
    with pytest.raises(GoalError, match='above its upper limit'):
        arm.set_goal(goal([2.0], [farther]), 0)
    arm.set_goal(goal([2.0], [HOME]), 0)


def dense_return(side, count, fields, way=1.0):
    """Return an arm 20 mrad outside a limit, and a goal of `count` points back by `way` * 0.2."""
    limit = (MODEL.position_lower, MODEL.position_upper)[side][2]
    out = 1.0 if side else -1.0
    start = HOME.copy()
    start[2] = limit + 0.02 * out
    s = np.arange(1, count + 1) / count
    blends = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2 / 4.0
    blends += (60 * s * (1 - 3 * s + 2 * s**2) / 16.0,)
    step = np.zeros(6)
    step[2] = -0.2 * way * out
    rows = [np.outer(blend, step) for blend in blends[: fields + 1]]
    rows[0] = start + rows[0]
    return make(q=start), goal(4.0 * s, *rows), rows[0][-1], start


@pytest.mark.parametrize('side', [0, 1])
@pytest.mark.parametrize('count', [1, 40, 500])
@pytest.mark.parametrize('fields', [0, 1, 2])
def test_arm_beyond_a_limit_returns_by_any_number_of_points(side, count, fields):
    arm, back, end, _ = dense_return(side, count, fields)
    arm.set_goal(back, 0)
    np.testing.assert_allclose(arm.peek(5 * SECOND).q, end, atol=1e-12)


def test_a_return_may_begin_where_the_arm_was_measured():
    arm, back, end, start = dense_return(1, 40, 0)
    farther = np.where(start == HOME, 0.0, 1e-3)
    arm.set_goal(replace(back, positions=back.positions + farther), 0)
    np.testing.assert_allclose(arm.peek(5 * SECOND).q, end + farther, atol=1e-12)
    for stays in (start + farther, np.tile(start + farther, (40, 1))):  # that is no return
        arm, *_ = dense_return(1, 40, 0)
        stays = np.atleast_2d(stays)
        with pytest.raises(GoalError, match='above its upper limit'):
            arm.set_goal(goal(np.arange(1.0, len(stays) + 1), stays), 0)


@pytest.mark.parametrize('side', [0, 1])
@pytest.mark.parametrize('count', [40, 500])
def test_arm_beyond_a_limit_moves_out_again_in_no_number_of_points(side, count):
    arm, creeping, *_ = dense_return(side, count, 0, way=-1e-4 * count)
    with pytest.raises(GoalError, match=r'(above|below) its .* limit'):
        arm.set_goal(creeping, 0)
    arm, there, _, start = dense_return(side, count, 0)
    rows = np.vstack([there.positions, there.positions[::-1], start])
    with pytest.raises(GoalError, match=r'(above|below) its .* limit'):
        arm.set_goal(goal(np.arange(1, len(rows) + 1) * 4.0 / count, rows), 0)


def test_torque_beyond_its_limit_is_refused_with_joint_value_and_limit():
    stretched = np.zeros(6)
    arm = make(q=stretched)
    target = stretched.copy()
    target[1] = -0.45
    z = np.zeros((1, 6))
    with pytest.raises(GoalError) as error:
        arm.set_goal(goal([0.3], [target], z, z), 0)
    assert f"joint '{NAMES[1]}': torque" in str(error.value)
    assert '150 N.m' in str(error.value)
    assert abs(error.value.value) > error.value.upper == 150.0
    assert_names_the_fault(error.value)
    arm.set_goal(goal([1.0], [target], z, z), 0)


def test_effort_of_the_goal_counts_towards_the_torque_limit():
    effort = np.zeros((1, 6))
    effort[0, 5] = MODEL.effort_limit[5] * 1.01
    error = refusal(goal([1.0], [HOME], effort=effort))
    assert f"joint '{NAMES[5]}': torque" in str(error)
    assert f'{MODEL.effort_limit[5]:g} N.m' in str(error)


def test_velocity_at_the_end_is_refused_unless_allowed():
    v = np.zeros((1, 6))
    v[0, 4] = 0.2
    moving = goal([2.0], [HOME + 0.1], v)
    error = refusal(moving)
    assert f"joint '{NAMES[4]}': velocity 0.2 at the last point" in str(error)
    make(allow_nonzero_velocity_at_trajectory_end=True).set_goal(moving, 0)


def test_start_too_far_from_the_arm_is_refused_with_the_distance():
    far = HOME.copy()
    far[3] += 0.5
    error = refusal(goal([0.0, 2.0], [far, HOME]))
    assert f"joint '{NAMES[3]}'" in str(error)
    assert '0.5 rad from where the arm is' in str(error)
    assert 'allowed: 0.1 rad' in str(error)


def test_goal_that_ended_in_the_past_is_refused_as_old():
    arm = make()
    with pytest.raises(GoalError, match='in the past') as error:
        arm.set_goal(goal([1.0], [HOME], start_ns=1), 400_000_000_000)
    assert error.value.code == ResultCode.OLD_HEADER_TIMESTAMP
    assert_names_the_fault(error.value)


def test_goal_that_would_never_end_is_refused():
    error = refusal(goal([1e7], [HOME]))
    assert 'goal_duration_limit = 3600 s' in str(error)
    assert (error.value, error.lower, error.upper) == (1e7, 0.0, 3600.0)
    make(goal_duration_limit=5.0).set_goal(goal([5.0], [HOME]), 0)


def test_two_points_almost_at_the_same_time_are_refused():
    error = refusal(goal([1.0, 1.0 + 1e-15 * 4], [HOME, HOME + 0.1]))
    assert 'velocity' in str(error) or 'too fast' in str(error)
    assert error.joint == NAMES[0]


@pytest.mark.parametrize('bad', [-2.0, np.nan, -0.5])
def test_tolerance_that_means_nothing_is_refused(bad):
    tolerance = (JointTolerance(NAMES[0], bad),)
    assert NAMES[0] in str(refusal(goal([1.0], [HOME], path_tolerance=tolerance)))
    assert NAMES[0] in str(refusal(goal([1.0], [HOME], goal_tolerance=tolerance)))


def test_tolerance_for_an_unknown_joint_is_refused():
    tolerance = (JointTolerance('elbow', 0.1),)
    assert "'elbow'" in str(refusal(goal([1.0], [HOME], path_tolerance=tolerance)))


@pytest.mark.slow
def test_extremes_agree_with_dense_sampling_on_random_goals():
    rng = np.random.default_rng(7)
    accepted = 0
    for _ in range(60):
        times = np.cumsum(rng.uniform(0.3, 0.8, 5))
        size = rng.uniform(0.1, 1.0)
        states = [rng.normal(scale=s * size, size=(5, 6)) for s in (0.5, 1.0, 2.0)]
        wanted = goal(times, HOME + states[0], *states[1:])
        free = RobotModel.from_urdf(MODEL.urdf)
        free.effort_limit = np.full(6, np.inf)
        arm = make(free, allow_nonzero_velocity_at_trajectory_end=True, max_acceleration=(25.0,))
        trajectory = _trajectory(arm, wanted)
        t = np.linspace(0.0, trajectory.end, 20_000, endpoint=False)
        q, v, a = states_at(trajectory, t)
        inside = (
            (q <= free.position_upper).all()
            and (q >= free.position_lower).all()
            and (np.abs(v) <= free.velocity_limit).all()
            and (np.abs(a) <= 25.0).all()
        )
        try:
            arm.set_goal(wanted, 0)
        except GoalError as error:
            # Sampling may miss a narrow peak; what the refusal says must then be there.
            quantity = str(error).split(': ')[1].split()[0]
            k = ('position', 'velocity', 'acceleration').index(quantity)
            nearest = np.searchsorted(t, error.time) - 1
            column = NAMES.index(error.joint)
            np.testing.assert_allclose((q, v, a)[k][nearest, column], error.value, atol=0.1)
            assert not inside or abs(error.value) - max(error.upper, -error.lower) < 1e-3
        else:
            accepted += 1
            assert inside
    assert 5 < accepted < 55


def _trajectory(arm, wanted):
    from arm_controllers.follower.goal_trajectory import goal_trajectory

    rules = arm.parameters
    return goal_trajectory(wanted, MODEL, arm.peek(0), 0.0, rules, np.full(6, 5.0))[0]


def thousand_points():
    t = np.linspace(0.03, 30.0, 1000)
    phase = 2 * np.pi * t / 30.0
    swing = (1 - np.cos(phase)) * 0.15
    rate = 2 * np.pi / 30.0
    positions = HOME + swing[:, None]
    velocities = np.tile((0.15 * rate * np.sin(phase))[:, None], 6)
    accelerations = np.tile((0.15 * rate**2 * np.cos(phase))[:, None], 6)
    velocities[-1] = accelerations[-1] = 0.0
    return goal(t, positions, velocities, accelerations)


def test_checks_of_a_long_goal_come_in_many_slices_and_only_the_last_takes_it():
    wanted, arm = thousand_points(), make()
    pending = [arm.active_goal is None for _ in arm.accept(wanted, 0)]
    assert len(pending) > 1000 / 200 + 1000 / 100
    assert all(pending)
    assert arm.goals == (wanted,)


def test_refusal_counts_points_as_the_goal_does_also_when_the_first_is_the_start():
    target = HOME.copy()
    target[2] = 3.31
    error = refusal(goal([0.0, 1.0, 4.0], [HOME, HOME, target], np.zeros((3, 6))))
    assert '(point 2, t = 4 s)' in str(error)


@pytest.mark.parametrize('absurd', [1e308, -1e308, 1e200])
def test_absurd_position_is_refused_as_any_other_beyond_its_limit(absurd):
    target = HOME.copy()
    target[2] = absurd
    error = refusal(goal([1.0], [target], np.zeros((1, 6)), np.zeros((1, 6))))
    assert f"joint '{NAMES[2]}': position {absurd:.6g} rad" in str(error)
    assert '3.14159 rad (point 0, t = 1 s)' in str(error)


@pytest.mark.parametrize(
    ('value', 'line'),
    [
        (250.0, '; in metres: 250 mm are 0.25 m'),
        (30.0, '; in metres: 30 mm are 0.03 m, 30 cm are 0.3 m'),
        (600.0, ''),
    ],
)
def test_millimetres_and_centimetres_of_a_slide_are_named(value, line):
    arm = make(RobotModel(find_slide()), np.array([0.1]))
    with pytest.raises(GoalError) as caught:
        arm.set_goal(goal([4.0], [[value]], names=['turn']), 0)
    assert str(caught.value).partition(' s)')[2] == line


def find_slide():
    """Return the URDF of a slide of half a metre."""
    return (
        '<robot name="slide"><link name="base"/><link name="table"/><joint name="turn" '
        'type="prismatic"><parent link="base"/><child link="table"/><axis xyz="1 0 0"/>'
        '<limit lower="0" upper="0.5" effort="50" velocity="20"/></joint></robot>'
    )


def test_nanoseconds_in_place_of_seconds_are_named():
    """0.1 rad within 2 ns are 1.5 * 5e7 rad/s at the peak of the cubic."""
    arm = make(RobotModel(find_slide()), np.array([0.1]))
    with pytest.raises(GoalError, match=r'velocity 7.5e\+07 m/s .*; point 0 is 2e-09 s after the'):
        arm.set_goal(goal([2e-9], [[0.2]], [[0.0]], names=['turn']), 0)


def with_rates(text):
    """Return the UR5e with these attributes of URDF 1.2 in each <limit>."""
    return RobotModel(MODEL.urdf.replace('<limit ', f'<limit {text} '))


@pytest.mark.parametrize(
    ('quantity', 'peak', 'attribute', 'unit'),
    [
        ('acceleration', 6.0 * 0.4 / 2.0**2, 'acceleration', 'rad/s^2'),
        ('acceleration', 6.0 * 0.4 / 2.0**2, 'deceleration', 'rad/s^2'),
        ('jerk', 12.0 * 0.4 / 2.0**3, 'jerk', 'rad/s^3'),
    ],
)
def test_limits_of_the_urdf_bound_goals_exactly_at_the_peak_of_a_cubic(
    quantity, peak, attribute, unit
):
    cubic = goal([2.0], [HOME + 0.4], np.zeros((1, 6)))
    exact = {'limit_overshoot': 0.0}
    make(with_rates(f'{attribute}="{1.001 * peak}"'), **exact).set_goal(cubic, 0)
    arm = make(with_rates(f'{attribute}="{0.999 * peak}"'), **exact)
    with pytest.raises(GoalError) as error:
        arm.set_goal(cubic, 0)
    assert f"joint '{NAMES[0]}': {quantity}" in str(error.value)
    assert f'{0.999 * peak:.6g} {unit}' in str(error.value)


def test_a_smaller_parameter_counts_more_than_the_urdf_and_a_cancel_brakes_as_gently():
    model, moving = with_rates('acceleration="1"'), np.full(6, 0.5)
    with pytest.raises(GoalError, match='0.3 rad/s'):
        make(model, max_acceleration=(0.3,)).set_goal(
            goal([2.0], [HOME + 0.4], np.zeros((1, 6))), 0
        )
    arm = make(model, v=moving)
    a = np.array([arm.peek(t).a for t in range(10_000_000, 400_000_000, 10_000_000)])
    np.testing.assert_allclose(a, -1.0, rtol=1e-9)


@pytest.mark.parametrize(
    ('times', 'mistake'),
    [
        ([3.0, 2.0, 1.0], 'are the points in reverse order?'),
        (
            [1.0, 0.5],
            'time_from_start counts from the start of the goal, not from the point before',
        ),
        ([0.0, 0.0, 1.0, 1.0, 2.0], 'all times are whole seconds: nanosec has their fraction'),
        ([0.5, 0.5, 1.0, 1.0], 'leave out one of the two points'),
        ([0.5, 1.0, 1.0 - 1e-9, 1.5], 'leave out one of the two points'),
    ],
)
def test_times_that_do_not_increase_have_their_mistake_named(times, mistake):
    with pytest.raises(GoalError) as error:
        make().set_goal(goal(times, HOME + 0.01 * np.arange(len(times))[:, np.newaxis]), 0)
    assert str(error.value).endswith(f'; {mistake}')
