"""Linear motions planned from where an arm is: on lines, within limits, or refused by name."""

import numpy as np
import pinocchio as pin
import pytest
from arms import load_arm
from following import make
from numpy.testing import assert_allclose

from arm_dynamics.checks import ArmError
from arm_dynamics.inverse_kinematics.path import solve_path_ik
from arm_tools.cartesian.linear_move import MoveError, check_rest, plan_move, timed_goal

READY = np.array([-1.0, -1.0, 1.0, -1.0, -1.0, 0.0]) * np.pi / 2
LIMITS = {'velocity_limit': None, 'acceleration_limit': 10.0, 'effort_limit': None}


def plan(*steps, start=READY, **options):
    """Plan to where the tip is, moved by each of these steps [m] in the base's axes."""
    model = load_arm('ur5e')
    tip = model.forward_kinematics(start)
    poses = [pin.SE3(tip.rotation, tip.translation + step).homogeneous for step in steps]
    given = {'limits': LIMITS, 'free': {}, 'tip_speed': 0.25} | options
    return plan_move(model, start, np.array(poses), **given)


@pytest.mark.parametrize('timing', ['quintic', 'toppra'])
def test_tip_goes_along_lines_from_where_it_is_and_a_controller_takes_the_goal(timing):
    if timing == 'toppra':
        pytest.importorskip('toppra')
    model = load_arm('ur5e')
    timed = plan((0.0, 0.1, 0.0), (0.0, 0.1, 0.1), timing=timing)
    assert_allclose(timed.q[0], READY, atol=1e-9)
    tips = np.array([model.forward_kinematics(q).translation for q in timed.q])
    way = tips - model.forward_kinematics(READY).translation
    assert_allclose(way[:, 0], 0.0, atol=1e-6)
    assert_allclose(np.minimum(0.1 - way[:, 1], way[:, 2]), 0.0, atol=1e-6)
    assert_allclose(way[-1], (0.0, 0.1, 0.1), atol=1e-6)
    assert timed.tip_speed <= 0.25 + 1e-9
    arm = make(model, READY, max_acceleration=11.0)
    arm.set_goal(timed_goal(model, timed, timing), 0)


def test_pose_that_cannot_be_gone_to_is_refused_with_its_number_joint_and_limit():
    with pytest.raises(MoveError, match='pose 2: out of reach') as far:
        plan((0.0, 0.1, 0.0), (0.0, 2.0, 0.0))
    assert far.value.pose == 2
    heavy = LIMITS | {'effort_limit': 20.0}
    named = "on the way to pose 1: joint 'shoulder_lift_joint': torque against gravity"
    with pytest.raises(MoveError, match=named):
        plan((0.0, 0.1, 0.0), limits=heavy)
    with pytest.raises(ArmError, match='timing is .given.; allowed: quintic, toppra'):
        plan((0.0, 0.1, 0.0), timing='given')


def test_arm_does_not_jump_to_another_branch_or_turn_where_its_own_ends():
    model = load_arm('ur5e')
    start = READY.copy()
    start[5] = model.position_upper[5] - 0.1
    tip = model.forward_kinematics(start)
    turned = tip * pin.SE3(pin.exp3(np.array([0.0, 0.0, 0.5])), np.zeros(3))
    with pytest.raises(MoveError, match="pose 1: joint 'wrist_3_joint': position .* above its"):
        plan_move(model, start, turned.homogeneous[None], limits=LIMITS, free={})
    free = solve_path_ik(model, [tip, turned], start)  # a whole turn away it can
    assert free.success
    assert np.abs(free.q[0] - start).max() > 6.0


def test_pose_where_the_tip_is_already_is_no_motion_and_repeated_ones_count_once():
    assert plan((0.0, 0.0, 0.0), (0.0, 1e-8, 0.0)) is None
    once, twice = plan((0.0, 0.1, 0.0)), plan((1e-8, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.1, 0.0))
    assert_allclose(twice.q, once.q, atol=1e-7)


def test_arm_that_moves_is_refused_with_its_joint():
    model = load_arm('ur5e')
    check_rest(model, np.full(6, 1e-4))
    with pytest.raises(ArmError, match="'elbow_joint': velocity 0.2 rad/s is above .* at rest"):
        check_rest(model, np.array([0.0, 0.0, 0.2, 0.0, 0.0, 0.0]))
