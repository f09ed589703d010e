"""Goals over ROS as users of joint_trajectory_controller send them, in lock-step."""

import itertools

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from arm_system import HOME, NAMES, ArmSystem, duration, goal, seconds, trajectory
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from control_msgs.srv import QueryTrajectoryState
from long_wait import LONG_WAIT
from rclpy.duration import Duration

RESULT = FollowJointTrajectory.Result
CONTROLLER = 'servo_controller'
AWAY = HOME + np.array([0.3, 0.1, -0.2, 0.2, 0.1, 0.4])


@pytest.fixture(scope='module')
def arm():
    """A position-servo UR5e, slower than the wall clock: a busy machine must not disturb."""
    with ArmSystem('realtime', 'servo') as system:
        system.simulator('real_time_factor:=0.4', 'command_timeout:=0.3')
        system.controller('servo', 'state_publish_rate:=250.0', 'time_jump_limit:=5.0')
        system.wait_for_motion_control(CONTROLLER)
        yield system
        system.assert_alive()


@pytest.fixture(autouse=True)
def at_home(arm):
    """Every test starts at home, at rest."""
    status, result = arm.follow(CONTROLLER, goal([0.4], [HOME]))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
    arm.wait(lambda: np.abs(arm.q - HOME).max() < 1e-3 and np.abs(arm.v).max() < 1e-4, 'rest')
    arm.references.clear()
    arm.feedback.clear()


def assert_smooth_reference(system, largest_step=0.15):
    """Nothing jumps: positions move as velocities say, velocities change a little at a time."""
    t, q, v = (np.array(column) for column in zip(*system.references, strict=True))
    dt = np.diff(t)[:, None]
    near = (dt[:, 0] > 0) & (dt[:, 0] < 0.01)
    assert near.sum() > 20
    np.testing.assert_allclose(
        np.diff(q, axis=0)[near], (dt * (v[1:] + v[:-1]) / 2)[near], atol=1e-3
    )
    assert np.abs(np.diff(v, axis=0)[near]).max() < largest_step


def test_action_goal_reaches_its_point_with_feedback_on_the_way(arm):
    for _ in range(10):  # a controller that is held up reports less
        status, result = arm.follow(CONTROLLER, goal([1.0], [AWAY]))
        assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, RESULT.SUCCESSFUL)
        arm.wait(lambda: np.abs(arm.q - AWAY).max() < 5e-3, 'arrival')
        if len(arm.feedback) >= 10:
            break
        arm.follow(CONTROLLER, goal([1.0], [HOME]))
        arm.feedback.clear()
    assert len(arm.feedback) >= 10
    last = arm.feedback[len(arm.feedback) // 2].feedback
    assert list(last.joint_names) == NAMES
    np.testing.assert_allclose(
        last.error.positions,
        np.array(last.desired.positions) - np.array(last.actual.positions),
        atol=1e-12,
    )
    assert_smooth_reference(arm)


def test_controller_state_holds_reference_feedback_error_and_output_at_its_rate(arm):
    seen = []
    name = f'/{CONTROLLER}/controller_state'
    watch = arm.node.create_subscription(JointTrajectoryControllerState, name, seen.append, 1000)
    try:
        arm.wait(lambda: len(seen) > 100, 'controller_state')
        arm.follow(CONTROLLER, goal([0.5], [AWAY]))
    finally:
        arm.node.destroy_subscription(watch)
    times = np.array([seconds(message.header.stamp) for message in seen])
    assert len(times) > 50
    # On a busy machine some do not reach us.
    np.testing.assert_allclose(np.diff(times).min(), 1 / 250.0, atol=1e-9)
    for message in seen:
        assert list(message.joint_names) == NAMES
        for field in ('positions', 'velocities'):
            reference, feedback, error = (
                np.array(getattr(part, field))
                for part in (message.reference, message.feedback, message.error)
            )
            np.testing.assert_allclose(error, reference - feedback, atol=1e-12)
        assert len(message.reference.accelerations) == len(message.feedback.effort) == 6
        assert len(message.output.positions) == 6
    shown = {round(t, 6): q for t, q, _ in arm.states}
    compared = [(shown.get(round(t, 6)), m) for t, m in zip(times, seen, strict=True)]
    compared = [(q, m) for q, m in compared if q is not None]
    assert len(compared) > 50
    for q, message in compared:
        np.testing.assert_array_equal(message.feedback.positions, q)


def test_query_state_returns_where_the_reference_will_be(arm):
    def ask(time):
        request = QueryTrajectoryState.Request()
        request.time.sec = int(time)
        return arm.call(QueryTrajectoryState, f'/{CONTROLLER}/query_state', request)

    _, end = arm.send(CONTROLLER, goal([1.5], [AWAY]))
    arm.wait(lambda: end.done() or np.abs(arm.v).max() > 0.1, 'motion')
    later = ask(arm.now + 10.0)
    assert later.success, later.message
    assert list(later.name) == NAMES
    np.testing.assert_array_equal(later.position, AWAY)
    np.testing.assert_array_equal([*later.velocity, *later.acceleration], np.zeros(12))
    arm.result(end, 'end of the goal')
    before = ask(0.0)
    assert not before.success
    assert 's before the newest state' in before.message


def test_topic_goal_is_followed_too(arm):
    arm.publish_until(
        arm.publisher(CONTROLLER),
        trajectory([1.0], [AWAY]),
        lambda: np.abs(arm.q - AWAY).max() < 1e-3,
        'arrival',
    )


BAD_GOALS = [
    (goal([1.0], [AWAY], names=['elbow', *NAMES[1:]]), ["'elbow'", NAMES[0]]),
    (goal([1.0], [AWAY], names=[NAMES[1], *NAMES[1:]]), [NAMES[1], 'twice']),
    (goal([1.0], [AWAY[:5]], names=NAMES[:5]), [NAMES[5], 'missing']),
    (goal([1.0], [AWAY[:5]]), ['5 positions', 'point 0']),
    (goal([1.0, 1.0], [AWAY, HOME]), ['point 1', 't = 1 s']),
    (goal([1.0], [[np.nan, *AWAY[1:]]]), [NAMES[0], 'nan', 'point 0', 't = 1 s']),
    (
        goal([1.0, 3.0], [AWAY, [*AWAY[:2], 3.31, *AWAY[3:]]]),
        [NAMES[2], '3.31', '3.14159', 'point 1', 't = 3 s'],
    ),
    (goal([0.1], [HOME - 1.0]), ['velocity', '3.14159 rad/s', 't = 0.0']),
    (goal([1.0], [AWAY], [[0.1] * 6]), [NAMES[0], '0.1', 'point 0', 't = 1 s']),
    (
        goal([0.0, 1.0], [HOME - 1.0, HOME]),
        [NAMES[0], 'rad from where the arm is', '0.1 rad', 'point 0'],
    ),
]


def test_refused_goal_says_joint_value_limit_point_and_time_and_the_running_one_goes_on(arm):
    target = AWAY
    _, running = arm.send(CONTROLLER, goal([4.0], [target]))
    for bad, expected in BAD_GOALS:
        if running.done():  # on a busy machine: on the way again
            assert running.result().status == GoalStatus.STATUS_SUCCEEDED
            target = HOME if target is AWAY else AWAY
            _, running = arm.send(CONTROLLER, goal([4.0], [target]))
        status, result = arm.follow(CONTROLLER, bad)
        assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, RESULT.INVALID_GOAL)
        for part in expected:
            assert part in result.error_string
    assert arm.result(running, 'end').status == GoalStatus.STATUS_SUCCEEDED
    arm.wait(lambda: np.abs(arm.q - target).max() < 5e-3, 'arrival')
    assert_smooth_reference(arm)


def test_new_goal_replaces_the_running_one_without_a_jump(arm):
    _, first = arm.send(CONTROLLER, goal([8.0], [AWAY]))
    arm.wait(lambda: np.abs(arm.v).max() > 0.02, 'motion')
    status, _ = arm.follow(CONTROLLER, goal([1.5], [HOME - 0.1]))
    assert status == GoalStatus.STATUS_SUCCEEDED
    ended = arm.result(first, 'end of the first')
    assert ended.status == GoalStatus.STATUS_ABORTED
    assert 'replaced' in ended.result.error_string
    assert_smooth_reference(arm)


def test_cancel_decelerates_holds_and_is_reported(arm):
    handle, end = arm.send(CONTROLLER, goal([8.0], [AWAY]))
    arm.wait(lambda: np.abs(arm.v).max() > 0.02, 'motion')
    arm.result(handle.cancel_goal_async(), 'answer to cancel')
    answer = arm.result(end, 'end')
    assert (answer.status, answer.result.error_string) == (GoalStatus.STATUS_CANCELED, 'canceled')
    arm.wait(lambda: np.abs(arm.v).max() < 1e-3, 'rest')
    assert_smooth_reference(arm)


def test_empty_trajectory_stops_the_arm(arm):
    publisher = arm.publisher(CONTROLLER)
    _, end = arm.send(CONTROLLER, goal([8.0], [AWAY]))
    arm.wait(lambda: np.abs(arm.v).max() > 0.02, 'motion')
    arm.publish_until(publisher, trajectory([], []), end.done, 'end')
    answer = arm.result(end, 'end')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'empty trajectory' in answer.result.error_string
    arm.wait(lambda: np.abs(arm.v).max() < 1e-3, 'rest')
    assert_smooth_reference(arm)


def test_violated_path_tolerance_ends_the_goal_with_joint_error_and_limit(arm):
    wanted = goal([8.0], [AWAY])
    wanted.path_tolerance = [JointTolerance(name=NAMES[5], position=1e-7)]
    status, result = arm.follow(CONTROLLER, wanted)
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == RESULT.PATH_TOLERANCE_VIOLATED
    for part in (NAMES[5], 'position error', '1e-07 rad', 't = '):
        assert part in result.error_string
    arm.wait(lambda: np.abs(arm.v).max() < 1e-3, 'rest')


def test_goal_tolerance_that_is_never_met_ends_the_goal_after_its_time(arm):
    wanted = goal([0.5], [HOME + 0.05])
    wanted.goal_tolerance = [JointTolerance(name=NAMES[1], position=1e-13)]
    wanted.goal_time_tolerance = duration(0.3)
    status, result = arm.follow(CONTROLLER, wanted)
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == RESULT.GOAL_TOLERANCE_VIOLATED
    assert f"joint '{NAMES[1]}'" in result.error_string
    assert '0.3 s' in result.error_string


def test_tolerances_and_limits_are_set_while_running_or_refused_with_a_reason(arm):
    answer = arm.set_parameters(CONTROLLER, **{f'constraints__{NAMES[0]}__trajectory': 1e-7})
    assert answer.successful, answer.reason
    try:
        status, result = arm.follow(CONTROLLER, goal([8.0], [AWAY]))
        assert status == GoalStatus.STATUS_ABORTED
        assert result.error_code == RESULT.PATH_TOLERANCE_VIOLATED
    finally:
        arm.set_parameters(CONTROLLER, **{f'constraints__{NAMES[0]}__trajectory': 0.0})
    for name, bad, expected in (
        (f'constraints__{NAMES[0]}__trajectory', -1.0, '>= 0'),
        ('goal_time_limit', float('inf'), 'finite'),
        ('allow_partial_joints_goal', 3, 'true or false'),
        ('servo_kp', [1.0, 2.0], '2 values'),
        ('feedforward', 'magic', 'inverse_dynamics'),
        ('timestep', 0.01, 'cannot change while'),
    ):
        answer = arm.set_parameters(CONTROLLER, **{name: bad})
        assert not answer.successful
        assert expected in answer.reason
        assert '\n' not in answer.reason


def malformed(rng, k):
    """Return a goal that cannot be followed: numbers, names, lengths, times."""
    specials = [np.nan, np.inf, -np.inf, 1e308, -1e308, 50.0]
    n = int(rng.integers(0, 8))
    names = list(rng.choice([*NAMES, 'elbow', ''], n)) if k % 2 else NAMES
    points = int(rng.integers(1, 4))
    columns = len(names) if k % 3 else int(rng.integers(0, 8))
    positions = rng.choice(specials, (points, columns))
    if not k % 3:
        positions = rng.normal(scale=100.0, size=(points, columns))
    message = trajectory(rng.uniform(0, 0.001, points), positions, names=names)
    if k % 5 == 0:
        message.points[0].velocities = [float(rng.choice(specials))] * 6
    return message


def test_thousand_malformed_goals_leave_the_node_alive_and_the_arm_where_it_is(arm):
    rng = np.random.default_rng(5)
    publisher = arm.publisher(CONTROLLER)

    def refused():
        return int(arm.values[CONTROLLER]['refused goals'])

    before, first, since = arm.q.copy(), refused(), len(arm.states)
    for k in range(1000):
        publisher.publish(malformed(rng, k))
        if k % 8 == 0:  # the topic's queue holds ten
            arm.spin(0.02)
    numbers = itertools.count(1000)

    def message():
        publisher.publish(malformed(rng, next(numbers)))
        arm.spin(0.02)
        return refused() - first >= 1000

    arm.wait(message, 'refusal of a thousand')  # some may have been lost on a busy machine
    assert publisher.wait_for_all_acked(Duration(seconds=LONG_WAIT))
    assert arm.alive(CONTROLLER)
    rows = list(arm.states)[since:]
    assert np.abs(np.array([q for _, q, _ in rows]) - before).max() < 1e-4
    assert np.abs(np.array([v for _, _, v in rows])).max() < 1e-3
    words = arm.words(CONTROLLER, 'goal refused: ')
    assert words.startswith('holding; ')
    assert arm.follow(CONTROLLER, goal([0.5], [HOME]))[0] == GoalStatus.STATUS_SUCCEEDED
