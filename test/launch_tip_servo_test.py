"""The tip moved over ROS by topics, through a controller of ours, slower than the wall clock."""

import numpy as np
import pinocchio as pin
import pytest
from arm_system import HOME, MODEL, ArmSystem
from geometry_msgs.msg import PoseStamped, TwistStamped

from arm_sim.cartesian.ros.pose_messages import pose_to_message

CONTROLLER = 'servo_controller'


@pytest.fixture(scope='module')
def arm():
    with ArmSystem('realtime', 'servo') as system:
        system.simulator('real_time_factor:=0.4', 'command_timeout:=0.3')
        system.controller('servo', 'time_jump_limit:=5.0')
        system.start('tip_servo', f'controller:={CONTROLLER}', 'command_timeout:=1.0')
        system.wait_for_motion_control(CONTROLLER)
        system.wait(lambda: 'tip_servo' in system.values, 'tip_servo')
        yield system
        system.assert_alive()


def tip(arm):
    return pin.SE3(MODEL.forward_kinematics(arm.q))


def stream(arm, publisher, message, until, what):
    def again():
        publisher.publish(message)
        return until()

    arm.wait(lambda: publisher.get_subscription_count() > 0, 'tip_servo listening')
    arm.wait(again, what)


def test_twists_poses_and_refusals(arm):
    np.testing.assert_allclose(arm.q, HOME, atol=1e-3)
    start = tip(arm)
    twist = TwistStamped()
    twist.header.frame_id, twist.twist.linear.y = 'nose', 0.1
    twists = arm.node.create_publisher(TwistStamped, '/tip_servo/delta_twist_cmds', 1)
    refused = lambda: "no frame 'nose'" in arm.values['tip_servo'].get('last refused', '')  # noqa: E731
    stream(arm, twists, twist, refused, 'refusal of a frame that is not there')
    np.testing.assert_allclose(arm.q, HOME, atol=1e-3)

    twist.header.frame_id = 'base_link'
    moved = lambda: tip(arm).translation - start.translation  # noqa: E731
    stream(arm, twists, twist, lambda: moved()[1] > 0.04, 'motion of the tip along y')
    assert np.abs(moved()[[0, 2]]).max() < 5e-3
    arm.wait(lambda: np.abs(arm.v).max() < 1e-4, 'rest after the stream has ended')
    assert np.abs(moved()[[0, 2]]).max() < 5e-3

    poses = arm.node.create_publisher(PoseStamped, '/tip_servo/pose_target_cmds', 1)
    target = pose_to_message(start, 'base_link')
    near = lambda: np.linalg.norm(moved()) < 1e-3 and np.abs(arm.v).max() < 1e-2  # noqa: E731
    stream(arm, poses, target, near, 'return to the pose at the start')
