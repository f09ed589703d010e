"""Linear motions of the tip in one call: an action that plans, and has the arm moved."""

import numpy as np
import pinocchio as pin

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.inputs.wrench import TOPIC as WRENCHES
from arm_controllers.ros.messages import components, prefix_of
from arm_controllers.ros.nodes import Node
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.pose_messages import pose_to_message, poses_from_message
from arm_controllers.ros.ros_types import AnyMessage
from arm_controllers.ros.serialized_messages import JointReader
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.inverse_kinematics import warm_up
from arm_dynamics.motion_check import MotionCheck
from arm_dynamics.parameters import with_arrays
from arm_dynamics.paths.pose_path import CORNER
from arm_dynamics.paths.time_scaling import TimedPath
from arm_interfaces.action import LinearMove
from arm_tools.cartesian.linear_move import LinearMoveParameters, plan_move, timed_goal
from arm_tools.cartesian.ros.motion_action import Motion, MotionAction


class LinearMoveNode(Node):
    """The action `linear_move`: straight lines of the tip, from rest to rest."""

    Parameters = LinearMoveParameters

    def __init__(self) -> None:
        """Load the model, compile the solvers, create the action server."""
        super().__init__('linear_move')
        p = declare_parameters(self, self.Parameters)
        self._prefix, self.model = prefix_of(self), p.model()
        self.parameters = with_arrays(p, self.model.joint_names)
        self._reader = JointReader(self.model.joint_names)
        self._check = MotionCheck(self.model, p.clearance)
        warm_up(self.model)
        self._action = MotionAction(self, p.controller, self.model, self._check)
        self._action.offer(LinearMove, 'linear_move', self._plan, self._feedback)

    def _plan(self, move: Motion, start: Array) -> Goal | None:
        """Return the trajectory of a goal, and write into its result."""
        asked = move.handle.request
        try:
            timed, move.ends = self._timed(asked, start), self._ends(asked)
            if timed is not None and not move.ends:
                self._check.begin(timed.times, timed.q)
        except ArmError as error:
            move.result.failed_pose = getattr(error, 'pose', 0)
            raise
        if timed is None:
            return None
        for name in ('velocity_share', 'acceleration_share', 'effort_share', 'tip_speed'):
            setattr(move.result, name, getattr(timed, name))
        return timed_goal(self.model, timed, asked.timing)

    def _timed(self, goal: LinearMove.Goal, start: Array) -> TimedPath | None:
        """Return the timed path of a goal from `start` (nq,); None: the tip is there already."""
        model, p = self.model, self.parameters
        frame = goal.path.header.frame_id.removeprefix(self._prefix) or model.base_frame
        base = model.forward_kinematics(start, frame).homogeneous
        usual = np.minimum(p.acceleration_limit, model.acceleration_limit)
        return plan_move(
            model,
            start,
            base @ poses_from_message(goal.path, first=1),
            self._moved_frame(goal),
            timing=goal.timing or 'quintic',
            limits={
                'velocity_limit': goal.velocity_limits or None,
                'acceleration_limit': goal.acceleration_limits or usual,
                'effort_limit': goal.effort_limits or None,
            },
            tip_speed=goal.tip_speed_limit or p.tip_speed_limit,
            corner=goal.corner_angle or CORNER,
            free={
                'position_only': goal.position_only,
                'axis_tolerances': goal.axis_tolerances or None,
            },
        )

    def _moved_frame(self, goal: LinearMove.Goal) -> str | None:
        """Return the frame that a goal moves; None: the model's tool frame."""
        return goal.tip_frame.removeprefix(self._prefix) or None

    def _ends(self, goal: LinearMove.Goal) -> dict[str, object]:
        """Return the controller's parameters of a motion that ends on force; empty: unchanged.

        Raises:
            ArmError: no force can end a motion.
        """
        along = components(goal.end_direction).tolist()
        if (any(along) or goal.end_frame) and not goal.end_force:
            raise ArmError('end_direction and end_frame are of end_force, which is 0')
        if goal.end_force and not self.count_publishers(WRENCHES):
            raise ArmError(f'end_force needs a sensor, and no node publishes {WRENCHES}')
        if not (goal.end_force or goal.end_distance):
            return {}
        return {
            'end_on_force.force': goal.end_force,
            'end_on_force.direction': along,
            'end_on_force.frame': goal.end_frame.removeprefix(self._prefix),
            'end_on_force.distance': goal.end_distance,
        }

    def _feedback(self, joints: AnyMessage, move: Motion) -> LinearMove.Feedback:
        """Return the progress of a motion, from the feedback of FollowJointTrajectory.

        Raises:
            ArmError: the positions are not the arm's.
        """
        model, read, names = self.model, self._reader.read, list(joints.joint_names)
        frame = self._moved_frame(move.handle.request)
        wanted, tip = (
            pin.SE3(model.forward_kinematics(read(names, q, 'positions'), frame))
            for q in (joints.desired.positions, joints.actual.positions)
        )
        return LinearMove.Feedback(
            progress=move.progress,
            remaining=max(move.duration - move.over, 0.0),
            position_error=float(np.linalg.norm(wanted.translation - tip.translation)),
            tip=pose_to_message(tip, self._prefix + model.base_frame),
        )
