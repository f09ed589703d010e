"""Checks of motions: objects that move, pairs that touch at the start, between points."""

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_dynamics.motion_check import MotionCheck
from arm_dynamics.object_shapes import ObjectShape
from arm_sim.robot import Robot

UR5E = Robot.load('ur5e')
TIMES = np.array([0.0, 2.0])
SWING = UR5E.start + np.array([[0.0], [1.0]]) * [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def ball_at(place, size=0.03):
    pose = (*np.asarray(place).tolist(), 0.0, 0.0, 0.0, 1.0)
    return [ObjectShape('ball', 'sphere', (size,) * 3, (1.0, 0.0, 0.0, 1.0), '', pose)]


def on_the_way(share):
    q = SWING[0] + share * (SWING[1] - SWING[0])
    return UR5E.model.forward_kinematics(q, 'wrist_3_link').translation


def test_a_ball_between_two_distant_points_is_found_at_its_time():
    check = MotionCheck(UR5E.model, 0.0)
    assert check.update(ball_at(on_the_way(0.5)))
    with pytest.raises(ArmError, match=r"^link '\w+' is .* object 'ball' at .* t = 0\.[89]\d s"):
        check.begin(TIMES, SWING)
    assert not check.update(ball_at(on_the_way(0.5)))
    assert check.update(ball_at([5.0, 0.0, 0.0]))
    check.begin(TIMES, SWING)
    check.update(ball_at(on_the_way(0.9)))
    half = np.array([1.0, 2.0]), np.array([SWING.mean(axis=0), SWING[1]])
    with pytest.raises(ArmError, match=r"object 'ball' at .* t = 1\.[5678]\d s"):
        check.check(*half)


def test_what_touches_at_the_start_may_be_carried_along():
    check = MotionCheck(UR5E.model, 0.0)
    check.update(ball_at(on_the_way(0.0)))
    check.begin(TIMES, SWING)
    check.update(ball_at(on_the_way(1.0)))
    check.check(TIMES, SWING)
    with pytest.raises(ArmError, match="object 'ball'"):
        check.begin(TIMES, SWING)


def test_what_touches_at_the_start_may_be_known_later():
    check = MotionCheck(UR5E.model, 0.0)
    check.begin(TIMES, SWING)
    check.update(ball_at(on_the_way(0.0)))
    check.check(TIMES, SWING)
    check.update(ball_at(on_the_way(0.5), size=0.04))  # another ball, touching nothing at first
    with pytest.raises(ArmError, match="object 'ball'"):
        check.check(TIMES, SWING)


def test_a_negative_clearance_checks_nothing():
    check = MotionCheck(UR5E.model, -1.0)
    check.update(ball_at(on_the_way(0.5)))
    check.begin(TIMES, SWING)
