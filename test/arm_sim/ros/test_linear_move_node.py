"""The node linear_move between a client and a controller: feedback, rest, and cancellation."""

import numpy as np
import pinocchio as pin
import pytest
from arms import load_arm
from domains import fresh_domain
from patience import spin_until

rclpy = pytest.importorskip('rclpy')

from action_msgs.msg import GoalStatus  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from control_msgs.msg import JointTrajectoryControllerState  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from trajectory_msgs.msg import JointTrajectoryPoint  # noqa: E402

from arm_controllers.ros.goal_endpoints import EventActionServer  # noqa: E402
from arm_controllers.ros.pose_messages import pose_to_message  # noqa: E402
from arm_interfaces.action import LinearMove  # noqa: E402
from arm_sim.ros import linear_move_node  # noqa: E402

MODEL = load_arm('planar_3r')
JOINTS = [f'joint_{k}' for k in range(1, 4)]
Q = np.array([0.3, 0.6, 0.6])


class Arm:
    """The node, a controller that does nothing, and a client."""

    def __init__(self):
        self.node, peer = linear_move_node.LinearMoveNode(), rclpy.create_node('peer')
        self.nodes, self.executor = (self.node, peer), SingleThreadedExecutor()
        for each in self.nodes:
            self.executor.add_node(each)
        self.follows, self.heard = [], []
        name = '/servo_controller/follow_joint_trajectory'
        EventActionServer(peer, FollowJointTrajectory, name, self.follows.append)
        self.client = ActionClient(peer, LinearMove, 'linear_move')
        self.until(self.client.server_is_ready)

    def until(self, condition):
        spin_until(self.executor, condition)

    def answer(self, future):
        self.until(future.done)
        return future.result()

    def report(self, speed=0.0):
        """Receive the controller's report of an arm at Q whose second joint has a speed."""
        (state,) = [x for x in self.node.subscriptions if x.topic_name.endswith('_state')]
        message = JointTrajectoryControllerState(joint_names=JOINTS)
        message.reference = JointTrajectoryPoint(positions=Q, velocities=[0.0, speed, 0.0])
        state.callback(message)

    def move(self, *offset):
        """Send a goal at an offset [m] from the tip; return its handle."""
        goal, pose = LinearMove.Goal(position_only=True), pin.SE3(MODEL.forward_kinematics(Q))
        pose.translation += offset
        goal.path.poses = [pose_to_message(pose, '').pose]
        return self.answer(
            self.client.send_goal_async(goal, lambda each: self.heard.append(each.feedback))
        )

    def end(self, handle):
        """Return status, success and reason of a goal."""
        answer = self.answer(handle.get_result_async())
        return answer.status, answer.result.success, answer.result.reason


@pytest.fixture
def arm(monkeypatch):
    rclpy.init(args=['--ros-args', '-p', 'robot:=planar_3r'], domain_id=int(fresh_domain()))
    made = Arm()
    yield made
    for node in made.nodes:
        node.destroy_node()
    rclpy.try_shutdown()


@pytest.mark.parametrize(
    ('names', 'position', 'message'),
    [
        (['joint_1'], 0.0, 'joint_2'),
        (JOINTS, np.nan, 'nan is not finite'),
        (JOINTS, 1e300, '1e+300'),
    ],
)
def test_feedback_that_is_nonsense_is_told_of_and_dropped(
    arm, monkeypatch, names, position, message
):
    logged = []
    monkeypatch.setattr(linear_move_node.Log, 'warning', lambda self, text: logged.append(text))
    arm.report()
    assert arm.move(-0.05, 0.02, 0.0).accepted
    arm.until(lambda: arm.follows)
    (follow,) = arm.follows
    valid = FollowJointTrajectory.Feedback(joint_names=JOINTS)
    valid.desired = JointTrajectoryPoint(positions=[0.1, 0.2, 0.3])
    valid.desired.time_from_start = follow.request.trajectory.points[-1].time_from_start
    valid.actual = valid.desired
    follow.publish_feedback(valid)
    arm.until(lambda: arm.heard)
    assert (arm.heard[0].progress, arm.heard[0].position_error) == (1.0, 0.0)
    assert arm.heard[0].remaining == pytest.approx(0.0, abs=1e-9)
    wrong = FollowJointTrajectory.Feedback(joint_names=names, desired=valid.desired)
    wrong.actual = JointTrajectoryPoint(positions=[position] * len(names))
    follow.publish_feedback(wrong)
    valid.desired.time_from_start.sec = valid.desired.time_from_start.nanosec = 0
    follow.publish_feedback(valid)
    arm.until(lambda: len(arm.heard) > 1)
    assert [each.progress for each in arm.heard] == [1.0, 0.0]
    assert len(logged) == 1
    assert logged[0].startswith('feedback of servo_controller dropped: ')
    assert message in logged[0]


@pytest.mark.parametrize('then', ['rests', 'moves on', 'is canceled'])
def test_a_goal_that_comes_before_the_report_of_rest_waits_a_moment_for_it(arm, monkeypatch, then):
    if then != 'moves on':
        monkeypatch.setattr(linear_move_node, 'REST_TIMEOUT', 300.0)
    arm.report(speed=0.5)
    first, second = arm.move(0.0, 0.0, 0.0), arm.move(0.0, 0.0, 0.0)
    status, success, reason = arm.end(second)
    assert (status, success) == (GoalStatus.STATUS_ABORTED, False)
    assert 'another linear_move is under way' in reason
    if then == 'rests':
        arm.report()
        assert arm.end(first) == (GoalStatus.STATUS_SUCCEEDED, True, '')
    elif then == 'moves on':
        status, success, reason = arm.end(first)
        assert (status, success) == (GoalStatus.STATUS_ABORTED, False)
        assert "joint 'joint_2': velocity 0.5 rad/s is above" in reason
    else:
        assert not arm.answer(second.cancel_goal_async()).goals_canceling
        assert arm.answer(first.cancel_goal_async()).goals_canceling
        arm.report(speed=0.5)
        canceled = GoalStatus.STATUS_CANCELED, False, 'canceled before it began'
        assert arm.end(first) == canceled
    assert not arm.follows
