"""Limits: arms that stand outside, polynomials that leave them between points, and units."""

import numpy as np
import pytest
from field import LIFT, SLIDE, TURNTABLE, goal_of, motion, table
from following import SECOND

from arm_controllers.follower.goal import GoalError


def blend(start, end, count=40):
    """Return a dense motion from start to end within 4 s, as planners send it."""
    s = np.arange(1, count + 1) / count
    return 4.0 * s, start + (end - start) * s**3 * (10 - 15 * s + 6 * s**2)


def test_an_arm_cannot_back_out_of_a_joint_limit():
    """UTNuclearRoboticsPublic/jog_arm#66. Every point that leads back is allowed.

    20 mrad beyond the limit of 1 rad, 40 points back to 0.8 rad.
    """
    arm = table(1.02, LIFT)
    arm.set_goal(goal_of(*blend(1.02, 0.8)), 0)
    np.testing.assert_allclose(arm.peek(5 * SECOND).q, 0.8, atol=1e-12)


def test_a_micrometre_below_a_limit_stops_all_planning():
    """moveit/moveit2#3383. The arm may go on from there, or stay.

    A slide reads -1e-6 m at its limit of 0 m.
    """
    arm = table(-1e-6, SLIDE)
    arm.set_goal(goal_of(*blend(-1e-6, 0.3)), 0)
    arm.set_goal(goal_of([1.0, 2.0], [-1e-6, -1e-6]), 0)


def test_a_joint_outside_its_range_cannot_be_moved():
    """usnistgov/ARIAC#314. It may return, and only that.

    At -1.25 rad with the limit -1 rad; -1.3 rad is refused.
    """
    arm = table(-1.25, LIFT)
    with pytest.raises(GoalError, match='is below its lower limit -1 rad'):
        arm.set_goal(goal_of(*blend(-1.25, -1.3)), 0)
    arm.set_goal(goal_of(*blend(-1.25, -0.5)), 0)
    np.testing.assert_allclose(arm.peek(5 * SECOND).q, -0.5, atol=1e-12)


def test_interpolation_exceeds_the_velocity_limit():
    """ros-industrial/universal_robot#207. Give more time, or velocities at the points.

    Rest to rest over 1.8 rad in 1 s: the cubic peaks at 1.5 * 1.8 = 2.7 rad/s, limit 2 rad/s.
    """
    with pytest.raises(GoalError, match=r'velocity 2.7 rad/s is above its upper limit 2 rad/s'):
        table(-0.9, LIFT).set_goal(goal_of([1.0], [0.9], [0.0]), 0)
    table(-0.9, LIFT).set_goal(goal_of([1.36], [0.9], [0.0]), 0)


def test_a_spline_leaves_the_position_limits():
    """hungpham2511/toppra#13. Give points nearer together, or smaller velocities.

    From 0.9 rad at 1 rad/s to 0.9 rad at -1 rad/s in 1 s: the parabola peaks at 0.9 + 1/4 rad.
    """
    arm = table(0.4, LIFT)
    with pytest.raises(GoalError, match=r'1.15 rad is above .* 1 rad \(between points 0 and 1'):
        arm.set_goal(goal_of([1.0, 2.0, 3.0], [0.9, 0.9, 0.4], [1.0, -1.0, 0.0]), 0)


def test_a_spline_first_goes_backwards():
    """hungpham2511/toppra#9. Positions alone are joined by lines.

    0, 0.1 and 1 rad: the reference never moves backwards.
    """
    arm = table(0.0, LIFT)
    arm.set_goal(goal_of([1.0, 2.0], [0.1, 1.0]), 0)
    assert motion(arm, 2.0)[1].min() > -1e-12


@pytest.mark.parametrize(('degrees', 'radians'), [(45.0, '0.785398'), (-30.0, '-0.523599')])
def test_degrees_are_an_obscure_limit_error(degrees, radians):
    """roboticslab-uc3m/kinematics-dynamics#153. Positions are in radians: the line converts."""
    match = rf'limit .*; in radians: {degrees:g} degrees are {radians} rad'
    with pytest.raises(GoalError, match=match):
        table(0.0, LIFT).set_goal(goal_of([4.0], [degrees]), 0)


def test_degrees_are_many_turns():
    """visose/Robots#63. Positions are in radians: the line converts."""
    with pytest.raises(GoalError, match=r'in radians: 90 degrees are 1.5708 rad'):
        table(0.0, TURNTABLE).set_goal(goal_of([40.0], [90.0]), 0)
