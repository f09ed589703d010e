"""MoveIt's clients of the planner, where moveit_msgs is installed."""

import numpy as np
import pinocchio as pin
import pytest
from domains import fresh_domain
from long_wait import spin_until

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('moveit_msgs', reason='moveit_msgs is not installed: not on PyPI')

from action_msgs.msg import GoalStatus  # noqa: E402
from moveit_msgs.action import ExecuteTrajectory, MoveGroup  # noqa: E402
from moveit_msgs.msg import (  # noqa: E402
    BoundingVolume,
    Constraints,
    JointConstraint,
    MoveItErrorCodes,
    OrientationConstraint,
    PositionConstraint,
)
from moveit_msgs.srv import GetMotionPlan  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from shape_msgs.msg import SolidPrimitive  # noqa: E402

from arm_controllers.ros import object_messages  # noqa: E402
from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.messages import to_ns  # noqa: E402
from arm_controllers.ros.pose_messages import pose_to_message  # noqa: E402
from arm_dynamics.scene_clearance import scene_clearance  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402
from arm_sim.robot import Robot  # noqa: E402
from arm_sim.ros.simulator_node import SimulatorNode  # noqa: E402
from arm_sim.simulation.scene_shapes import scene_shapes  # noqa: E402
from arm_tools.planning.planner import plan_motion  # noqa: E402
from arm_tools.planning.ros.plan_motion_node import PlanMotionNode  # noqa: E402

UR5E = Robot.load('ur5e')
MODEL, START = UR5E.model, np.array(UR5E.start)
ASIDE = START + np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
INTO_THE_SHELF = np.array([-1.0, 0.6, -0.6, 0.0, 0.0, 0.0])
CODES = MoveItErrorCodes
JOINTS = MODEL.joint_names


class Arm:
    """An arm in the shelf, its planner, and a client."""

    def __init__(self):
        words = [word for x in ('autostart:=true', 'scene:=shelf') for word in ('-p', x)]
        arguments = ['--ros-args', *as_arguments(files_of('ur5e')), *words]
        rclpy.init(args=arguments, domain_id=int(fresh_domain()))
        planner, self.peer = PlanMotionNode(), rclpy.create_node('peer')
        self.nodes = SimulatorNode(), ControllerNode('servo'), planner, self.peer
        self.executor = SingleThreadedExecutor()
        for each in self.nodes:
            self.executor.add_node(each)
        self.service = self.peer.create_client(GetMotionPlan, 'plan_kinematic_path')
        self.group = ActionClient(self.peer, MoveGroup, 'move_action')
        self.execution = ActionClient(self.peer, ExecuteTrajectory, 'execute_trajectory')
        clients = self.service.service_is_ready, self.group.server_is_ready
        self.until(lambda: all(ready() for ready in clients))
        self.until(self.execution.server_is_ready)
        self.until(lambda: planner.count_publishers(object_messages.TOPIC))
        words = 'send again'
        while 'send again' in words or 'no controller_state' in words:
            words = self.plan(joints(ASIDE)).error_code.message

    def until(self, condition):
        spin_until(self.executor, condition)

    def answer(self, future):
        self.until(future.done)
        return future.result()

    def plan(self, *goals, **fields):
        request = GetMotionPlan.Request()
        request.motion_plan_request.goal_constraints = list(goals)
        for name, value in fields.items():
            setattr(request.motion_plan_request, name, value)
        return self.answer(self.service.call_async(request)).motion_plan_response

    def do(self, client, goal):
        """Return status and result of a goal of an action."""
        ended = self.answer(self.answer(client.send_goal_async(goal)).get_result_async())
        return ended.status, ended.result

    def close(self):
        for node in self.nodes:
            node.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture(scope='module')
def arm():
    made = Arm()
    yield made
    made.close()


def joints(q, names=JOINTS):
    pairs = zip(names, map(float, q), strict=False)
    given = [JointConstraint(joint_name=name, position=each) for name, each in pairs]
    return Constraints(joint_constraints=given)


def pose(end, link='tool0', frame='base_link'):
    place, turn = PositionConstraint(link_name=link), OrientationConstraint(link_name=link)
    place.header.frame_id = turn.header.frame_id = frame
    message = pose_to_message(end, frame).pose
    sphere = SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[0.001])
    place.constraint_region = BoundingVolume(primitives=[sphere], primitive_poses=[message])
    turn.orientation = message.orientation
    return Constraints(position_constraints=[place], orientation_constraints=[turn])


def points_of(response):
    points = response.trajectory.joint_trajectory.points
    times = [to_ns(each.time_from_start) * 1e-9 for each in points]
    return np.array(times), np.array([each.positions for each in points])


def test_the_plan_of_a_joint_goal_is_that_of_the_planner(arm):
    found = arm.plan(joints(ASIDE[::-1], JOINTS[::-1]), group_name='arm')
    assert (found.error_code.val, found.group_name) == (CODES.SUCCESS, 'arm')
    expected = plan_motion(scene_clearance(MODEL, scene_shapes('shelf')), START, ASIDE[None])
    times, q = points_of(found)
    np.testing.assert_allclose(times, expected.motion.times, atol=1e-9)
    np.testing.assert_allclose(q, expected.motion.q, atol=1e-12)
    np.testing.assert_array_equal(found.trajectory_start.joint_state.position, START)


@pytest.mark.parametrize('frame', ['', 'base_link', 'tool0'])
def test_a_pose_is_reached_in_every_frame_and_half_the_speed_takes_longer(arm, frame):
    end, here = (pin.SE3(MODEL.forward_kinematics(q)) for q in (ASIDE, START))
    given = here.actInv(end) if frame == 'tool0' else end
    found = arm.plan(pose(given, frame=frame))
    times, q = points_of(found)
    reached = MODEL.forward_kinematics(q[-1]).homogeneous
    np.testing.assert_allclose(reached, end.homogeneous, atol=2e-6)
    slow = arm.plan(pose(given, frame=frame), max_velocity_scaling_factor=0.2)
    slow_times, slow_q = points_of(slow)
    speed = np.abs(np.diff(slow_q, axis=0) / np.diff(slow_times)[:, None]) / MODEL.velocity_limit
    assert speed.max() <= 0.2 + 1e-9
    assert slow_times[-1] > times[-1]


def state_at(q):
    state = GetMotionPlan.Request().motion_plan_request.start_state
    state.joint_state.name, state.joint_state.position = list(JOINTS), list(map(float, q))
    return state


@pytest.mark.parametrize(
    ('goals', 'fields', 'code', 'words'),
    [
        ([], {}, CODES.INVALID_GOAL_CONSTRAINTS, 'goal_constraints is empty'),
        (
            [joints([1.0], ['elbow'])],
            {},
            CODES.INVALID_GOAL_CONSTRAINTS,
            "unknown joint 'elbow'; nearest known: 'elbow_joint'",
        ),
        ([joints(ASIDE + 20.0)], {}, CODES.GOAL_STATE_INVALID, 'goal of the plan'),
        ([joints([np.nan], JOINTS)], {}, CODES.GOAL_STATE_INVALID, 'nan'),
        (
            [joints([0.0, 1.2, 0.0, 0.0, 0.0, 0.0])],
            {},
            CODES.GOAL_IN_COLLISION,
            'inside',
        ),
        ([pose(pin.SE3(np.eye(3), np.array([5.0, 0, 0])))], {}, CODES.NO_IK_SOLUTION, 'goal of'),
        ([pose(pin.SE3.Identity(), 'tol')], {}, CODES.INVALID_LINK_NAME, 'tool0'),
        (
            [pose(pin.SE3.Identity(), frame='bas')],
            {},
            CODES.FRAME_TRANSFORM_FAILURE,
            'base_link',
        ),
        (
            [joints(ASIDE)],
            {'start_state': state_at(ASIDE + 20.0)},
            CODES.START_STATE_INVALID,
            'start_state',
        ),
        (
            [joints(ASIDE)],
            {'start_state': state_at([0.0, 1.2, 0.0, 0.0, 0.0, 0.0])},
            CODES.START_STATE_IN_COLLISION,
            'start of the plan',
        ),
        ([joints(ASIDE)], {'path_constraints': joints(ASIDE)}, CODES.FAILURE, 'path_constraints'),
        (
            [joints(ASIDE)],
            {'max_velocity_scaling_factor': 2.0},
            CODES.FAILURE,
            'max_velocity_scaling_factor is 2',
        ),
    ],
)
def test_a_request_that_is_impossible_is_refused_with_its_code_and_one_line(
    arm, goals, fields, code, words
):
    found = arm.plan(*goals, **fields)
    assert found.error_code.val == code, found.error_code.message
    assert words in found.error_code.message
    assert '\n' not in found.error_code.message
    assert not found.trajectory.joint_trajectory.points


def test_a_planned_trajectory_is_executed_and_the_way_back_by_one_goal(arm):
    found = arm.plan(joints(ASIDE))
    goal = ExecuteTrajectory.Goal(trajectory=found.trajectory)
    status, result = arm.do(arm.execution, goal)
    assert (status, result.error_code.val) == (GoalStatus.STATUS_SUCCEEDED, CODES.SUCCESS)
    there = arm.plan(joints(START)).trajectory_start.joint_state.position
    np.testing.assert_allclose(there, ASIDE, atol=1e-9)
    back = MoveGroup.Goal()
    back.request.goal_constraints = [joints(START)]
    back.planning_options.plan_only = True
    status, result = arm.do(arm.group, back)
    assert (status, result.error_code.val) == (GoalStatus.STATUS_SUCCEEDED, CODES.SUCCESS)
    assert len(result.planned_trajectory.joint_trajectory.points) > 10
    back.planning_options.plan_only = False
    status, result = arm.do(arm.group, back)
    assert (status, result.error_code.val) == (GoalStatus.STATUS_SUCCEEDED, CODES.SUCCESS)
    there = arm.plan(joints(ASIDE)).trajectory_start.joint_state.position
    np.testing.assert_allclose(there, START, atol=1e-9)


def test_a_trajectory_through_the_shelf_is_not_executed(arm):
    goal = ExecuteTrajectory.Goal()
    found = arm.plan(joints(ASIDE)).trajectory.joint_trajectory
    found.points = found.points[-1:]
    found.points[0].positions = (START + INTO_THE_SHELF).tolist()
    found.points[0].time_from_start.sec = 4
    goal.trajectory.joint_trajectory = found
    status, result = arm.do(arm.execution, goal)
    assert (status, result.error_code.val) == (
        GoalStatus.STATUS_ABORTED,
        CODES.INVALID_MOTION_PLAN,
    )
    assert "object '" in result.error_code.message
