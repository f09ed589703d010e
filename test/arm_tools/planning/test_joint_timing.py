"""Timing of joint paths: closed forms on one axis, ruckig's optimum, dense samples."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.polynomial import polynomial
from optional import optional

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.timing import TimingLimits
from arm_sim.robot import Robot
from arm_tools.planning.joint_timing import time_path
from arm_tools.planning.planner import schoenberg

UR5E = Robot.load('ur5e')
MODEL = UR5E.model
A_MAX, JERK = 10.0, 100.0


def limits(velocity=1.0, effort=1.0):
    acceleration = np.full(MODEL.nv, A_MAX)
    return TimingLimits(velocity * MODEL.velocity_limit, acceleration, effort * MODEL.effort_limit)


def line(joint, distance):
    ends = np.array([UR5E.start, UR5E.start])
    ends[1, joint] += distance
    return schoenberg(ends, np.ones(MODEL.nv), 1)


def curve(seed):
    rng = np.random.default_rng(seed)
    points = UR5E.start + np.cumsum(rng.uniform(-0.6, 0.6, (5, MODEL.nv)), axis=0)
    return schoenberg(points, np.ones(MODEL.nv), 4)


@pytest.mark.parametrize('distance', [0.05, 0.5, 3.0])
def test_one_axis_without_jerk_limit_takes_the_time_of_the_trapezoid(distance):
    velocity = MODEL.velocity_limit[5]
    ramp = velocity / A_MAX
    expected = (
        2.0 * np.sqrt(distance / A_MAX) if distance < velocity * ramp
        else ramp + distance / velocity
    )  # fmt: skip
    motion = time_path(MODEL, line(5, distance), limits(), np.full(MODEL.nv, np.inf))
    np.testing.assert_allclose(motion.optimal_duration, expected, rtol=2e-3)
    assert motion.duration >= motion.optimal_duration


@pytest.mark.slow
def test_motions_of_one_axis_are_little_slower_than_the_optimum_of_ruckig():
    optional('ruckig', 'ruckig==0.19.4')
    import ruckig

    for distance in (0.02, 0.2, 1.0, 2.5):
        motion = time_path(MODEL, line(4, distance), limits(), np.full(MODEL.nv, JERK))
        given = ruckig.InputParameter(1)
        given.target_position = [distance]
        given.max_velocity = [float(MODEL.velocity_limit[4])]
        given.max_acceleration, given.max_jerk = [A_MAX], [JERK]
        best = ruckig.Trajectory(1)
        ruckig.Ruckig(1).calculate(given, best)
        assert best.duration * (1.0 - 1e-6) < motion.duration < 1.3 * best.duration, distance


@pytest.mark.parametrize('effort', [1.0, 0.45])
def test_dense_samples_keep_every_limit_and_one_of_them_is_used_up(effort):
    model, data = MODEL.pin_model, MODEL.pin_model.createData()
    for seed in range(2):
        bounds, jerk = limits(effort=effort), np.full(MODEL.nv, JERK)
        path = curve(seed)
        motion = time_path(MODEL, path, bounds, jerk)
        knots, coefficients = motion.times, motion.trajectory().coefficients
        most = np.zeros(4)
        for k in range(len(knots) - 1):
            t = np.linspace(0.0, knots[k + 1] - knots[k], 23)
            each = [polynomial.polyder(coefficients[k], order) for order in range(4)]
            q, v, a, j = (polynomial.polyval(t, c).T for c in each)
            tau = [pin.rnea(model, data, *state) for state in zip(q, v, a, strict=True)]
            tau += MODEL.friction_torque(v)
            used = zip((v, a, tau, j), (*bounds, jerk), strict=True)
            most = np.maximum(most, [np.abs(x / y).max() for x, y in used])
        assert most.max() < 1.0 + 1e-8, most  # nowhere between the points either
        assert most.max() > 0.99, most
        said = motion[4:8]
        np.testing.assert_allclose(most, said, atol=5e-3)


@pytest.mark.parametrize('friction', [0.0, 3.0])
def test_a_share_of_torque_is_not_exceeded_at_1000_instants_between_points(friction):
    model = RobotModel(MODEL.urdf, armature=0.1, friction=friction)
    bounds = limits(effort=0.5)._replace(acceleration=np.full(MODEL.nv, 100.0))
    motion = time_path(model, curve(1), bounds, np.full(MODEL.nv, 2000.0), period=0.02)
    data, most, trajectory = model.pin_model.createData(), 0.0, motion.trajectory()
    segments, spans = np.arange(len(motion.times) - 1), np.diff(motion.times)
    for share in np.linspace(0.0, 1.0, 1000):
        states = trajectory.states_in(segments, share * spans)
        tau = [pin.rnea(model.pin_model, data, *state) for state in zip(*states, strict=True)]
        tau += friction * np.sign(states[1])  # does not fade at low speeds
        most = max(most, np.abs(tau / bounds.effort).max())
    assert 0.99 < motion.effort_share < 1.0 + 1e-8
    assert motion.effort_share - 1e-3 < most < motion.effort_share + 1e-12


def test_the_motion_stays_on_the_path_from_rest_to_rest():
    path = curve(7)
    motion = time_path(MODEL, path, limits(), np.full(MODEL.nv, JERK))
    fine = path(np.linspace(0.0, 1.0, 40_001))
    assert max(np.abs(fine - q).max(axis=1).min() for q in motion.q) < 1e-4
    np.testing.assert_array_equal(motion.q[[0, -1]], path([0.0, 1.0]))
    assert not motion.v[[0, -1]].any()
    assert not motion.a[[0, -1]].any()
    nanoseconds = motion.times * 1e9
    np.testing.assert_allclose(nanoseconds, np.round(nanoseconds), atol=1e-3)


def test_a_torque_limit_below_gravity_is_refused_in_one_line():
    with pytest.raises(ArmError, match=r'no timing within the limits|gravity') as refused:
        time_path(MODEL, curve(1), limits(effort=0.02), np.full(MODEL.nv, JERK))
    assert '\n' not in str(refused.value)
