"""Motions around obstacles in one call: an action that plans, and has the arm moved."""

import importlib.util
from dataclasses import dataclass

from arm_controllers.follower.goal import Goal
from arm_controllers.ros import object_messages
from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.nodes import Node
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.pose_messages import poses_from_message
from arm_controllers.ros.serialized_messages import JointReader
from arm_dynamics.checks import ArmError, Array, in_range
from arm_dynamics.clearance import Clearance
from arm_dynamics.inverse_kinematics import warm_up
from arm_dynamics.motion_check import MotionCheck
from arm_dynamics.parameters import parameter, with_arrays
from arm_dynamics.scene_clearance import scene_clearance
from arm_dynamics.surroundings import Surroundings
from arm_interfaces.action import PlanMotion
from arm_tools.cartesian.ros.motion_action import Motion, MotionAction
from arm_tools.cartesian.tip_parameters import TipParameters
from arm_tools.planning.planner import PlanParameters, goals_of_poses, plan_motion, poses_before

_APPROACH = 0.05  # distance of the tool from an object where a goal has none [m]
_MOST_POSES = 100  # of a goal: a pose may take tens of milliseconds


@dataclass(frozen=True)
class PlanMotionParameters(Surroundings, PlanParameters, TipParameters):
    """Parameters of the node."""

    controller: str = parameter('servo_controller', 'name of the controller for the goals')


class PlanMotionNode(Node):
    """The action `plan_motion`: motions around obstacles, from rest to rest."""

    Parameters = PlanMotionParameters

    def __init__(self) -> None:
        """Load the model, compile the solvers, create the action server."""
        super().__init__('plan_motion')
        p = declare_parameters(self, self.Parameters)
        self._prefix, self.model = prefix_of(self), p.model()
        self.parameters = with_arrays(p, self.model.joint_names)
        # Between two checked configurations of a plan, half of the clearance is left.
        self._check = MotionCheck(self.model, p.clearance / 2.0, own=0.0)
        warm_up(self.model)
        self._action = MotionAction(self, p.controller, self.model, self._check)
        self._action.offer(PlanMotion, 'plan_motion', self._plan, _feedback)
        if importlib.util.find_spec('moveit_msgs') is not None:
            from arm_tools.planning.ros.moveit_requests import MoveitRequests

            given = self._action, self._check, self._around, self.parameters
            self._moveit = MoveitRequests(self, self.model, *given)

    def _plan(self, move: Motion, start: Array) -> Goal:
        """Return the trajectory of a goal, and write into its result."""
        clearance, result = self._around(), move.result
        move.handle.publish_feedback(PlanMotion.Feedback(state='planning'))
        goals = self._goals(move.handle.request, clearance, start)
        plan = plan_motion(clearance, start, goals, self.parameters)
        result.clearance = plan.nearest.distance
        if plan.nearest.link:
            result.nearest = f'{plan.nearest}, t = {plan.nearest_time:.2f} s'
        return plan.motion.goal(tuple(self.model.joint_names))

    def _around(self) -> Clearance:
        """Return the distances from what is around the arm now."""
        if not self._action.has_objects and self.count_publishers(object_messages.TOPIC):
            raise ArmError(f'no message on {object_messages.TOPIC} has come yet: send again')
        p = self.parameters
        around = Surroundings(floor=p.floor, table=p.table)
        return scene_clearance(self.model, self._check.objects, around)

    def _goals(self, asked: PlanMotion.Goal, clearance: Clearance, start: Array) -> Array:
        """Return configurations (k, n) of which one is the end of the motion."""
        named = {
            'positions': asked.positions, 'poses': asked.poses.poses, 'grasp': asked.grasp
        }  # fmt: skip
        given = [name for name, value in named.items() if len(value)]
        if len(given) != 1:
            raise ArmError(
                'the end of the motion is one of positions, poses and grasp; given: '
                f'{" and ".join(given) or "none of them"}'
            )
        model, p = self.model, self.parameters
        if asked.positions:
            names = list(asked.joint_names) or list(model.joint_names)
            q = JointReader(model.joint_names).read(names, asked.positions, 'positions')
            return model.check_configuration(q, 'goal of the plan')[None]
        if asked.grasp:
            approach = asked.approach or _APPROACH
            in_range('approach', approach, 0.0, 1.0)
            poses = poses_before(self._check.objects, asked.grasp, approach)
        else:
            if len(asked.poses.poses) > _MOST_POSES:
                raise ArmError(f'{len(asked.poses.poses)} poses; allowed: 1 to {_MOST_POSES}')
            frame = asked.poses.header.frame_id.removeprefix(self._prefix) or model.base_frame
            base = model.forward_kinematics(start, frame).homogeneous
            poses = base @ poses_from_message(asked.poses, first=1)
        return goals_of_poses(clearance, start, poses, None, p.clearance, p.seed)


def _feedback(joints: object, move: Motion) -> PlanMotion.Feedback:
    return PlanMotion.Feedback(state='moving', progress=move.progress)
