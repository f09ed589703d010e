"""The node on a simulated arm: goals, a push, a fault, limits. No test imports the fixture."""

import sys

import numpy as np
import pytest

NODE = [sys.executable, '-m', 'controller_package.computed_torque']
HOME, AWAY = [0.0, 0.0, 0.0], [0.4, -0.3, 0.5]


@pytest.fixture
def arm(start_arm):
    """An arm of three joints that the node commands."""
    return start_arm(NODE, robot='planar_3r', actuator='torque')


def test_it_reaches_its_goals_although_it_is_pushed(arm):
    arm.reach('my_controller', AWAY, seconds=1.0)
    arm.check_limits(velocity=0.8)
    before = arm.motion.q[-1]
    arm.push([0.0, 5.0, 0.0], seconds=0.1)
    arm.run(0.2)
    moved = np.abs(arm.motion.q - before)[-200:].max()
    assert 1e-3 < moved < 0.1
    arm.reach('my_controller', HOME, seconds=1.0, tolerance=1e-3)
    print('checksum', arm.checksum())


def test_a_stuck_joint_keeps_it_from_its_goal(arm):
    arm.fault('stuck_joint', joint='joint_2')
    with pytest.raises(ValueError, match='1 s after the end of the goal; tolerance is 0.01'):
        arm.reach('my_controller', AWAY, seconds=1.0)
