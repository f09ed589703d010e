"""Streaming of the tip: limits are kept, singularities are passed, lines are lines, it stops."""

import numpy as np
import pinocchio as pin
import pytest
from arms import load_arm
from following import make
from numpy.testing import assert_allclose
from scripts import load_script

from arm_controllers.follower.goal import Goal
from arm_tools.cartesian.tip_servo import TipServo, TipServoParameters, TipStream

HALF = np.pi / 2
READY = np.array([-HALF, -HALF, HALF, -HALF, -HALF, 0.0])
DT_NS = 20_000_000


def servo(q=READY, arm='ur5e', **parameters):
    found = TipServo(load_arm(arm), TipServoParameters(**parameters))
    found.start(q)
    return found


@pytest.mark.slow
def test_fifty_streams_keep_limits_and_lines_and_never_stand_still():
    tip, streams = servo(), load_script('benchmarks/tip_streams.py')
    for number in range(50):
        rng = np.random.default_rng([7, number])
        found = streams.judge(tip, streams.random_stream(tip, rng, bool(number % 2)))
        assert found.excess < 1e-9, number
        assert found.standstill <= 0.1, number
        assert found.deviation < 1e-3, number
        assert found.stopping <= 0.08 + 1e-9, number


def test_tip_goes_as_asked_where_nothing_hinders_it():
    tip, twist = servo(), np.array([0.0, 0.1, 0.05, 0.0, 0.0, 0.2])
    start = tip.tip()
    for _ in range(50):
        tip.move(twist)
    jacobian = tip.model.jacobian(tip.q)
    assert_allclose(jacobian @ tip.v, twist, atol=1e-4)
    moved = tip.tip().translation - start.translation
    assert_allclose(moved, 50 * tip.dt * twist[:3], atol=2e-3)
    assert abs(moved[0]) < 1e-4


def test_what_the_joints_do_not_give_of_a_twist_is_left_out():
    twist = np.array([0.0, 0.1, 0.05, 0.0, 0.0, 0.2])
    assert_allclose(servo().left_out(twist), 0.0, atol=1e-9)
    stretched = servo(np.array([0.0, 0.0, 0.0, 0.3, 0.3, 0.3]))
    along = stretched.model.jacobian(stretched.q) @ np.eye(6)[1]  # what one joint alone would do
    assert_allclose(stretched.left_out(along), 0.0, atol=1e-9)
    outwards = np.eye(6)[0]
    u, sigma, _ = np.linalg.svd(stretched.weights[:, None] * stretched.model.jacobian(stretched.q))
    assert sigma[-1] < 1e-9
    lost = u[:, -1] * (u[:, -1] @ (stretched.weights * outwards)) / stretched.weights
    assert np.linalg.norm(lost) > 0.3
    assert_allclose(stretched.left_out(outwards), lost, atol=1e-9)


def test_joint_stops_before_its_limit_and_the_tip_goes_on_in_other_directions():
    q = READY.copy()
    q[2] = load_arm('ur5e').position_upper[2] - 0.05
    tip = servo(q)
    twist = tip.model.jacobian(q) @ np.eye(6)[2] * 0.5  # what the elbow alone would do
    speeds = []
    for _ in range(100):
        tip.move(twist)
        speeds.append(np.linalg.norm(tip.model.jacobian(tip.q) @ tip.v))
        assert tip.q[2] <= tip.model.position_upper[2] + 1e-12
    assert tip.q[2] > tip.model.position_upper[2] - 1e-3
    assert min(speeds[5:]) > 0.005


def test_tip_goes_on_steadily_while_a_joint_is_at_its_limit():
    tip = servo(np.array([-0.28, -1.46, -1.72, -0.1, 0.02, 2.24, -1.26, 0.02, 0.02]), 'Panda')
    twist, speeds = np.array([0.16, 0.19, 0.04, 0.0, 0.0, 0.0]), []
    for _ in range(60):
        tip.move(twist)
        speeds.append((tip.model.jacobian(tip.q) @ tip.v) @ twist / (twist @ twist))
    assert tip.q[3] > tip.model.position_upper[3] - 1e-3
    assert min(speeds[3:]) > 0.8
    assert np.abs(np.diff(speeds[4:])).max() < 0.02


def test_stretched_arm_that_is_pushed_outwards_slides_along_the_boundary():
    q = np.array([0.3, -0.8, 0.15, 0.4, 1.0, 0.0])
    tip = servo(q)
    arm = tip.tip().translation
    out = 0.1 * arm / np.linalg.norm(arm)
    aside = 0.05 * np.cross([0.0, 0.0, 1.0], arm) / np.linalg.norm(arm)
    start = tip.tip().translation
    for _ in range(200):
        tip.move(np.concatenate([out + aside, np.zeros(3)]))
    assert np.abs(tip.q[2]) < 0.1  # the elbow is stretched
    assert (tip.tip().translation - start) @ aside / np.linalg.norm(aside) > 0.1


@pytest.mark.quick(2)
@pytest.mark.parametrize('speed', [0.1, 0.3, 1.0])
@pytest.mark.parametrize('way', [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
def test_an_arm_that_is_pushed_outwards_does_not_shake(speed, way):
    # At full stretch its joints moved to and fro by 0.1 rad/s, 25 times a second.
    tip = servo()
    twists = np.outer(np.repeat([1.0, speed], 250), [*way, 0.0, 0.0, 0.0])
    v = [tip.move(twist).v for twist in twists]
    assert tip.singular_values(tip.q)[-1] < 0.1 * tip.margin
    assert turns(v[-100:]) <= 5


@pytest.mark.slow
def test_an_arm_with_slow_steps_that_is_pushed_outwards_comes_to_rest():
    tip = servo(period=0.04)
    v = [tip.move(np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.0])).v for _ in range(600)]
    assert turns(v[-100:]) == 0
    assert np.abs(v[-1]).max() < 0.01


def test_a_tip_that_is_at_its_target_pose_rests():
    tip = servo(np.zeros(3), 'mr_three_link')
    assert not tip.error(tip.tip()).any()  # in which no direction is defined
    with np.errstate(all='raise'):
        assert not tip.approach(tip.tip()).v.any()


@pytest.mark.quick(1)
@pytest.mark.parametrize('way', [[0.0, 0.0, 0.6], [0.0, 0.4, 0.3], [5.0, 0.0, 0.0]])
def test_an_arm_whose_target_pose_is_out_of_reach_does_not_shake(way):
    tip = servo()
    target = pin.SE3(tip.tip().rotation, tip.tip().translation + np.array(way))
    v = [tip.approach(target).v for _ in range(1000)]
    assert turns(v[-100:]) <= 5
    assert np.abs(v[-1]).max() < 0.02


def turns(v):
    """Return how often a joint at most changes the sign of its acceleration."""
    change = np.diff(v, axis=0)
    back = (np.sign(change[1:]) * np.sign(change[:-1]) < 0) & (np.abs(change[1:]) > 1e-3)
    return int(back.sum(axis=0).max())


@pytest.mark.parametrize('acceleration', [2.0, 10.0, 40.0])
def test_every_joint_is_at_rest_within_the_stop_time(acceleration):
    tip = servo(acceleration_limit=(acceleration,), stop_time=0.2)
    rng = np.random.default_rng(1)
    for _ in range(20):
        v = rng.uniform(-9.0, 9.0, 6)
        for _ in range(15):
            tip.move_joints(v)
        way = tip.way_to_rest()
        assert len(way) <= 10
        assert not way[-1].v.any()
        for step in way:
            tip.stop()
            assert_allclose(tip.q, step.q, rtol=0, atol=0)


def test_pose_is_approached_straight_and_reached():
    tip = servo()
    start = tip.tip()
    turn = pin.exp3(np.array([0.1, -0.2, 0.1]))
    goal = pin.SE3(start.rotation @ turn, start.translation + np.array([0.05, 0.1, -0.05]))
    way = goal.translation - start.translation
    for _ in range(150):
        tip.approach(goal)
        moved = tip.tip().translation - start.translation
        assert np.linalg.norm(np.cross(way, moved)) / np.linalg.norm(way) < 1e-3
    assert_allclose(tip.tip().homogeneous, goal.homogeneous, atol=1e-5)


def test_redundant_arm_and_one_of_five_joints_are_moved_too():
    for arm, q in (
        ('Panda', np.array([0, -0.6, 0, -2.2, 0, 1.6, 0.8, 0.02, 0.02])),
        ('five_joint_arm', np.array([0.2, 0.5, -0.8, 0.4, 0.1])),
    ):
        tip = servo(q, arm)
        up = np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0])
        before = tip.tip().translation[2]
        for _ in range(25):
            tip.move(up)
        assert tip.tip().translation[2] - before > 0.01


def test_stream_without_a_message_is_braked_to_rest_within_a_fifth_of_a_second():
    stream = TipStream(servo(), 0.1)
    twist = np.array([0.4, 0.3, 0.0, 0.0, 0.0, 0.0])
    last = 49 * DT_NS
    for k in range(50):
        stream.take(lambda tip: tip.move(twist), k * DT_NS)
        assert stream.step(k * DT_NS)
    at = last
    while stream.servo.v.any():
        at += DT_NS
        assert stream.step(at)
    assert at + DT_NS - last <= 200_000_000
    assert stream.step(at + DT_NS) == []
    stream.take(lambda tip: tip.move(twist), at)
    stream.take(None, at)
    assert stream.step(at) == []


def test_goals_of_a_stream_are_taken_by_the_follower_which_moves_as_the_servo_does():
    stream = TipStream(servo(), 0.1)
    arm = make(stream.servo.model, READY, max_acceleration=10.0)
    rng = np.random.default_rng(3)
    for k in range(40):
        if k % 10 == 0 and k < 30:
            twist = np.concatenate([rng.uniform(-0.2, 0.2, 3), rng.uniform(-0.3, 0.3, 3)])
            stream.take(lambda tip, twist=twist: tip.move(twist), k * DT_NS)
        at = (k + 1) * DT_NS  # a step ahead
        way = stream.step(at)
        if way:
            times = stream.servo.dt * np.arange(1, len(way) + 1)
            q, v = (np.array(rows) for rows in zip(*way, strict=True))
            names = tuple(arm.joint_names)
            arm.set_goal(Goal(names, times, q, v, start_ns=at), k * DT_NS)
        for part in range(10):
            now = k * DT_NS + part * DT_NS // 10
            expected = arm.peek(now)
            arm.update(now, expected.q.copy(), expected.v.copy())
        if way:
            assert_allclose(arm.peek(at + DT_NS).q, way[0].q, atol=1e-9)
            assert_allclose(arm.peek(at + DT_NS).v, way[0].v, atol=1e-9)
    assert stream.step(42 * DT_NS) == []
