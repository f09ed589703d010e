"""The action SimulateSteps of simulation_interfaces: control periods with feedback after each."""

from collections.abc import Callable

from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

from arm_controllers.ros.goal_endpoints import EventActionServer
from arm_controllers.ros.log import shortened
from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.ros_types import Kind
from arm_dynamics.checks import ArmError
from arm_sim.simulation.clock import Clock
from arm_tools.standards.steps import Steps


class StepsAction:
    """Lets a paused clock make the steps of one goal at a time; a cancel ends them."""

    def __init__(self, node: Node, kind: Kind, code: Kind, clock: Clock, wake: Callable[[], None]):
        """Open ~/simulate_steps; `kind`: SimulateSteps, `code`: simulation_interfaces/Result.

        `wake` is called when `look` must be called until it returns False.
        """
        self._wake = wake
        self._kind, self._code, self._clock = kind, code, clock
        self._handle: ServerGoalHandle | None = None
        self._steps: Steps | None = None
        self._reported = 0
        self._action = EventActionServer(
            node,
            kind,
            '~/simulate_steps',
            self._begin,
            cancel_callback=lambda handle: CancelResponse.ACCEPT,
            feedback_pub_qos_profile=STATE_QOS,  # a message per step, and steps are quick
        )

    def _begin(self, handle: ServerGoalHandle) -> None:
        try:
            steps = Steps(self._clock, handle.request.steps)
        except ArmError as error:
            self._finish(handle, shortened(str(error)))
            return
        self._handle, self._steps, self._reported = handle, steps, 0
        self._wake()

    def look(self) -> bool:
        """Send feedback of each step, and the result; return whether more steps are under way."""
        handle, steps = self._handle, self._steps
        if handle is None or steps is None:
            return False
        if handle.is_cancel_requested and not steps.ended:
            steps.stop()
        ended = steps.ended  # read first: later steps are not part of this goal
        for number in range(self._reported + 1, min(steps.made, steps.count) + 1):
            left = steps.count - number
            feedback = self._kind.Feedback(completed_steps=number, remaining_steps=left)
            handle.publish_feedback(feedback)
            self._reported = number
        if not ended:
            return True
        self._handle = self._steps = None
        self._finish(handle, steps.failure, canceled=True)
        return False

    def _finish(self, handle: ServerGoalHandle, failure: str, canceled: bool = False) -> None:
        result = self._kind.Result()
        code = self._code.RESULT_OPERATION_FAILED if failure else self._code.RESULT_OK
        result.result.result, result.result.error_message = code, failure
        self._action.finish(handle, result, not failure, canceled)
