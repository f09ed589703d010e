"""Linear motions of the tip in one call: an action that plans, and has the arm moved."""

from typing import Any

from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.serialized_messages import JointReader
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.inverse_kinematics import warm_up
from arm_dynamics.motion_check import MotionCheck
from arm_dynamics.parameters import with_arrays
from arm_interfaces.action import LinearMove
from arm_sim.cartesian.linear_move import LinearMoveParameters, timed_goal
from arm_sim.ros.lent_parameters import LentParameters
from arm_sim.ros.linear_move_messages import end_values, feedback, plan_goal
from arm_sim.ros.motion_action import Motion, MotionAction


class LinearMoveNode(Node):
    """The action `linear_move`: straight lines of the tip, from rest to rest."""

    def __init__(self) -> None:
        """Load the model, compile the solvers, create the action server."""
        super().__init__('linear_move')
        p = declare_parameters(self, LinearMoveParameters)
        self._prefix, self.model = prefix_of(self), p.model()
        self.parameters = with_arrays(p, self.model.joint_names)
        self._reader = JointReader(self.model.joint_names)
        self._check = MotionCheck(self.model, p.clearance)
        warm_up(self.model)
        lent = LentParameters(self, p.controller)
        self._action = MotionAction(
            self, LinearMove, 'linear_move', p.controller, self.model, self._check,
            self._plan, self._feedback, lent,
        )  # fmt: skip

    def _plan(self, handle: ServerGoalHandle, result: Any, start: Array) -> Motion | None:
        """Return the motion of a goal, and write into its result."""
        asked = handle.request
        try:
            timed = plan_goal(self.model, start, asked, self._prefix, self.parameters)
            ends = end_values(self, asked, self._prefix)
            if timed is not None and not ends:
                self._check.begin(timed.times, timed.q)
        except ArmError as error:
            result.failed_pose = getattr(error, 'pose', 0)
            raise
        if timed is None:
            return None
        for name in ('velocity_share', 'acceleration_share', 'effort_share', 'tip_speed'):
            setattr(result, name, getattr(timed, name))
        return Motion(handle, result, timed_goal(self.model, timed, asked.timing), ends)

    def _feedback(self, joints: Any, move: Motion) -> Any:
        given = joints, move.duration, move.handle.request, self._prefix
        return feedback(self.model, self._reader, *given)
