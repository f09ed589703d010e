"""Poses in messages: what is refused, and that conversions are inverse."""

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Pose, PoseArray

from arm_controllers.ros.pose_messages import (
    MOST_POSES,
    pose_from_message,
    pose_to_message,
    poses_from_message,
)
from arm_dynamics import ArmError


def test_a_pose_survives_its_message():
    pose = pin.SE3.Random()
    found = pose_from_message(pose_to_message(pose, 'base').pose)
    np.testing.assert_allclose(found.homogeneous, pose.homogeneous, atol=1e-12)
    (row,) = poses_from_message(PoseArray(poses=[pose_to_message(pose, '').pose]))
    np.testing.assert_allclose(row, pose.homogeneous, atol=1e-12)


@pytest.mark.parametrize('count', [MOST_POSES + 1, 100_000])
def test_a_path_that_blocks_the_node_is_refused_in_one_line(count):
    with pytest.raises(
        ArmError, match=f'^the path has {count} poses; allowed: 1 to {MOST_POSES}$'
    ):
        poses_from_message(PoseArray(poses=[Pose()] * count))


def test_a_path_without_a_pose_is_refused():
    with pytest.raises(ArmError, match='^the path has no pose$'):
        poses_from_message(PoseArray())


def test_an_invalid_pose_is_named_by_its_number():
    good, bad = Pose(), Pose()
    bad.position.x = float('nan')
    with pytest.raises(
        ArmError, match=r'^pose 3 of the path is \(nan, 0, 0, 0, 0, 0, 1\); it must be finite$'
    ):
        poses_from_message(PoseArray(poses=[good, good, bad]), first=1)
