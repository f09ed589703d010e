"""Motions from rest to rest as an action of a node: planned here, executed by a controller."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.action import ActionClient, CancelResponse
from rclpy.action.client import ClientGoalHandle
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node
from rclpy.task import Future
from visualization_msgs.msg import MarkerArray

from arm_controllers.follower.goal import Goal
from arm_controllers.ros import object_messages
from arm_controllers.ros.diagnostics import status_publisher
from arm_controllers.ros.goal_endpoints import EventActionServer
from arm_controllers.ros.log import Log, shortened
from arm_controllers.ros.messages import to_ns, trajectory_message
from arm_controllers.ros.qos import ACTION_SERVICES, STATE_QOS
from arm_controllers.ros.ros_types import AnyMessage, Kind
from arm_controllers.ros.serialized_messages import JointReader
from arm_controllers.ros.subscriptions import subscribe_controller_state
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.motion_check import MotionCheck
from arm_tools.cartesian.linear_move import MovesError, check_rest
from arm_tools.cartesian.ros.lent_parameters import LentParameters

_TIMEOUT = 10.0  # for the controller's answer to a goal [s]
REST_TIMEOUT = 1.0  # longest wait for the controller, and for a report of an arm at rest [s]
_LOOK = 0.1  # shortest time between two checks against objects that move [s]
_ENDED = 'ended on '  # how a controller begins to say that force or distance ended a goal


@dataclass
class Motion:
    """A goal, and the motion that it asks for.

    Attributes:
        offered: the action.
        handle, result: of the goal.
        since: when the goal came, or when its trajectory was sent [s].
        goal: the trajectory for the controller; None: it is not planned yet.
        duration: as planned [s].
        ends: parameters of the controller for the time of the motion; with any, contact is the
            purpose of the motion, and it is not checked against objects.
        follows: handle of the controller's goal.
        over: time of the motion that is over [s].
        blocked: what is in the way; '': nothing.
    """

    offered: '_Offered'
    handle: ServerGoalHandle
    result: AnyMessage
    since: float
    goal: Goal | None = None
    duration: float = 0.0
    ends: Mapping[str, object] = field(default_factory=dict)
    follows: ClientGoalHandle | None = None
    over: float = 0.0
    blocked: str = ''

    @property
    def progress(self) -> float:
        """Share of the duration that is over, 0 to 1."""
        return min(max(self.over / self.duration, 0.0), 1.0)

    def finish(self, **how: bool) -> None:
        """End the goal with its result; see `EventActionServer.finish`."""
        self.offered.server.finish(self.handle, self.offered.message(self.result), **how)


Plan = Callable[[Motion, Array], Goal | None]
Feedback = Callable[[AnyMessage, Motion], AnyMessage]


@dataclass
class _Offered:
    """An action, as `MotionAction.offer` takes it."""

    name: str
    plan: Plan
    feedback: Feedback
    new_result: Callable[[], AnyMessage]
    message: Callable[[Any], AnyMessage]
    server: Any = None


class MotionAction:
    """Actions that plan from the controller's resting reference, and have the arm moved.

    An impossible goal is accepted and then aborted, because only a result can say why. One goal
    at a time.

    Attributes:
        has_objects: whether a message with the objects around the arm has come.
    """

    def __init__(self, node: Node, controller: str, model: RobotModel, check: MotionCheck):
        """Open what the actions need of the controller and the simulator.

        Args:
            node: that offers the actions.
            controller: its name.
            model: the arm.
            check: of motions against objects while they run.
        """
        self._node, self._controller, self._model, self._check = node, controller, model, check
        self._log, self._lent = Log(node, 1.0), LentParameters(node, controller)
        self._reader = JointReader(model.joint_names)
        self._reference: JointTrajectoryControllerState | None = None
        self._move: Motion | None = None
        self._looked, self._newest = 0.0, b''  # objects that are not taken yet
        self._moves, self._refused, self.has_objects = 0, '', False
        subscribe_controller_state(node, controller, self._on_reference)
        node.create_subscription(
            MarkerArray, object_messages.TOPIC, self._on_objects, STATE_QOS, raw=True
        )
        self._follow_name = f'{controller}/follow_joint_trajectory'
        self._follow = ActionClient(
            node, FollowJointTrajectory, self._follow_name, **ACTION_SERVICES
        )
        self._publish = status_publisher(node)
        node.create_timer(1.0, self._report)

    def offer(
        self,
        kind: Kind,
        name: str,
        plan: Plan,
        feedback: Feedback,
        new_result: Callable[[], AnyMessage] | None = None,
        message: Callable[[Any], AnyMessage] = lambda result: result,
    ) -> None:
        """Offer an action.

        Args:
            kind, name: of the action.
            plan: returns the trajectory of a motion from the start (n,), and writes into its
                result and its `ends`; None: the arm is there already. Raises ArmError where there
                is no such motion.
            feedback: returns the action's feedback from that of FollowJointTrajectory.
            new_result: returns what has `success`, `reason` and `duration`; None: that of `kind`.
            message: returns the result of `kind` from that.
        """
        offered = _Offered(name, plan, feedback, new_result or kind.Result, message)
        offered.server = EventActionServer(
            self._node, kind, name, partial(self._on_goal, offered),
            cancel_callback=self._on_cancel,
        )  # fmt: skip

    def _on_reference(self, message: JointTrajectoryControllerState) -> None:
        self._reference = message
        if self._move is not None and self._move.goal is None:
            self._try(self._move)

    def _on_objects(self, raw: bytes) -> None:
        """Take the objects around the arm; of more messages than one per `_LOOK` the newest."""
        self._newest = raw
        if time.monotonic() >= self._looked + _LOOK:
            self._look()

    def _look(self) -> None:
        """Take the newest objects; check what is left of a motion against them."""
        raw, self._newest, move = self._newest, b'', self._move
        self._looked = time.monotonic()
        try:
            moved = self._check.update(object_messages.shapes_of(raw))
            self.has_objects = True
            if not moved or move is None or move.goal is None or move.ends or move.blocked:
                return
            left = move.goal.times >= move.over
            self._check.check(move.goal.times[left], move.goal.positions[left])
        except ArmError as error:
            if move is None or move.goal is None:
                self._log.warning(f'objects dropped: {error}')
                return
            move.blocked = f'stopped on the way: {error}'
            if move.follows is not None:
                move.follows.cancel_goal_async()

    # A goal

    def _on_goal(self, offered: _Offered, handle: ServerGoalHandle) -> None:
        """Plan a goal, unless another one is active."""
        move = Motion(offered, handle, offered.new_result(), time.monotonic())
        if self._move is not None:
            self._refuse(move, f'another {offered.name} is under way: cancel it first')
            return
        self._move = move
        self._try(move)

    def _try(self, move: Motion) -> None:
        """Plan a goal and send its trajectory to the controller, or abort it.

        Where the last report is of a moving arm, the next reports may be of one at rest; a
        controller that was just started may not have been discovered yet.
        """
        move.result = move.offered.new_result()
        if move.handle.is_cancel_requested:
            self._end(move, 'canceled before it began')
            return
        try:
            served = self._follow.server_is_ready()
            if not served:
                raise ArmError(f'no node serves {self._follow_name}: is that controller running?')
            if self._newest:
                self._look()
            goal = move.offered.plan(move, self.resting_reference())
        except ArmError as error:
            known = served and self._reference is not None
            waits = isinstance(error, MovesError) or not known
            if not waits or time.monotonic() >= move.since + REST_TIMEOUT:
                self._end(move, shortened(str(error)))
            return
        if goal is None:
            self._move, move.result.success = None, True
            move.finish(succeeded=True)
            return
        move.goal, move.since = goal, time.monotonic()
        move.duration = move.result.duration = float(goal.times[-1])
        request = FollowJointTrajectory.Goal(trajectory=trajectory_message(goal))
        self._lent.set(move.ends, partial(self._send, move, request))

    def _send(self, move: Motion, request: AnyMessage, refusal: str) -> None:
        """Send a trajectory to the controller, unless this refused when the motion is to end."""
        if move is not self._move:  # aborted meanwhile
            return
        if refusal:
            self._end(move, f'{self._controller}: {refusal}')
            return
        sent = self._follow.send_goal_async(request, partial(self._on_feedback, move))
        sent.add_done_callback(partial(self._on_answer, move))

    def resting_reference(self) -> Array:
        """Return the reference (n,) of the controller at rest.

        Raises:
            ArmError: no reference has come yet, or the arm moves.
        """
        report = self._reference
        if report is None:
            raise ArmError(f'no controller_state of {self._controller} yet')
        names = list(report.joint_names)
        v = self._reader.read(names, report.reference.velocities, 'velocities')
        check_rest(self._model, v)
        return self._reader.read(names, report.reference.positions, 'positions').copy()

    def _refuse(self, move: Motion, reason: str) -> None:
        self._refused = move.result.reason = reason
        self._log.warning(f'{move.offered.name}: {reason}')
        move.finish()

    # The motion

    def _on_answer(self, move: Motion, answer: Future) -> None:
        follows = answer.result()
        if move is not self._move:  # aborted meanwhile
            follows.cancel_goal_async()
        elif not follows.accepted:
            self._end(move, f'{self._controller} rejected the goal; its log says why')
        else:
            move.follows = follows
            follows.get_result_async().add_done_callback(lambda end: self._on_end(move, end))
            if move.handle.is_cancel_requested or move.blocked:
                follows.cancel_goal_async()

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        if self._move is None or self._move.handle.goal_id != handle.goal_id:
            return CancelResponse.REJECT
        if self._move.follows is not None:
            self._move.follows.cancel_goal_async()
        return CancelResponse.ACCEPT  # before it moves, the next report of arm or time ends it

    def _on_feedback(self, move: Motion, message: AnyMessage) -> None:
        if move is not self._move:
            return
        try:
            move.over = to_ns(message.feedback.desired.time_from_start) * 1e-9
            move.handle.publish_feedback(move.offered.feedback(message.feedback, move))
        except ArmError as error:  # another node may publish under the controller's name
            self._log.warning(f'feedback of {self._controller} dropped: {error}')

    def _on_end(self, move: Motion, end: Future) -> None:
        if move is not self._move:
            return
        answer, controller = end.result(), self._controller
        if answer.status == GoalStatus.STATUS_SUCCEEDED:
            said = answer.result.error_string
            if said.startswith(_ENDED):
                move.result.ended_on = said
            self._end(move)
        elif answer.status == GoalStatus.STATUS_CANCELED:
            self._end(move, move.blocked or f'canceled; {controller} has braked the arm')
        else:
            self._end(move, f'{controller}: {answer.result.error_string}')

    def _end(self, move: Motion, reason: str = '') -> None:
        """End a goal; it has failed where there is a reason."""
        self._move = None
        self._lent.give_back()
        if reason and not move.handle.is_cancel_requested:
            self._refuse(move, reason)
            return
        move.result.success, move.result.reason = not reason, reason
        self._moves += not reason
        move.finish(succeeded=not reason, canceled=True)

    def _report(self) -> None:
        """Publish diagnostics; abort a goal whose controller has gone."""
        move, controller = self._move, self._controller
        if move is not None and move.goal is None:
            self._try(move)
        elif move is not None and not self._follow.server_is_ready():
            self._end(move, f'{controller} has gone')
        elif move is not None and not move.follows and time.monotonic() > move.since + _TIMEOUT:
            self._end(move, f'no answer of {controller} to the goal within {_TIMEOUT:g} s')
        words = 'moving' if self._move is not None and self._move.goal else 'waiting'
        values = {'moves': self._moves, 'last refused': self._refused}
        self._publish(DiagnosticStatus.OK, words, values)
