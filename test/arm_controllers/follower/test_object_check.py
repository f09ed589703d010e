"""Goals checked against objects: refusals, objects that come into the way, braking."""

from dataclasses import replace

import numpy as np
import pytest
from following import DT, HOME, MODEL, SECOND, ends, goal, make, run

from arm_controllers.follower.goal import GoalError, ResultCode
from arm_dynamics.checks import ArmError
from arm_dynamics.clearance import Clearance
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.surroundings import Surroundings

ASIDE = HOME + np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
BEND = np.array([0.0, 0.0, 0.15, 0.0, 0.0, 0.0])
RADIUS = 0.03


def wrist(q):
    return MODEL.forward_kinematics(q, 'wrist_3_link').translation


def ball_at(q, offset=0.0):
    """Return a ball at the wrist of a configuration, or above it [m]."""
    x, y, z = wrist(q).tolist()
    pose = (x, y, z + offset, 0.0, 0.0, 0.0, 1.0)
    return [ObjectShape('ball', 'sphere', (2.0 * RADIUS,) * 3, (1.0, 0.0, 0.0, 1.0), '', pose)]


def test_a_goal_through_an_object_is_refused_with_link_object_time_and_distance():
    arm = make(clearance=0.01)
    arm.check.update(ball_at((HOME + ASIDE) / 2))
    with pytest.raises(GoalError) as refused:
        arm.set_goal(goal([4.0], [ASIDE]), 0)
    text, t = str(refused.value), float(str(refused.value).split('t = ')[1].split(' s')[0])
    assert "link 'wrist_" in text
    assert "object 'ball'" in text
    assert text.endswith('at least 10 mm off is allowed')
    assert not arm.goals
    # The wrist is at the ball at 2 s, and the named link is not far from the wrist.
    q, _, _ = run(make_free(), 0, 4 * SECOND)
    way = np.linalg.norm([wrist(each) for each in q[::50]] - wrist((HOME + ASIDE) / 2), axis=1)
    assert way[round(t * 1e9) // (50 * DT)] == pytest.approx(RADIUS, abs=0.12)
    arm.set_goal(goal([4.0], [2 * HOME - ASIDE], identifier='other way'), 0)
    run(arm, 0, 4 * SECOND + 2 * DT)
    assert ends(arm) == [('other way', ResultCode.SUCCESSFUL)]


def make_free():
    arm = make()
    arm.set_goal(goal([4.0], [ASIDE]), 0)
    return arm


@pytest.mark.parametrize('clearance', [-1.0, 0.01])
def test_without_a_clearance_no_goal_is_checked(clearance):
    arm = make(clearance=clearance)
    assert (arm.check is None) == (clearance < 0.0)
    if arm.check is not None:
        arm.check.update(ball_at((HOME + ASIDE) / 2))
    arm.set_parameters(arm.parameters.__class__())
    arm.set_goal(goal([4.0], [ASIDE]), 0)


def test_an_object_that_comes_into_the_way_ends_the_goal_and_the_arm_brakes_before_it():
    arm = make(clearance=0.0, max_deceleration_on_cancel=(4.0,))
    arm.check.update(ball_at(HOME, 5.0))
    arm.set_goal(goal([4.0], [ASIDE], identifier='a'), 0)
    arm.set_goal(goal([4.0], [HOME], identifier='b', start_ns=5 * SECOND), 0)
    run(arm, 0, SECOND)
    arm.check.update(ball_at(ASIDE))
    slices = list(arm.check_again())
    assert len(slices) > 1
    end, after = arm.results
    assert (end.identifier, end.code, end.canceled) == ('a', ResultCode.INVALID_GOAL, False)
    assert end.message.startswith("stopped on the way: link '")
    assert "object 'ball'" in end.message
    assert (after.identifier, after.message) == ('b', 'the goal before it was canceled')
    q, v, a = run(arm, SECOND, 2 * SECOND)
    assert np.abs(a).max() <= 4.0 + 1e-12
    assert not v[-1].any()
    assert min(np.linalg.norm(wrist(each) - wrist(ASIDE)) for each in q) > 0.1 + RADIUS


def test_an_object_that_moves_next_to_the_way_or_behind_the_arm_stops_nothing():
    arm = make(clearance=0.01)
    arm.check.update(ball_at(HOME, 5.0))
    arm.set_goal(goal([4.0], [ASIDE], identifier='a'), 0)
    run(arm, 0, 3 * SECOND)
    for q in (HOME, HOME - 0.5):
        assert arm.check.update(ball_at(q))
        for _ in arm.check_again():
            pass
    run(arm, 3 * SECOND, 4 * SECOND + 2 * DT)
    assert ends(arm) == [('a', ResultCode.SUCCESSFUL)]


def test_an_arm_that_is_near_an_object_may_leave_it_and_come_no_nearer():
    arm = make(clearance=0.05)
    lifted = ball_at(HOME, 0.21)
    around = Surroundings(floor=False), lifted, frozenset()
    assert 0.001 < Clearance(MODEL, *around).nearest(HOME).distance < 0.05
    arm.check.update(lifted)
    with pytest.raises(ArmError, match='at least 50 mm off'):
        arm.set_goal(goal([2.0], [HOME - BEND]), 0)
    arm.set_goal(goal([2.0], [HOME + BEND]), 0)


def test_an_arm_that_starts_inside_an_object_may_leave_it():
    arm = make(clearance=0.01)
    inside = ball_at(HOME)
    assert Clearance(MODEL, Surroundings(floor=False), inside).nearest(HOME).distance < -0.01
    arm.check.update(inside)
    arm.set_goal(goal([4.0], [ASIDE], identifier='a'), 0)
    run(arm, 0, 4 * SECOND + 2 * DT)
    assert ends(arm) == [('a', ResultCode.SUCCESSFUL)]
    with pytest.raises(GoalError, match="object 'ball'"):
        arm.set_goal(goal([4.0], [HOME], start_ns=5 * SECOND), 0)


def test_an_arm_that_a_new_clearance_finds_near_an_object_may_leave_it():
    arm = make(clearance=0.0)
    arm.check.update(ball_at(HOME, 0.21))  # less than 50 mm away
    arm.set_goal(goal([2.0], [HOME + BEND], identifier='a'), 0)
    run(arm, 0, DT)
    arm.set_parameters(replace(arm.parameters, clearance=0.05))
    for _ in arm.check_again():
        pass
    assert not arm.results
    arm.set_parameters(replace(arm.parameters, clearance=0.0))
    arm.set_goal(goal([2.0], [HOME - 0.5 * BEND], identifier='b'), 0)
    arm.set_parameters(replace(arm.parameters, clearance=0.05))
    for _ in arm.check_again():
        pass
    assert 'at least 50 mm off is allowed' in arm.results[-1].message


def test_nothing_is_accepted_before_the_objects_are_known():
    arm = make(clearance=0.0)

    def look():
        raise ArmError('no message has come yet')

    arm.check.look = look
    with pytest.raises(GoalError, match='^no message has come yet'):
        arm.set_goal(goal([4.0], [ASIDE]), 0)
