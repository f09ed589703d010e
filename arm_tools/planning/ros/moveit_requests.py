"""MoveIt's interfaces over the planner: GetMotionPlan, MoveGroup and ExecuteTrajectory.

The node `plan_motion` offers them where moveit_msgs is installed.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import replace as changed
from functools import partial
from typing import Any

import numpy as np
from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import (
    Constraints,
    MotionPlanRequest,
    MotionPlanResponse,
    MoveItErrorCodes,
    RobotState,
)
from moveit_msgs.srv import GetMotionPlan
from rclpy.node import Node

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.log import shortened
from arm_controllers.ros.messages import (
    MOST_POINTS_LOCKSTEP,
    goal_from_message,
    prefix_of,
    trajectory_message,
)
from arm_controllers.ros.pose_messages import pose_from_message
from arm_controllers.ros.ros_types import AnyMessage, Kind
from arm_controllers.ros.serialized_messages import JointReader
from arm_controllers.ros.services import RefusedError, refused, serve
from arm_dynamics.checks import ArmError, Array, in_range, unknown
from arm_dynamics.clearance import Clearance
from arm_dynamics.model import RobotModel
from arm_dynamics.motion_check import MotionCheck
from arm_tools.cartesian.ros.motion_action import Motion, MotionAction
from arm_tools.planning.planner import Plan, PlanError, PlanParameters, goals_of_poses, plan_motion

_Codes = MoveItErrorCodes
_CODE_OF = {
    'start': _Codes.START_STATE_IN_COLLISION,
    'goal': _Codes.GOAL_IN_COLLISION,
    'reach': _Codes.NO_IK_SOLUTION,
    'path': _Codes.PLANNING_FAILED,
}


@dataclass
class _Result:
    """The result of an action, before it is a message."""

    success: bool = False
    reason: str = ''
    duration: float = 0.0
    code: int = 0
    plan: MotionPlanResponse = field(default_factory=MotionPlanResponse)

    def error_code(self) -> MoveItErrorCodes:
        """Return the code and the reason."""
        code, reason = self.code or _Codes.CONTROL_FAILED, self.reason
        if self.success:
            code, reason = _Codes.SUCCESS, ''
        elif reason.startswith('stopped on the way'):
            code = _Codes.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
        elif reason.startswith('canceled'):
            code = _Codes.PREEMPTED
        return MoveItErrorCodes(val=code, message=reason, source='plan_motion')


class MoveitRequests:
    """Answers MoveIt's clients: a service that plans, and two actions that move the arm.

    There is one group, the whole arm, whatever its name; the objects are those of the simulation.
    """

    def __init__(
        self,
        node: Node,
        model: RobotModel,
        action: MotionAction,
        check: MotionCheck,
        around: Callable[[], Clearance],
        parameters: PlanParameters,
    ):
        """Open the service and the actions.

        Args:
            node, model: of the arm.
            action: has the arm moved.
            check: of motions against objects.
            around: returns the distances from what is around the arm now; may raise ArmError.
            parameters: PlanParameters, with an array for each number per joint.
        """
        self._model, self._action, self._check = model, action, check
        self._around, self._parameters, self._prefix = around, parameters, prefix_of(node)
        self._reader = JointReader(model.joint_names)
        serve(node, GetMotionPlan, 'plan_kinematic_path', self._on_plan)
        offers: tuple[tuple[Any, str, Any, Any], ...] = (
            (MoveGroup, 'move_action', self._plan_group, _group_result),
            (ExecuteTrajectory, 'execute_trajectory', self._read_trajectory, _execute_result),
        )
        for kind, name, plan, message in offers:
            action.offer(kind, name, plan, partial(_feedback, kind), _Result, message)

    def _on_plan(self, request: GetMotionPlan.Request, response: GetMotionPlan.Response) -> None:
        """Answer with a trajectory, or with the reason why there is none."""
        result = _Result()
        try:
            with _coded(result):
                self._planned(request.motion_plan_request, result)
            result.success = True
        except ArmError as error:
            result.reason = shortened(str(error))
        response.motion_plan_response = result.plan
        result.plan.group_name = request.motion_plan_request.group_name
        result.plan.error_code = result.error_code()

    def _plan_group(self, move: Motion, start: Array) -> Goal | None:
        """Return the trajectory of a goal of MoveGroup; None where it is only planned."""
        asked, options = move.handle.request.request, move.handle.request.planning_options
        with _coded(move.result):
            if options.planning_scene_diff.world.collision_objects:
                raise ArmError(
                    'planning_scene_diff has objects; allowed: those of /simulator/objects'
                )
            plan = self._planned(asked, move.result)
        names = tuple(self._model.joint_names)
        return None if options.plan_only else plan.motion.goal(names)

    def _read_trajectory(self, move: Motion, start: Array) -> Goal:
        """Return the trajectory of a goal of ExecuteTrajectory, checked against the objects."""
        asked = move.handle.request.trajectory.joint_trajectory
        with _coded(move.result), refused(_Codes.INVALID_MOTION_PLAN):
            goal = goal_from_message(asked, MOST_POINTS_LOCKSTEP)
            if goal.positions is None or not len(goal.times):
                raise ArmError('a trajectory has points with positions')
            names, read = list(goal.joint_names), self._reader.read
            q = np.array([read(names, each, 'positions').copy() for each in goal.positions])
            self._check.begin(np.append(0.0, goal.times), np.vstack([start, q]))
        return goal

    def _planned(self, asked: MotionPlanRequest, result: _Result) -> Plan:
        """Return the plan of a MotionPlanRequest, and write into the result."""
        began = time.process_time()
        self._check_supported(asked)
        start, p = self._start(asked.start_state), self._scaled(asked)
        clearance = self._around()
        goals = [self._goals(each, clearance, start, p) for each in asked.goal_constraints]
        plan = plan_motion(clearance, start, np.vstack(goals), p)
        names = tuple(self._model.joint_names)
        answer = result.plan
        answer.planning_time = time.process_time() - began
        answer.trajectory_start.joint_state.name = list(names)
        answer.trajectory_start.joint_state.position = start.tolist()
        answer.trajectory.joint_trajectory = trajectory_message(plan.motion.goal(names))
        answer.trajectory.joint_trajectory.header.frame_id = self._prefix + self._model.base_frame
        return plan

    def _check_supported(self, asked: MotionPlanRequest) -> None:
        if not asked.goal_constraints:
            raise RefusedError(_Codes.INVALID_GOAL_CONSTRAINTS, 'goal_constraints is empty')
        unknown = {
            'path_constraints': any(_parts(asked.path_constraints)),
            'trajectory_constraints': bool(asked.trajectory_constraints.constraints),
            'start_state.attached_collision_objects': bool(
                asked.start_state.attached_collision_objects
            ),
        }
        for name, given in unknown.items():
            if given:
                raise ArmError(f'{name} are not supported; leave them out')

    def _start(self, state: RobotState) -> Array:
        """Return the configuration (n,) of a start state; joints that are missing rest."""
        joints = state.joint_state
        if joints.name and not state.is_diff and set(self._model.joint_names) <= set(joints.name):
            q = np.empty(0)
        else:
            q = self._action.resting_reference()
        where = dict(zip(joints.name, joints.position, strict=False))
        rows = [
            where.get(name, q[k] if len(q) else np.nan)
            for k, name in enumerate(self._model.joint_names)
        ]
        with refused(_Codes.START_STATE_INVALID):
            return self._model.check_configuration(np.array(rows), 'start_state')

    def _scaled(self, asked: MotionPlanRequest) -> PlanParameters:
        """Return the parameters with the limits of a request."""
        p, shares = self._parameters, []
        for name in ('max_velocity_scaling_factor', 'max_acceleration_scaling_factor'):
            share = getattr(asked, name) or 1.0
            in_range(name, share, 0.0, 1.0, True)
            shares.append(share)
        most = np.minimum(p.acceleration_limit, self._model.acceleration_limit)
        return changed(
            p, velocity_share=p.velocity_share * shares[0],
            acceleration_limit=tuple((shares[1] * most).tolist()),
        )  # fmt: skip

    def _goals(
        self, asked: Constraints, clearance: Clearance, start: Array, p: PlanParameters
    ) -> Array:
        """Return configurations (k, n) that meet constraints exactly."""
        joints, places, turns, views = _parts(asked)
        model = self._model
        if joints and not (places or turns or views):
            q = start.copy()
            for each in joints:
                if each.joint_name not in model.joint_names:
                    why = unknown('joint', each.joint_name, model.joint_names)
                    raise RefusedError(_Codes.INVALID_GOAL_CONSTRAINTS, why)
                q[model.joint_names.index(each.joint_name)] = each.position
            with refused(_Codes.GOAL_STATE_INVALID):
                return model.check_configuration(q, 'goal of the plan')[None]
        with refused(_Codes.INVALID_GOAL_CONSTRAINTS):
            if joints or views or len(places) != 1 or len(turns) != 1:
                raise ArmError(
                    'goal_constraints are joint constraints, or one position and one orientation '
                    f'constraint; given: {len(joints)} of joints, {len(places)} of position, '
                    f'{len(turns)} of orientation, {len(views)} of visibility'
                )
            place, turn = places[0], turns[0]
            region, offset = place.constraint_region.primitive_poses, place.target_point_offset
            same = place.link_name == turn.link_name
            same &= place.header.frame_id == turn.header.frame_id
            if len(region) != 1 or any((offset.x, offset.y, offset.z)) or not same:
                raise ArmError(
                    'a position constraint has one primitive and no target_point_offset, and the '
                    'link and frame of the orientation constraint'
                )
        with refused(_Codes.FRAME_TRANSFORM_FAILURE):
            frame = place.header.frame_id.removeprefix(self._prefix) or model.base_frame
            base = model.forward_kinematics(start, frame)
        with refused(_Codes.INVALID_LINK_NAME):
            link = place.link_name.removeprefix(self._prefix) or None
            if link is not None:
                model.frame_id(link)
        pose = region[0]
        pose.orientation = turn.orientation
        with refused(_Codes.INVALID_GOAL_CONSTRAINTS):
            end = base.homogeneous @ pose_from_message(pose, 'the goal').homogeneous
        return goals_of_poses(clearance, start, end, link, p.clearance, p.seed)


def _parts(asked: Constraints) -> tuple[Sequence[AnyMessage], ...]:
    return (
        asked.joint_constraints, asked.position_constraints, asked.orientation_constraints,
        asked.visibility_constraints,
    )  # fmt: skip


@contextmanager
def _coded(result: _Result) -> Iterator[None]:
    """Write the code of a refusal within a `with` block into a result."""
    try:
        yield
    except ArmError as error:
        of_plan = _CODE_OF[error.of] if isinstance(error, PlanError) else _Codes.FAILURE
        result.code = getattr(error, 'code', of_plan)
        raise


def _feedback(kind: Kind, joints: AnyMessage, move: Motion) -> AnyMessage:
    return kind.Feedback(state='MONITOR')


def _group_result(found: _Result) -> MoveGroup.Result:
    return MoveGroup.Result(
        error_code=found.error_code(), trajectory_start=found.plan.trajectory_start,
        planned_trajectory=found.plan.trajectory, planning_time=found.plan.planning_time,
    )  # fmt: skip


def _execute_result(found: _Result) -> ExecuteTrajectory.Result:
    return ExecuteTrajectory.Result(error_code=found.error_code())
