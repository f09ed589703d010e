"""Linear motions of the tip in one call: an action that plans, and has the arm moved."""

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.action import ActionClient, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node
from rclpy.task import Future
from visualization_msgs.msg import MarkerArray

from arm_controllers.ros.diagnostics import status_publisher
from arm_controllers.ros.goal_endpoints import EventActionServer
from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import prefix_of, to_ns, trajectory_message
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import CONTROL_QOS, STATE_QOS
from arm_controllers.ros.serialized_messages import JointReader
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.inverse_kinematics import warm_up
from arm_dynamics.parameters import with_arrays
from arm_dynamics.paths.time_scaling import TimedPath
from arm_interfaces.action import LinearMove
from arm_sim.cartesian.linear_move import (
    LinearMoveParameters,
    MovesError,
    check_rest,
    timed_goal,
)
from arm_sim.planning.motion_check import MotionCheck
from arm_sim.ros import object_messages
from arm_sim.ros.lent_parameters import LentParameters
from arm_sim.ros.linear_move_messages import end_values, feedback, plan_goal

_TIMEOUT = 10.0  # for the controller's answer to a goal [s]
REST_TIMEOUT = 1.0  # longest wait for a report of an arm at rest [s]
_LOOK = 0.1  # shortest time between two checks against objects that move [s]


@dataclass
class _Move:
    """The motion of a goal.

    Attributes:
        handle, result: of the goal.
        timed: the motion.
        sent: when it was sent [s].
        follows: handle of the controller's goal.
        over: time of the motion that is over [s].
        blocked: what is in the way; '': nothing.
    """

    handle: ServerGoalHandle
    result: Any
    timed: TimedPath
    sent: float
    follows: Any = None
    over: float = 0.0
    blocked: str = ''

    @property
    def duration(self) -> float:
        """Duration as planned [s]."""
        return float(self.timed.times[-1])

    @property
    def touches(self) -> bool:
        """Whether it is to end on a force or a distance: contact is its purpose."""
        return bool(self.handle.request.end_force or self.handle.request.end_distance)


_ENDED = 'ended on '  # how a controller begins to say that force or distance ended a goal


class LinearMoveNode(Node):
    """The action `linear_move`: plans from the controller's resting reference, and moves.

    An impossible goal is accepted and then aborted, because only a result can say why. One goal
    at a time.
    """

    def __init__(self) -> None:
        """Load the model, compile the solvers, create the action server."""
        super().__init__('linear_move')
        p = declare_parameters(self, LinearMoveParameters)
        self._log, self._prefix = Log(self, 1.0), prefix_of(self)
        self.model = p.model()
        self.parameters = with_arrays(p, self.model.joint_names)
        self._reader = JointReader(self.model.joint_names)
        self._reference: JointTrajectoryControllerState | None = None
        self._move: _Move | None = None
        self._asked: ServerGoalHandle | None = None
        self._asked_at = 0.0
        self.moves, self.refused = 0, ''
        self._check, self._looked = MotionCheck(self.model, p.clearance), 0.0
        warm_up(self.model)
        state = f'{p.controller}/controller_state'
        self.create_subscription(
            JointTrajectoryControllerState, state, self._on_reference, CONTROL_QOS
        )
        self.create_subscription(
            MarkerArray, object_messages.TOPIC, self._on_objects, STATE_QOS, raw=True
        )
        self._follow = ActionClient(
            self, FollowJointTrajectory, f'{p.controller}/follow_joint_trajectory'
        )
        self._action = EventActionServer(
            self, LinearMove, 'linear_move', self._on_goal, cancel_callback=self._on_cancel
        )
        self._lent = LentParameters(self, p.controller)
        self._publish = status_publisher(self)
        self.create_timer(1.0, self._report)

    def _on_reference(self, message: JointTrajectoryControllerState) -> None:
        self._reference = message
        if self._asked is not None:
            self._try(self._asked)

    def _on_objects(self, raw: bytes) -> None:
        """Take the objects around the arm; check what is left of a motion against them."""
        now, move = time.monotonic(), self._move
        if now < self._looked + _LOOK:
            return
        self._looked = now
        try:
            if not self._check.update(object_messages.shapes_of(raw)):
                return
            if move is None or move.touches or move.blocked:
                return
            left = move.timed.times >= move.over
            self._check.check(move.timed.times[left], move.timed.q[left])
        except ArmError as error:
            if move is None:
                self._log.warning(f'objects dropped: {error}')
                return
            move.blocked = f'stopped on the way: {error}'
            if move.follows is not None:
                move.follows.cancel_goal_async()

    # A goal

    def _on_goal(self, handle: ServerGoalHandle) -> None:
        """Plan a goal, unless another one is active."""
        if self._move is not None or self._asked is not None:
            reason = 'another linear_move is under way: cancel it first'
            self._refuse(handle, LinearMove.Result(), reason)
            return
        self._asked, self._asked_at = handle, time.monotonic()
        self._try(handle)

    def _try(self, handle: ServerGoalHandle) -> None:
        """Plan the goal and send its trajectory to the controller, or abort it.

        Where the last report is of a moving arm, the next reports may be of one at rest.
        """
        result = LinearMove.Result()
        if handle.is_cancel_requested:
            self._asked, result.reason = None, 'canceled before it began'
            self._action.finish(handle, result, canceled=True)
            return
        try:
            if not self._follow.server_is_ready():
                name = f'{self.parameters.controller}/follow_joint_trajectory'
                raise ArmError(f'no node serves {name}: is that controller running?')
            timed = self._plan(handle.request)
            ends = end_values(self, handle.request, self._prefix)
            if timed is not None and not ends:
                self._check.begin(timed.times, timed.q)
        except ArmError as error:
            if isinstance(error, MovesError) and time.monotonic() < self._asked_at + REST_TIMEOUT:
                return
            self._asked, result.failed_pose = None, getattr(error, 'pose', 0)
            self._refuse(handle, result, str(error))
            return
        self._asked = None
        if timed is None:
            result.success = True
            self._action.finish(handle, result, succeeded=True)
            return
        for name in ('velocity_share', 'acceleration_share', 'effort_share', 'tip_speed'):
            setattr(result, name, getattr(timed, name))
        self._move = move = _Move(handle, result, timed, time.monotonic())
        result.duration = move.duration
        goal = timed_goal(self.model, timed, handle.request.timing)
        request = FollowJointTrajectory.Goal(trajectory=trajectory_message(goal))
        self._lent.set(ends, partial(self._send, move, request))

    def _send(self, move: _Move, request: Any, refusal: str) -> None:
        """Send a trajectory to the controller, unless this refused when the motion is to end."""
        if move is not self._move:  # aborted meanwhile
            return
        if refusal:
            self._end(move, f'{self.parameters.controller}: {refusal}')
            return
        sent = self._follow.send_goal_async(request, partial(self._on_feedback, move))
        sent.add_done_callback(partial(self._on_answer, move))

    def _plan(self, asked: Any) -> TimedPath | None:
        return plan_goal(self.model, self._start(), asked, self._prefix, self.parameters)

    def _start(self) -> Array:
        """Return the controller's resting reference (n,)."""
        report = self._reference
        if report is None:
            raise ArmError(f'no controller_state of {self.parameters.controller} yet')
        names = list(report.joint_names)
        v = self._reader.read(names, report.reference.velocities, 'velocities')
        check_rest(self.model, v)
        return self._reader.read(names, report.reference.positions, 'positions').copy()

    def _refuse(self, handle: ServerGoalHandle, result: Any, reason: str) -> None:
        self.refused = result.reason = reason
        self._log.warning(f'linear_move: {reason}')
        self._action.finish(handle, result)

    # The motion

    def _on_answer(self, move: _Move, answer: Future) -> None:
        follows = answer.result()
        if move is not self._move:  # aborted meanwhile
            follows.cancel_goal_async()
        elif not follows.accepted:
            self._end(move, f'{self.parameters.controller} rejected the goal; its log says why')
        else:
            move.follows = follows
            follows.get_result_async().add_done_callback(lambda end: self._on_end(move, end))
            if move.handle.is_cancel_requested or move.blocked:
                follows.cancel_goal_async()

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        if self._asked is not None and self._asked.goal_id == handle.goal_id:
            return CancelResponse.ACCEPT  # the next report of the arm, or of time, ends it
        if self._move is None or self._move.handle.goal_id != handle.goal_id:
            return CancelResponse.REJECT
        if self._move.follows is not None:
            self._move.follows.cancel_goal_async()
        return CancelResponse.ACCEPT

    def _on_feedback(self, move: _Move, message: Any) -> None:
        if move is not self._move:
            return
        try:
            given = message.feedback, move.duration, move.handle.request, self._prefix
            move.over = to_ns(message.feedback.desired.time_from_start) * 1e-9
            move.handle.publish_feedback(feedback(self.model, self._reader, *given))
        except ArmError as error:  # another node may publish under the controller's name
            self._log.warning(f'feedback of {self.parameters.controller} dropped: {error}')

    def _on_end(self, move: _Move, end: Future) -> None:
        if move is not self._move:
            return
        answer, controller = end.result(), self.parameters.controller
        if answer.status == GoalStatus.STATUS_SUCCEEDED:
            said = answer.result.error_string
            move.result.ended_on = said if said.startswith(_ENDED) else ''
            self._end(move)
        elif answer.status == GoalStatus.STATUS_CANCELED:
            self._end(move, move.blocked or f'canceled; {controller} has braked the arm')
        else:
            self._end(move, f'{controller}: {answer.result.error_string}')

    def _end(self, move: _Move, reason: str = '') -> None:
        """End a goal; it has failed where there is a reason."""
        self._move = None
        self._lent.give_back()
        if reason and not move.handle.is_cancel_requested:
            self._refuse(move.handle, move.result, reason)
            return
        move.result.success, move.result.reason = not reason, reason
        self.moves += not reason
        self._action.finish(move.handle, move.result, not reason, canceled=True)

    def _report(self) -> None:
        """Publish diagnostics; abort a goal whose controller has gone."""
        if self._asked is not None:
            self._try(self._asked)
        move, controller = self._move, self.parameters.controller
        if move is not None and not self._follow.server_is_ready():
            self._end(move, f'{controller} has gone')
        elif move is not None and not move.follows and time.monotonic() > move.sent + _TIMEOUT:
            self._end(move, f'no answer of {controller} to the goal within {_TIMEOUT:g} s')
        words = 'waiting' if self._move is None else 'moving'
        values = {'moves': self.moves, 'last refused': self.refused}
        self._publish(DiagnosticStatus.OK, words, values)
