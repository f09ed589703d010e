"""What rclpy has no public names for; no other module uses its private names."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rclpy.action import ActionServer
from rclpy.action.server import ServerGoalHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from arm_controllers.ros.log import Log
from arm_controllers.ros.qos import ACTION_SERVICES
from arm_controllers.ros.ros_types import Message

RCLError: type[Exception] = rclpy_implementation.RCLError


def parameter_overrides(node: Node) -> dict[str, Parameter]:
    """Return the parameters that files and the command line give to a node, by name."""
    return node._parameter_overrides


def transitions_of(node: LifecycleNode) -> tuple[str, dict[str, int]]:
    """Return the state of a node, and the number of each transition that it allows now."""
    machine = node._state_machine
    return machine.current_state[1], {each[1]: each[0] for each in machine.available_transitions}


def log_failed_transitions(node: LifecycleNode) -> None:
    """Have a node log the error that ends a transition; rclpy drops it."""

    def logged(callback: Callable[..., object], state: object) -> object:
        try:
            return callback(state)
        except Exception as error:
            Log(node).error(f'transition failed: {type(error).__name__}: {error}')
            raise

    node._callbacks = {key: partial(logged, each) for key, each in node._callbacks.items()}


def subscribe_with_info(
    node: Node,
    kind: type[Message],
    topic: str,
    take: Callable[[bytes, Mapping[str, int | None]], None],
    qos: QoSProfile,
) -> Subscription:
    """Call `take` with each serialised message of a topic and rclpy's info about it.

    EventsExecutor hands over message and info as one argument, others as two: rclpy would take a
    function of one or two for one that wants no info.
    """

    def on_message(*taken: Any) -> None:
        raw, info = taken if len(taken) == 2 else taken[0]
        take(raw, info)

    subscription = node.create_subscription(kind, topic, on_message, qos, raw=True)
    subscription._callback_type = Subscription.CallbackType.WithMessageInfo
    return subscription


class EventActionServer(ActionServer):
    """An action server without a coroutine per goal: EventsExecutor would poll them for ever.

    Attributes:
        sends_at_once: whether results are sent in the caller's thread, not by the executor.
    """

    sends_at_once = False

    def __init__(
        self,
        node: Node,
        kind: type,
        name: str,
        execute: Callable[[ServerGoalHandle], None],
        **options: object,
    ):
        """Open an action whose goals are taken by `execute`; `options` are ActionServer's."""
        self._log = Log(node)
        super().__init__(node, kind, name, execute, **ACTION_SERVICES, **options)

    async def execute(self, taken_data: dict[str, Any]) -> None:
        """Handle requests; an error would end the process."""
        if 'goal' in taken_data:
            uuid = bytes(taken_data['goal'][1].goal_id.uuid)
            if uuid in self._goal_handles:  # rclpy rejects the goal without a reason
                self._log.warning(f'goal rejected: its id {uuid.hex()} is that of an earlier goal')
        try:
            await super().execute(taken_data)
        except RuntimeError as error:  # as of a cancel that came too late
            self._log.warning(f'goal server: {error}')

    def notify_execute(
        self, goal_handle: ServerGoalHandle, execute_callback: Callable[..., object] | None
    ) -> None:
        """Start a goal: the callback only takes it."""
        self._execute_callback(goal_handle)

    def finish(
        self,
        handle: ServerGoalHandle,
        result: Message,
        succeeded: bool = False,
        canceled: bool = False,
    ) -> None:
        """End a goal and send its result; `canceled` counts where a client has requested that."""
        if succeeded:
            handle.succeed()
        elif canceled and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        answer = self.action_type.Impl.GetResultService.Response(
            status=handle.status, result=result
        )
        future = self._result_futures[bytes(handle.goal_id.uuid)]
        if self.sends_at_once:
            future._set_executor(None)
        future.set_result(answer)
