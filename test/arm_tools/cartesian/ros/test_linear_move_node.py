"""The node linear_move between a client and a controller: feedback, rest, and cancellation."""

import re

import numpy as np
import pinocchio as pin
import pytest
from arms import load_arm
from domains import fresh_domain
from long_wait import spin_until

rclpy = pytest.importorskip('rclpy')

from action_msgs.msg import GoalStatus  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from control_msgs.msg import JointTrajectoryControllerState  # noqa: E402
from geometry_msgs.msg import Vector3  # noqa: E402
from rclpy.action import ActionClient, CancelResponse  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from trajectory_msgs.msg import JointTrajectoryPoint  # noqa: E402

from arm_controllers.ros import object_messages  # noqa: E402
from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.goal_endpoints import EventActionServer  # noqa: E402
from arm_controllers.ros.pose_messages import pose_to_message  # noqa: E402
from arm_dynamics.object_shapes import ObjectShape  # noqa: E402
from arm_interfaces.action import LinearMove  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402
from arm_sim.robot import Robot  # noqa: E402
from arm_sim.ros.simulator_node import SimulatorNode  # noqa: E402
from arm_tools.cartesian.ros import linear_move_node, motion_action  # noqa: E402

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
        self.server = EventActionServer(
            peer, FollowJointTrajectory, name, self.follows.append,
            cancel_callback=lambda handle: CancelResponse.ACCEPT,
        )  # fmt: skip
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
def test_feedback_that_is_nonsense_is_reported_and_dropped(
    arm, monkeypatch, names, position, message
):
    logged = []
    monkeypatch.setattr(motion_action.Log, 'warning', lambda self, text: logged.append(text))
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
        monkeypatch.setattr(motion_action, 'REST_TIMEOUT', 300.0)
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


def post(x, y=0.1):
    """Return the message of a post of 40 mm at a place in the plane of the arm."""
    pose = (x, y, 0.5, 0.0, 0.0, 0.0, 1.0)
    shape = ObjectShape('post', 'box', (0.04, 0.04, 0.4), (1.0, 0.0, 0.0, 1.0), '', pose)
    return object_messages.ObjectMessages((shape,), (), 'base_link').at(np.empty((0, 7)), 0)


def see(arm, monkeypatch, raw):
    """Receive the objects around the arm."""
    monkeypatch.setattr(motion_action, '_LOOK', 0.0)
    (objects,) = [x for x in arm.node.subscriptions if x.topic_name.endswith('/objects')]
    objects.callback(raw)


def test_a_blocked_motion_is_refused_with_link_object_time_and_distance(arm, monkeypatch):
    x, y, _ = MODEL.forward_kinematics(Q).translation
    see(arm, monkeypatch, post(x - 0.1, y + 0.05))
    arm.report()
    status, success, reason = arm.end(arm.move(-0.1, 0.05, 0.0))
    assert (status, success) == (GoalStatus.STATUS_ABORTED, False)
    assert re.fullmatch(
        r"link '\w+' is (touching|[\d.]+ mm inside) object 'post' at \(.*\) m, t = [\d.]+ s; "
        'at least 0 mm off is allowed', reason
    )  # fmt: skip
    assert not arm.follows
    see(arm, monkeypatch, post(5.0))
    arm.move(-0.1, 0.05, 0.0)
    arm.until(lambda: arm.follows)


def test_an_object_that_comes_into_the_way_stops_the_motion(arm, monkeypatch):
    see(arm, monkeypatch, post(5.0))
    arm.report()
    handle = arm.move(-0.1, 0.05, 0.0)
    arm.until(lambda: arm.follows)
    (follow,) = arm.follows
    x, y, _ = MODEL.forward_kinematics(Q).translation
    see(arm, monkeypatch, post(x - 0.1, y + 0.05))
    arm.until(lambda: follow.is_cancel_requested)
    arm.server.finish(follow, FollowJointTrajectory.Result(), canceled=True)
    status, success, reason = arm.end(handle)
    assert (status, success) == (GoalStatus.STATUS_ABORTED, False)
    assert re.match(
        r"stopped on the way: link '\w+' is .* object 'post' at .* t = [\d.]+ s", reason
    )


SCENE = """
- {{name: table, size: [0.4, 0.4, 0.04], position: {position}, stiffness: 2e4, damping: 200}}
"""


class WholeArm(Arm):
    """Simulator, controller and `linear_move`, a surface 10 mm below the tool, and a client."""

    def __init__(self, tmp_path):
        rig = 'ur5e gripper:=probe'
        robot = Robot.load(rig)
        self.tip = pin.SE3(robot.model.forward_kinematics(robot.start))
        place = self.tip.translation - [0.0, 0.0, 0.03]
        scene = tmp_path / 'scene.yaml'
        scene.write_text(SCENE.format(position=place.tolist()))
        given = {
            'robot': rig, 'autostart': 'true', 'scene': scene,
            'force_torque.frame': robot.model.tool_carrier, 'force_torque.tare_at_reset': 'true',
        }  # fmt: skip
        words = [word for name, x in given.items() for word in ('-p', f'{name}:={x}')]
        arguments = ['--ros-args', *as_arguments(files_of(rig)), *words]
        rclpy.init(args=arguments, domain_id=int(fresh_domain()))
        self.controller, peer = ControllerNode('servo'), rclpy.create_node('peer')
        self.simulator, self.node = SimulatorNode(), linear_move_node.LinearMoveNode()
        self.nodes = self.simulator, self.controller, self.node, peer
        self.executor = SingleThreadedExecutor()
        for each in self.nodes:
            self.executor.add_node(each)
        self.client = ActionClient(peer, LinearMove, 'linear_move')
        self.reports = []
        name = '/servo_controller/controller_state'
        peer.create_subscription(JointTrajectoryControllerState, name, self.reports.append, 10)
        self.until(lambda: self.reports and self.client.server_is_ready())

    def end_of(self, depth, **fields):
        """Return the result of a motion to a depth [m] below the start of the tool."""
        goal, pose = LinearMove.Goal(tip_speed_limit=0.05, **fields), self.tip.copy()
        pose.translation = pose.translation - [0.0, 0.0, depth]
        self.until(lambda: not any(self.reports[-1].reference.velocities))  # at rest
        goal.path.poses = [pose_to_message(pose, '').pose]
        return self.answer(
            self.answer(self.client.send_goal_async(goal)).get_result_async()
        ).result

    def parameters(self):
        """Return the controller's parameters that end goals."""
        words = 'force', 'direction', 'frame', 'distance'
        values = [self.controller.get_parameter(f'end_on_force.{each}').value for each in words]
        return [each if isinstance(each, float | str) else list(each) for each in values]


@pytest.mark.slow
def test_a_motion_ends_on_force_or_distance_and_leaves_the_controller_as_it_was(tmp_path):
    arm = WholeArm(tmp_path)
    try:
        own = Parameter('end_on_force.distance', value=0.5)
        assert arm.controller.set_parameters([own])[0].successful
        before, along = arm.parameters(), Vector3(z=-1.0)
        for fields, words in (
            ({'end_force': -1.0}, 'servo_controller: end_on_force.force is -1'),
            ({'end_force': 5.0, 'end_frame': 'tol0'}, "servo_controller: no frame 'tol0'"),
            ({'end_distance': 0.05, 'end_direction': along}, 'end_direction and end_frame are of'),
        ):
            result = arm.end_of(0.02, **fields)
            assert not result.success
            assert words in result.reason
        assert arm.parameters() == before

        result = arm.end_of(0.004)  # without an end of its own
        assert (result.success, result.reason, result.ended_on) == (True, '', '')
        result = arm.end_of(0.02, end_force=500.0, end_distance=0.002)
        assert result.success
        assert 'the tool has moved by 0.002' in result.ended_on
        assert arm.end_of(0.0).success  # off the surface: it begins without force
        result = arm.end_of(0.04, end_force=10.0, end_direction=along, end_distance=0.05)
        assert result.success
        force = float(
            re.match(r'ended on force: (.*) N along \[0.0, 0.0, -1.0\]', result.ended_on)[1]
        )
        # The threshold is crossed between two states, at 0.05 m/s on 2e4 N/m, 200 N.s/m.
        assert 10.0 <= force < 10.0 + 2e4 * 0.05 * 0.002 + 200.0 * 0.05
        arm.until(lambda: arm.parameters() == before)
    finally:
        for node in arm.nodes:
            node.destroy_node()
        rclpy.try_shutdown()


def test_an_end_on_force_without_a_sensor_is_refused(arm):
    arm.report()
    goal, pose = LinearMove.Goal(position_only=True), pin.SE3(MODEL.forward_kinematics(Q))
    goal.end_force = 10.0
    goal.path.poses = [pose_to_message(pose, '').pose]
    status, success, reason = arm.end(arm.answer(arm.client.send_goal_async(goal)))
    assert (status, success) == (GoalStatus.STATUS_ABORTED, False)
    assert reason == (
        'end_force needs a sensor, and no node publishes force_torque_sensor_broadcaster/wrench'
    )
