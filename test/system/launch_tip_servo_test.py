"""The tip moved over ROS by topics and by an action, slower than the wall clock."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from action_msgs.msg import GoalStatus
from arm_system import HOME, MODEL, ArmSystem
from control_msgs.msg import JointJog
from geometry_msgs.msg import PoseArray, PoseStamped, TwistStamped
from long_wait import ask
from rclpy.action import ActionClient

from arm_controllers.ros.pose_messages import pose_to_message
from arm_interfaces.action import LinearMove

CONTROLLER = 'servo_controller'


@pytest.fixture(scope='module')
def arm():
    with ArmSystem('realtime', 'servo') as system:
        system.simulator('real_time_factor:=0.4', 'command_timeout:=0.3')
        system.controller('servo', 'time_jump_limit:=5.0')
        system.start('linear_move', f'controller:={CONTROLLER}')
        system.start('tip_servo', f'controller:={CONTROLLER}', 'command_timeout:=1.0')
        system.wait_for_motion_control(CONTROLLER)
        both = {'tip_servo', 'linear_move'}
        system.wait(lambda: both <= system.values.keys(), 'tip_servo and linear_move')
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


def test_twists_poses_jogs_and_refusals(arm):
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

    jogs = arm.node.create_publisher(JointJog, '/tip_servo/delta_joint_cmds', 1)
    jog = JointJog(joint_names=['wrist_1_joint'], velocities=[-0.2])
    turned = lambda: (arm.q - HOME)[MODEL.joint_names.index('wrist_1_joint')]  # noqa: E731
    stream(arm, jogs, jog, lambda: turned() < -0.05, 'a joint that is jogged')
    arm.wait(lambda: np.abs(arm.v).max() < 1e-4, 'rest after the jogging has ended')
    assert np.flatnonzero(np.abs(arm.q - HOME) > 5e-3).tolist() == [3]


@pytest.fixture
def client(arm):
    found = ActionClient(arm.node, LinearMove, '/linear_move')
    arm.wait(found.server_is_ready, 'linear_move')
    yield found
    found.destroy()


def send(arm, client, *steps, **asked):
    """Ask for the tip to go by each of these steps [m] in its own axes."""
    poses = [pose_to_message(pin.SE3(np.eye(3), np.array(step)), '').pose for step in steps]
    path, received = PoseArray(poses=poses), []
    path.header.frame_id = 'tool0'
    service = SimpleNamespace(
        service_is_ready=client.server_is_ready,
        call_async=lambda goal: client.send_goal_async(goal, received.append),
    )
    wanted = LinearMove.Goal(path=path, **asked)
    handle = ask(lambda here: arm.wait(here, 'answer to the goal'), service, wanted, 60.0)
    assert handle.accepted
    return handle, handle.get_result_async(), received


def rests(arm):
    last = list(arm.references)[-10:]
    return len(last) == 10 and not any(v.any() for _, _, v in last)


def test_linear_moves_are_made_canceled_and_refused(arm, client):
    arm.wait(lambda: rests(arm), 'rest of the reference')
    start = tip(arm)
    steps = (0.0, 0.0, 0.04), (0.0, 0.03, 0.04)
    _, end, received = send(arm, client, *steps, tip_speed_limit=0.1)
    answer = arm.result(end, 'end of the move')
    assert answer.result.success, answer.result.reason
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert 0.099 < answer.result.tip_speed <= 0.1 + 1e-9
    wanted = start.translation + start.rotation @ steps[-1]
    arm.wait(lambda: np.abs(tip(arm).translation - wanted).max() < 2e-3, 'arrival')
    shares = [each.feedback.progress for each in received]
    assert shares == sorted(shares)
    assert all(0.0 <= share <= 1.0 for share in shares)
    if shares:  # a busy machine may lose messages, and holds the arm up now and then
        assert np.median([each.feedback.position_error for each in received]) < 5e-3

    arm.wait(lambda: rests(arm), 'rest of the reference')
    _, end, _ = send(arm, client, (0.0, 0.0, 3.0))  # at once: the last report may be older
    refused = arm.result(end, 'refusal').result
    assert (refused.success, refused.failed_pose) == (False, 1), refused.reason
    assert 'pose 1: out of reach' in refused.reason

    handle, end, received = send(arm, client, (0.0, 0.0, -0.1), tip_speed_limit=0.005)
    arm.wait(lambda: received, 'feedback')
    _, other, _ = send(arm, client, (0.0, 0.0, 0.01))
    assert 'another linear_move is under way' in arm.result(other, 'refusal').result.reason
    arm.result(handle.cancel_goal_async(), 'answer to the cancel')
    answer = arm.result(end, 'end of the canceled move')
    assert answer.status == GoalStatus.STATUS_CANCELED, answer.result.reason
    assert 'canceled' in answer.result.reason
    arm.wait(lambda: np.abs(arm.v).max() < 1e-3, 'rest after the cancel')
