"""The control cycle: a state comes in, a command goes out, and goals are served in between."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from control_msgs.srv import QueryTrajectoryState
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.follower.state_steps import StateSteps, Step
from arm_controllers.laws import State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_controllers.ros.goal_server import NOT_ACTIVE, GoalServer
from arm_controllers.ros.messages import set_numbers, set_stamp, to_ns
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, STATE_QOS
from arm_controllers.ros.serialized_messages import (
    FIELDS,
    JointStateReader,
    JointStateWriter,
    serialized,
)
from arm_controllers.ros.state_report import StateReport
from arm_dynamics.checks import ArmError, Array, all_finite
from arm_dynamics.model import RobotModel

STATES, COMMANDS = 'joint_states', 'joint_commands'


class ControlCycle:
    """Answers every state with the law's command towards the follower's reference.

    Attributes:
        model, law, follower, goals: the arm, what commands it, what that follows, who asks.
        active: whether states are answered.
        silent: whether they are not all the same: it heeds nobody, or is not asked yet.
        asked: whether it is known who commands, since the first state after the activation.
        taken_over: whether one was, since the activation or the last long silence.
        heard: whether a state came, be it once more; the reader sets it back.
        overtaken: number of states that came after a newer one, and were not used.
        neighbour: the CommandInput of the arm's simulator, where that runs on this executor.
    """

    def __init__(
        self,
        node: LifecycleNode,
        parameters: ControllerParameters,
        model: RobotModel,
        law: Any,
        follower: TrajectoryFollower,
        goals: GoalServer,
        drop: Callable[[ArmError], None],
        may_begin: Callable[[], bool],
    ):
        """Open the endpoints.

        `drop` is told of unusable states; `may_begin` is asked at the first after an activation.
        """
        p = parameters
        self.follower, self.goals, self._drop = follower, goals, drop
        self._may_begin, self.asked = may_begin, False
        self.active = self.silent = self.taken_over = self.heard = False
        self._node, self.overtaken = node, 0
        self.neighbour: Any = None
        self._period_ns, self._dt = p.period_ns, p.timestep * p.control_decimation
        self._last_state = time.monotonic()
        self._steps = StateSteps(p.period_ns, p.mode == 'lockstep', model)
        self._set(model, law)

        names = model.joint_names
        field = 'position' if law.command_interface == 'position' else 'effort'
        self._command = JointStateWriter(names, (field,), node.get_name())
        self._output = getattr(self._command, field)
        self._zeros, self._answer = np.zeros(len(names)), b''
        self._measured = JointStateReader(names, FIELDS[:2])
        self._output_name = 'positions' if field == 'position' else 'effort'
        self._command_publisher = node.create_publisher(JointState, COMMANDS, STATE_QOS)
        self._state_publisher = node.create_lifecycle_publisher(
            JointTrajectoryControllerState, '~/controller_state', STATE_QOS
        )
        self._report = StateReport(self._state_publisher, names, p.state_publish_rate)
        self._state_input = node.create_subscription(
            JointState, STATES, self.on_state, CONTROL_INPUT_QOS, raw=True
        )
        goals.follower = follower
        self._query = node.create_service(QueryTrajectoryState, '~/query_state', self._on_query)

    def close(self) -> None:
        """Close the endpoints."""
        self._node.destroy_service(self._query)
        self._node.destroy_subscription(self._state_input)
        self._node.destroy_publisher(self._command_publisher)
        self._node.destroy_lifecycle_publisher(self._state_publisher)

    @property
    def silence(self) -> float:
        """Wall-clock time since the last good state [s]."""
        return time.monotonic() - self._last_state

    def start(self) -> None:
        """Command from the next state on, holding where the arm is then."""
        self.active, self.silent, self.taken_over, self.asked = True, True, False, False

    def lose(self, reason: str) -> None:
        """Abort all goals: the simulator is silent. With the next state all starts anew."""
        self.goals.deactivate(reason)
        self.taken_over = False

    def stop(self, reason: str) -> bool:
        """Abort all goals; leave the arm to the plant. Return whether it was commanded."""
        self.active = False
        self.lose(reason)
        commanded = bool(self._answer)
        if commanded:
            self.release()
        return commanded

    def release(self) -> None:
        """Tell the plant, by a command without joints, to brake and hold."""
        self._answer = b''
        release = JointState()
        release.header.frame_id = self._node.get_name()
        set_stamp(release.header.stamp, max(self._steps.time_ns, 0))
        self._send(serialized(release))

    def use(self, model: RobotModel, law: Any, rules: FollowerParameters) -> None:
        """Go on with what was set while running, from the reference as it is."""
        self._set(model, law)
        self.follower.set_parameters(rules, model)

    def _set(self, model: RobotModel, law: Any) -> None:
        self.model, self.law = model, law
        self._law_state: State | None = None  # the law starts with the next state

    def on_state(self, raw: bytes) -> None:
        """Answer a serialised state."""
        if not self.active or (self.silent and not self._begins()):
            return
        state, steps = self._measured, self._steps
        try:
            state.open(raw)
            time_ns = state.time_ns
            sender = state.sender
            if time_ns <= steps.time_ns and self.taken_over and sender == steps.sender:
                if time_ns == steps.time_ns:
                    self.heard = True
                    self._send(self._answer)  # asked again: same answer
                    return
                if steps.overtaken(time_ns, self.silence):
                    self.overtaken += 1
                    return
            q, v = state.values('position'), state.values('velocity')
        except ArmError as error:
            self._drop(error)
            return
        follower, law = self.follower, self.law
        step = steps.take(time_ns, q, v, sender)
        if step is not Step.NEXT or not self.taken_over:
            self._begin(step, time_ns, q, v)
        self._last_state, self.heard = time.monotonic(), True
        reference, measured = follower.update(time_ns, q, v), Measurement(q, v)
        if self._law_state is None:
            reference.future = self._future
            self._law_state = law.start(measured, reference)
        command, self._law_state = law(self._law_state, measured, reference, self._dt)
        self._output[:] = command
        if not all_finite(self._output, self._zeros):
            self._give_up(q, v)
            return
        self._answer = self._command.serialized(time_ns)
        self._send(self._answer)
        self.goals.after_cycle(time_ns, q, v)
        if self._report.is_due(time_ns):
            output, effort = {self._output_name: self._output}, np.empty(0)
            with suppress(ArmError):  # not there, not finite: the control loop does not need it
                effort = state.values('effort')
            self._report.publish(time_ns, follower, q, v, output, effort=effort)

    def _future(self, periods: int) -> Reference:
        """Return the reference so many control periods after the newest state."""
        follower = self.follower
        return follower.peek(follower.time_ns + periods * self._period_ns)

    def _send(self, command: bytes) -> None:
        """Publish a command; hand it over where only a neighbour would hear it."""
        neighbour, publisher = self.neighbour, self._command_publisher
        if neighbour is None:
            publisher.publish(command)
        elif publisher.get_subscription_count() > 1:
            neighbour.published += 1
            publisher.publish(command)
        else:
            neighbour.hand_over(command)

    def _begins(self) -> bool:
        """Whether this is the first state after an activation, and may be answered."""
        if self.asked:
            return False
        self.asked = True
        self.silent = not self._may_begin()
        return not self.silent

    def _give_up(self, q: Array, v: Array) -> None:
        """Leave the arm to the plant: there is no command. The law forgets; the next state is new.

        One place where commands are made, one guard: whatever a state or a law with memory does,
        no number goes out that is not finite.
        """
        k = int(np.isfinite(self._output).argmin())
        reason = (
            f"joint {self.model.joint_names[k]!r}: the law's command is {self._output[k]} at "
            f'position {q[k]:.6g} and velocity {v[k]:.6g}; the arm is braked and held'
        )
        if self._answer:
            self.release()
        self.lose(reason)
        self._drop(ArmError(reason))

    def _begin(self, step: Step, time_ns: int, q: Array, v: Array) -> None:
        """Begin anew at a state that does not follow from what was commanded before."""
        follower = self.follower
        if self.taken_over and step is Step.MISSED and follower.goals:
            return  # the goals go on
        if self.taken_over and step is Step.JUMPED:
            follower.activate(time_ns, q, v, f'{self._steps.jump}; the arm holds')
        elif not self.taken_over or step is Step.MISSED:
            follower.activate(time_ns, q, v)
        self._law_state = None
        self.goals.activate(time_ns)
        self.taken_over = True
        self._report.begin(time_ns)

    def _on_query(
        self, request: QueryTrajectoryState.Request, response: QueryTrajectoryState.Response
    ) -> QueryTrajectoryState.Response:
        """Say where the reference will be, by the goals that are there now."""
        follower, time_ns = self.follower, to_ns(request.time)
        past = (follower.time_ns - time_ns) * 1e-9
        if not self.taken_over:
            response.message = NOT_ACTIVE
        elif past > 0:
            response.message = f'{past:.6g} s before the newest state; what has passed is not kept'
        else:
            reference = follower.peek(time_ns)
            response.success, response.name = True, list(follower.joint_names)
            set_numbers(
                response, position=reference.q, velocity=reference.v, acceleration=reference.a
            )
        return response
