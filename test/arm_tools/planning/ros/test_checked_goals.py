"""Goals that a controller checks against the objects of a simulation, also while they run."""

import re

import numpy as np
import pytest
from domains import fresh_domain
from long_wait import spin_until

rclpy = pytest.importorskip('rclpy')

from action_msgs.msg import GoalStatus  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from control_msgs.msg import JointTrajectoryControllerState  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

from arm_controllers.follower.goal import Goal  # noqa: E402
from arm_controllers.ros import object_messages  # noqa: E402
from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.messages import trajectory_message  # noqa: E402
from arm_dynamics.object_shapes import ObjectShape  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402
from arm_sim.robot import Robot  # noqa: E402
from arm_sim.ros.simulator_node import SimulatorNode  # noqa: E402

UR5E = Robot.load('ur5e')
MODEL, START = UR5E.model, np.array(UR5E.start)
ASIDE = START + np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
RADIUS = 0.05


def wrist(q):
    return MODEL.forward_kinematics(q, 'wrist_3_link').translation


def ball(place):
    """Return the message of a ball at a place."""
    pose = (*np.asarray(place).tolist(), 0.0, 0.0, 0.0, 1.0)
    colour = (1.0, 0.0, 0.0, 1.0)
    shape = ObjectShape('ball', 'sphere', (2.0 * RADIUS,) * 3, colour, '', pose)
    return object_messages.ObjectMessages((shape,), (), 'base_link').at(np.empty((0, 7)), 0)


class Arm:
    """A simulator, a controller, and a client that also publishes where a ball is."""

    def __init__(self):
        words = as_arguments(files_of('ur5e'))
        for each in ('autostart:=true', 'constraints.clearance:=0.01'):
            words += ['-p', each]
        rclpy.init(args=['--ros-args', *words], domain_id=int(fresh_domain()))
        self.controller, self.peer = ControllerNode('servo'), rclpy.create_node('peer')
        self.nodes, self.executor = (
            (SimulatorNode(), self.controller, self.peer),
            SingleThreadedExecutor(),
        )
        for each in self.nodes:
            self.executor.add_node(each)
        self.reports, self.on_feedback = [], lambda t: None
        name = '/servo_controller/'
        self.peer.create_subscription(
            JointTrajectoryControllerState, f'{name}controller_state', self.reports.append, 10
        )
        self.objects = self.peer.create_publisher(MarkerArray, object_messages.TOPIC, 10)
        self.client = ActionClient(
            self.peer, FollowJointTrajectory, f'{name}follow_joint_trajectory'
        )
        self.until(lambda: self.client.server_is_ready() and self.reports)
        self.until(lambda: self.controller.count_publishers(object_messages.TOPIC))

    def until(self, condition):
        spin_until(self.executor, condition)

    def answer(self, future):
        self.until(future.done)
        return future.result()

    def follow(self, end, duration):
        """Have the arm move; return the status and the reason."""
        points = np.array([duration]), np.array([end]), np.zeros((1, 6))
        goal = Goal(tuple(MODEL.joint_names), *points)
        request = FollowJointTrajectory.Goal(trajectory=trajectory_message(goal))
        sent = self.client.send_goal_async(request, lambda each: self.on_feedback(each.feedback))
        ended = self.answer(self.answer(sent).get_result_async())
        return ended.status, ended.result.error_string

    def close(self):
        for node in self.nodes:
            node.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture
def arm():
    made = Arm()
    yield made
    made.close()


def test_a_controller_refuses_a_blocked_goal_and_brakes_for_an_object_that_comes(arm):
    aborted = GoalStatus.STATUS_ABORTED
    assert arm.follow(ASIDE, 1.0) == (
        aborted,
        'no message on simulator/objects has come yet: send the goal again',
    )
    for each in (b'\x00\x01\x00\x00\xff\xff\xff\xff', ball(wrist(ASIDE))):  # no MarkerArray first
        arm.objects.publish(each)
    reason = 'send the goal again'
    while 'send the goal again' in reason:
        status, reason = arm.follow(ASIDE, 4.0)
    blocked = r"link '\w+' is .* object 'ball' at \(.*\) m, t = [\d.]+ s; at least 10 mm off is "
    assert status == aborted
    assert re.match(blocked, reason)
    assert not np.any(arm.reports[-1].reference.velocities)
    # Away from the ball the arm may go; there the ball comes.
    other, sent = 2.0 * START - ASIDE, []

    def come(feedback):
        if not sent:
            sent.append(arm.objects.publish(ball(wrist(other))))

    arm.on_feedback = come
    arm.reports.clear()
    status, reason = arm.follow(other, 20.0)
    assert status == aborted
    assert re.match(f'stopped on the way: {blocked}', reason)
    arm.until(lambda: not np.any(arm.reports[-1].reference.velocities))
    q = np.array([each.feedback.positions for each in arm.reports])
    assert q[:, 0].min() < START[0]
    distances = np.linalg.norm([wrist(each) - wrist(other) for each in q], axis=1)
    assert distances.min() > RADIUS + 0.01
    # Without the parameter the goal is followed, through the ball.
    off = Parameter('constraints.clearance', value=-1.0)
    assert arm.controller.set_parameters([off])[0].successful
    assert arm.follow(other, 1.0)[0] == GoalStatus.STATUS_SUCCEEDED
