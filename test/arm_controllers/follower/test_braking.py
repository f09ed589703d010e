"""Braking: inside the position limits all the way, from every state."""

import numpy as np
import pytest
from following import HOME, SECOND, make, run, states_at

from arm_controllers.follower.braking import braking
from arm_controllers.reference import Reference
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

MODEL = RobotModel.from_urdf(find_urdf('ur5e'), armature=0.1)
LOWER, UPPER = MODEL.position_lower, MODEL.position_upper
DECELERATION = np.full(6, 5.0)


def brake(q, v):
    return braking(MODEL, q, v, np.zeros(6), DECELERATION)


def whole_way(motion):
    """Return q, v, a on a dense grid, with the instants where a joint comes to rest."""
    t = np.union1d(np.linspace(0.0, motion.end, 400), motion.times)
    return states_at(motion, t, from_left=True)


def random_states(count, seed):
    """Return states (q, v) inside the limits, many of them close to a limit."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = rng.uniform(LOWER, UPPER)
        close = rng.random(6) < 0.5
        edge = np.where(rng.random(6) < 0.5, LOWER, UPPER)
        q = np.where(close, edge - np.sign(edge) * 10.0 ** rng.uniform(-12, 0, 6), q)
        v = rng.uniform(-1, 1, 6) * MODEL.velocity_limit * (rng.random(6) < 0.8)
        yield np.clip(q, LOWER, UPPER), v


@pytest.mark.slow
def test_braking_from_any_state_stays_inside_the_position_limits_all_the_way():
    for q, v in random_states(1000, seed=1):
        motion = brake(q, v)
        positions, velocities, _ = whole_way(motion)
        assert (positions >= LOWER - 1e-12).all()
        assert (positions <= UPPER + 1e-12).all()
        np.testing.assert_allclose(motion.last, positions[-1], atol=1e-12)
        assert (velocities * v >= -1e-12).all()  # never back
        np.testing.assert_allclose(velocities[-1], np.zeros(6), atol=1e-12)


def test_braking_starts_at_the_state_it_is_given_and_never_speeds_up():
    for q, v in random_states(200, seed=2):
        at_limit = ((q == UPPER) & (v > 0)) | ((q == LOWER) & (v < 0))
        positions, velocities, _ = whole_way(brake(q, v))
        np.testing.assert_array_equal(positions[0], q)
        moving = ~at_limit & (np.abs(velocities[0]) > 0)
        np.testing.assert_array_equal(velocities[0][moving], v[moving])
        assert (np.diff(np.abs(velocities), axis=0) <= 1e-12).all()


def test_joint_close_to_its_limit_brakes_faster_and_the_others_as_without_it():
    speed = np.array([1.0, 0.5, 1.0, 0.2, 0.0, 0.0])
    near = HOME.copy()
    near[2] = UPPER[2] - 0.01
    alone = speed.copy()
    alone[2] = 0.0
    for motion in (brake(near, speed), brake(near, alone)):
        _, _, a = states_at(motion, np.zeros(1))
        np.testing.assert_allclose(np.delete(a[0], 2), np.delete(-speed / 0.2, 2), atol=1e-12)
    _, _, a = states_at(brake(near, speed), np.zeros(1))
    np.testing.assert_allclose(a[0, 2], -(1.0**2) / (2 * 0.01), atol=1e-9)


@pytest.mark.parametrize(('needed', 'done'), [(0, 0), (1, 1), (3, 3), (8, 8), (12, 8)])
def test_braking_is_stretched_by_quarters_until_its_torque_fits_but_eight_times_at_most(
    needed, done
):
    arm = RobotModel(MODEL.urdf, gravity=(0.0, 0.0, 0.0), armature=2.0)
    v = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    fits = arm.inverse_dynamics(HOME, v, -v / (0.2 * 1.25**needed))[0]
    arm.effort_limit = np.array([abs(fits) * (1 + 1e-9), *(np.inf,) * 5])
    motion = braking(arm, HOME, v, np.zeros(6), DECELERATION)
    np.testing.assert_allclose(motion.end, 0.2 * 1.25**done, rtol=1e-12)
    q, _, a = states_at(motion, np.array([0.0, motion.end]), from_left=True)
    np.testing.assert_allclose(a[0], -v / motion.end, rtol=1e-12)
    np.testing.assert_allclose(q[1], HOME + v * motion.end / 2, rtol=1e-12)


def test_feedforward_fades_evenly_while_the_arm_brakes():
    effort, v = np.arange(6.0), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    motion, reference = braking(MODEL, HOME, v, effort, DECELERATION), Reference(6)
    for share in (0.0, 0.25, 1.0, 2.0):
        motion.evaluate(share * motion.end, reference)
        np.testing.assert_allclose(reference.effort, max(1.0 - share, 0.0) * effort, atol=1e-12)


def test_an_arm_that_is_taken_over_in_motion_goes_on_for_a_nanosecond_and_brakes():
    v = np.array([0.5, -0.3, 0.2, 0.1, 0.0, 1.0])
    arm = make(v=v)
    for stamp, a in ((0, 0.0), (1, -v * 5.0), (1000, -v * 5.0)):
        at, t = arm.peek(stamp), stamp * 1e-9
        np.testing.assert_allclose(at.q, HOME + v * t, rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(at.v, v + t * a, rtol=0.0, atol=1e-8)
        np.testing.assert_allclose(at.a, a, atol=1e-9)


@pytest.mark.parametrize('beyond', [0.0, 0.02])
def test_joint_at_its_limit_or_beyond_goes_no_farther_and_may_come_back(beyond):
    q, v = HOME.copy(), np.zeros(6)
    q[2] = UPPER[2] + beyond
    v[2] = 0.8
    positions, velocities, _ = whole_way(brake(q, v))
    np.testing.assert_array_equal(positions[:, 2], np.full(len(positions), q[2]))
    assert not velocities[:, 2].any()
    positions, velocities, _ = whole_way(brake(q, -v))
    assert velocities[0, 2] == -0.8
    assert (positions[:, 2] <= q[2]).all()


def test_cancel_and_violation_near_a_limit_stay_inside_it():
    near = HOME.copy()
    near[2] = UPPER[2] - 0.05
    speed = np.zeros(6)
    speed[2] = 1.0
    q, v, _ = run(make(q=near, v=speed, max_deceleration_on_cancel=(2.0,)), 0, SECOND)
    assert q[:, 2].max() <= UPPER[2] + 1e-12
    assert not v[-1].any()
