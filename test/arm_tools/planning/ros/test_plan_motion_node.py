"""The node plan_motion between a client and a controller: motions, refusals, the whole arm."""

import re
import sys

import numpy as np
import pinocchio as pin
import pytest
from domains import fresh_domain
from long_wait import spin_until
from optional import optional

rclpy = pytest.importorskip('rclpy')

from action_msgs.msg import GoalStatus  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from control_msgs.msg import JointTrajectoryControllerState  # noqa: E402
from rclpy.action import ActionClient, CancelResponse  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from trajectory_msgs.msg import JointTrajectoryPoint  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

from arm_controllers.ros import object_messages  # noqa: E402
from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.goal_endpoints import EventActionServer  # noqa: E402
from arm_controllers.ros.messages import to_ns  # noqa: E402
from arm_controllers.ros.pose_messages import pose_to_message  # noqa: E402
from arm_dynamics.object_shapes import ObjectShape  # noqa: E402
from arm_dynamics.scene_clearance import scene_clearance  # noqa: E402
from arm_interfaces.action import PlanMotion  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402
from arm_sim.robot import Robot  # noqa: E402
from arm_sim.ros.simulator_node import SimulatorNode  # noqa: E402
from arm_sim.simulation.scene_shapes import scene_shapes  # noqa: E402
from arm_tools.cartesian.ros import motion_action  # noqa: E402
from arm_tools.planning.planner import plan_motion  # noqa: E402
from arm_tools.planning.ros.plan_motion_node import PlanMotionNode  # noqa: E402

UR5E = Robot.load('ur5e')
MODEL, START = UR5E.model, np.array(UR5E.start)
SHELF = scene_shapes('shelf')
ASIDE = START + np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
TIP = pin.SE3(MODEL.forward_kinematics(ASIDE))
FAILED = GoalStatus.STATUS_ABORTED, False


class Client:
    """Nodes, and a client of the action."""

    def begin(self, *nodes):
        self.peer = rclpy.create_node('peer')
        self.nodes, self.executor = (*nodes, self.peer), SingleThreadedExecutor()
        for each in self.nodes:
            self.executor.add_node(each)
        self.client, self.heard = ActionClient(self.peer, PlanMotion, 'plan_motion'), []

    def until(self, condition):
        spin_until(self.executor, condition)

    def answer(self, future):
        self.until(future.done)
        return future.result()

    def send(self, **fields):
        """Send a goal; return its handle."""
        sent = self.client.send_goal_async(
            PlanMotion.Goal(**fields), lambda each: self.heard.append(each.feedback)
        )
        return self.answer(sent)

    def end(self, handle):
        """Return status, success and reason of a goal, and its result."""
        answer = self.answer(handle.get_result_async())
        result = answer.result
        return (answer.status, result.success), result.reason, result

    def close(self):
        for node in self.nodes:
            node.destroy_node()
        rclpy.try_shutdown()


def report_rest(node):
    """Let a node hear of an arm at rest at START."""
    (state,) = [x for x in node.subscriptions if x.topic_name.endswith('_state')]
    report = JointTrajectoryControllerState(joint_names=MODEL.joint_names)
    report.reference = JointTrajectoryPoint(positions=START, velocities=np.zeros(6))
    state.callback(report)


class Arm(Client):
    """The node, a controller that does nothing, and a client."""

    def __init__(self):
        self.node = PlanMotionNode()
        self.begin(self.node)
        self.follows = []
        self.server = EventActionServer(
            self.peer, FollowJointTrajectory, '/servo_controller/follow_joint_trajectory',
            self.follows.append, cancel_callback=lambda handle: CancelResponse.ACCEPT,
        )  # fmt: skip
        self.until(self.client.server_is_ready)
        report_rest(self.node)

    def see(self, *shapes):
        """Receive the objects around the arm."""
        (objects,) = [x for x in self.node.subscriptions if x.topic_name.endswith('/objects')]
        messages = object_messages.ObjectMessages(shapes, (), 'base_link')
        objects.callback(messages.at(np.empty((0, 7)), 0))

    def followed(self):
        """Return the handle of the goal that the controller was sent."""
        self.until(lambda: self.follows)
        return self.follows[0]


@pytest.fixture
def arm(monkeypatch):
    monkeypatch.setattr(motion_action, '_LOOK', 0.0)
    rclpy.init(args=[], domain_id=int(fresh_domain()))
    made = Arm()
    yield made
    made.close()


def ball(q, size=0.06):
    """Return a ball at the wrist of a configuration."""
    place = MODEL.forward_kinematics(q, 'wrist_3_link').translation
    pose = (*place.tolist(), 0.0, 0.0, 0.0, 1.0)
    return ObjectShape('ball', 'sphere', (size,) * 3, (1.0, 0.0, 0.0, 1.0), '', pose)


def points_of(follow):
    """Return the times (m,) and positions (m, n) of a goal of a controller."""
    points = follow.request.trajectory.points
    times = [to_ns(each.time_from_start) * 1e-9 for each in points]
    return np.array(times), np.array([each.positions for each in points])


@pytest.mark.slow
def test_the_controller_gets_the_motion_that_the_planner_plans_and_the_client_its_end(arm):
    arm.see(*SHELF)
    handle = arm.send(positions=ASIDE[::-1], joint_names=MODEL.joint_names[::-1])
    follow = arm.followed()
    found = plan_motion(scene_clearance(MODEL, SHELF), START, ASIDE[None])
    times, q = points_of(follow)
    np.testing.assert_allclose(times, found.motion.times, atol=1e-9)
    np.testing.assert_array_equal(q, found.motion.q)
    report = FollowJointTrajectory.Feedback(joint_names=MODEL.joint_names)
    report.desired.time_from_start.nanosec = int(0.25e9 * found.motion.duration)
    follow.publish_feedback(report)
    arm.until(lambda: len(arm.heard) > 1)
    assert [each.state for each in arm.heard] == ['planning', 'moving']
    assert arm.heard[1].progress == pytest.approx(0.25, abs=1e-6)
    arm.server.finish(follow, FollowJointTrajectory.Result(), succeeded=True)
    ended, reason, result = arm.end(handle)
    assert (ended, reason) == ((GoalStatus.STATUS_SUCCEEDED, True), '')
    assert result.duration == pytest.approx(found.motion.duration, abs=1e-9)
    assert result.clearance == found.nearest.distance
    assert result.nearest.startswith(f'{found.nearest}, t = ')


@pytest.mark.parametrize('frame', ['', 'tool0'])
def test_a_pose_may_be_in_the_base_or_in_a_frame_of_the_arm_at_the_start(arm, frame):
    arm.see(*SHELF)
    tool = pin.SE3(MODEL.forward_kinematics(START))
    goal = PlanMotion.Goal().poses
    goal.header.frame_id = frame
    goal.poses = [pose_to_message(tool.actInv(TIP) if frame else TIP, '').pose]
    arm.send(poses=goal)
    end = MODEL.forward_kinematics(points_of(arm.followed())[1][-1])
    np.testing.assert_allclose(end.homogeneous, TIP.homogeneous, atol=2e-6)


def test_an_end_inside_an_object_is_refused_with_link_and_object(arm):
    arm.see(ball(ASIDE))
    ended, reason, _ = arm.end(arm.send(positions=ASIDE))
    assert ended == FAILED
    assert re.fullmatch(
        r"goal of the plan: link '\w+' is [\d.]+ mm inside object 'ball' at \(.*\) m; at least "
        '10 mm off is allowed', reason,
    )  # fmt: skip
    assert not arm.follows


def test_a_plan_takes_the_newest_objects_however_soon_they_come_after_others(arm, monkeypatch):
    monkeypatch.setattr(motion_action, '_LOOK', 1000.0)
    arm.see(*SHELF)
    arm.see(*SHELF, ball(ASIDE))
    ended, reason, _ = arm.end(arm.send(positions=ASIDE))
    assert ended == FAILED
    assert "inside object 'ball'" in reason


@pytest.mark.parametrize('missing', ['ompl', 'toppra'])
def test_a_missing_library_is_named_with_its_remedy(arm, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    if missing == 'ompl':
        arm.see(ball((START + ASIDE) / 2.0))
    ended, reason, _ = arm.end(arm.send(positions=ASIDE))
    assert ended == FAILED
    assert '\n' not in reason
    assert f'pip install {missing}' in reason
    assert not arm.follows


def poses(count, **position):
    message = PlanMotion.Goal().poses
    for _ in range(count):
        message.poses.append(pose_to_message(TIP, '').pose)
        for axis, value in position.items():
            setattr(message.poses[-1].position, axis, value)
    return message


def in_frame(frame):
    message = poses(1)
    message.header.frame_id = frame
    return message


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ('fields', 'words'),
    [
        ({}, 'one of positions, poses and grasp; given: none of them'),
        ({'positions': ASIDE, 'grasp': 'can'}, 'given: positions and grasp'),
        ({'positions': ASIDE[:2]}, '2 positions values for 6 joint names'),
        ({'positions': [0.0], 'joint_names': ['elbow']}, "joint 'shoulder_pan_joint' is named 0"),
        ({'positions': [np.nan] * 6}, 'positions nan is not finite'),
        ({'positions': ASIDE + 20.0}, 'goal of the plan'),
        ({'grasp': 'cann'}, "'can'"),
        ({'grasp': 'can', 'approach': 2.0}, 'approach is 2; it must be finite, >= 0 and <= 1'),
        ({'grasp': 'can', 'approach': np.nan}, 'approach is nan'),
        ({'poses': in_frame('tol0')}, 'tol0'),
        ({'poses': poses(101)}, '101 poses; allowed: 1 to 100'),
        ({'poses': poses(1, x=np.inf)}, 'pose 1 of the path is (inf'),
        ({'poses': poses(1, x=5.0)}, 'goal of the plan'),
    ],
)
def test_a_malformed_goal_is_refused_in_one_line_and_nothing_is_sent(arm, fields, words):
    arm.see(*SHELF)
    ended, reason, _ = arm.end(arm.send(**fields))
    assert ended == FAILED
    assert words in reason
    assert '\n' not in reason
    assert not arm.follows


@pytest.mark.parametrize('lacking', ['server', 'report'])
def test_a_goal_waits_for_a_controller_that_has_just_started(monkeypatch, lacking):
    rclpy.init(args=[], domain_id=int(fresh_domain()))
    client, node, follows = Client(), PlanMotionNode(), []
    client.begin(node)

    def serve():
        name = '/servo_controller/follow_joint_trajectory'
        EventActionServer(client.peer, FollowJointTrajectory, name, follows.append)

    try:
        client.until(client.client.server_is_ready)
        if lacking == 'report':
            serve()
        else:
            report_rest(node)
        monkeypatch.setattr(motion_action, 'REST_TIMEOUT', 0.0)
        ended, reason, _ = client.end(client.send(positions=ASIDE))
        assert ended == FAILED
        monkeypatch.setattr(motion_action, 'REST_TIMEOUT', 300.0)
        assert client.send(positions=ASIDE).accepted
        if lacking == 'report':
            assert reason.startswith('no ')
            report_rest(node)
        else:
            assert reason.startswith('no node serves servo_controller/follow_joint_trajectory')
            serve()
        client.until(lambda: follows)
    finally:
        client.close()


def test_without_the_objects_that_a_node_publishes_nothing_is_planned(arm):
    publisher = arm.peer.create_publisher(MarkerArray, object_messages.TOPIC, 10)
    arm.until(lambda: arm.node.count_publishers(object_messages.TOPIC))
    ended, reason, _ = arm.end(arm.send(positions=ASIDE))
    assert ended == FAILED
    assert reason == 'no message on simulator/objects has come yet: send again'
    arm.peer.destroy_publisher(publisher)


@pytest.mark.slow
def test_an_object_that_comes_into_the_way_stops_the_motion(arm):
    arm.see(ball(START - 1.0))
    handle = arm.send(positions=ASIDE)
    follow = arm.followed()
    arm.see(ball(ASIDE))
    arm.until(lambda: follow.is_cancel_requested)
    arm.server.finish(follow, FollowJointTrajectory.Result(), canceled=True)
    ended, reason, _ = arm.end(handle)
    assert ended == FAILED
    assert re.match(r"stopped on the way: link '\w+' is .* object 'ball' at .* t = [\d.]+", reason)


@pytest.mark.slow
def test_a_whole_arm_goes_around_the_boards_of_the_shelf_to_the_can():
    optional('ompl', 'ompl>=2')
    words = [word for x in ('autostart:=true', 'scene:=shelf') for word in ('-p', x)]
    arguments = ['--ros-args', *as_arguments(files_of('ur5e')), *words]
    rclpy.init(args=arguments, domain_id=int(fresh_domain()))
    arm, reports = Client(), []
    node = PlanMotionNode()
    arm.begin(SimulatorNode(), ControllerNode('servo'), node)
    try:
        state = '/servo_controller/controller_state'
        arm.peer.create_subscription(JointTrajectoryControllerState, state, reports.append, 10)
        arm.until(lambda: reports and arm.client.server_is_ready())
        arm.until(lambda: node.count_publishers(object_messages.TOPIC))
        reason = 'send again'
        while 'send again' in reason:
            ended, reason, result = arm.end(arm.send(grasp='can'))
        assert (ended, reason) == ((GoalStatus.STATUS_SUCCEEDED, True), '')
        assert result.clearance >= 0.005
        (can,) = [each for each in SHELF if each.name == 'can']
        q = np.array(reports[-1].feedback.positions)
        tool = pin.SE3(MODEL.forward_kinematics(q))
        way = np.array(can.pose[:3]) - tool.translation
        np.testing.assert_allclose(tool.rotation[:, 2], way / np.linalg.norm(way), atol=0.02)
        axis = int(np.abs(way).argmax())
        assert np.abs(way).max() == pytest.approx(can.size[axis] / 2.0 + 0.05, abs=2e-3)
    finally:
        arm.close()
