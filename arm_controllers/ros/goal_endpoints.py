"""Where goals come in over ROS, and where their feedback and results go out."""

import ctypes
import gc
import sys
from collections.abc import Callable
from threading import Thread
from typing import Any, NamedTuple

import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import ExternalShutdownException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory
from unique_identifier_msgs.msg import UUID

from arm_controllers.follower.goal import Goal, GoalResult, ResultCode
from arm_controllers.ros.qos import ACTION_QOS
from arm_controllers.ros.running import make_executor
from arm_controllers.ros.serialized_messages import stamp_ns, with_stamp

# How long a client may fetch a result [s]: as rcl has it. Each result takes some 5 kB until then.
_RESULT_TIMEOUT = 10
# How long a thread keeps the interpreter when another one waits for it, in real time [s].
_SWITCH_INTERVAL = 2e-4
# How seldom garbage is looked for: among the points of a long message, which are none, it takes
# 40 ms each time.
_GARBAGE = (100_000, 50, 100)


class _Request(NamedTuple):
    """A request for a goal: its identifier and, until it is taken out, the serialised goal."""

    goal_id: UUID
    goal: list[bytes]


class _Array(ctypes.Structure):
    """Bytes in the memory of ROS's C libraries: rcutils_uint8_array_t."""

    _fields_ = (
        ('buffer', ctypes.c_void_p),
        ('length', ctypes.c_size_t),
        ('capacity', ctypes.c_size_t),
        ('allocator', ctypes.c_void_p * 5),
    )


class _Allocator(ctypes.Structure):
    _fields_ = (('functions', ctypes.c_void_p * 5),)


def _taken_as_bytes(request: Any) -> Any:
    """Return what rclpy takes for the class of a request, and makes `_Request`s of it.

    rclpy turns each request into Python objects, 10 us per point, through a function that it finds
    at the class of the message's class. Here this one serialises the C message again, and lets
    other threads run meanwhile: 100 000 points in 40 ms.
    """
    kind = type(request)
    kind.__import_type_support__()
    python, ros = ctypes.pythonapi, ctypes.CDLL(rclpy_implementation.__file__)
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_New.restype = ctypes.py_object
    ros.rcutils_get_default_allocator.restype = _Allocator
    held = ctypes.py_object(kind._TYPE_SUPPORT)
    name = ctypes.c_char_p(python.PyCapsule_GetName(held))
    support = ctypes.c_void_p(python.PyCapsule_GetPointer(held, name))
    allocator = ros.rcutils_get_default_allocator()

    @ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)
    def convert(message: int) -> _Request | None:
        array = _Array(allocator=allocator.functions)
        place = ctypes.byref(array)
        try:
            if ros.rmw_serialize(ctypes.c_void_p(message), support, place):
                return None  # rclpy drops it
            raw = ctypes.string_at(array.buffer, array.length)
            # Of 16 bytes: what follows is aligned as without it.
            return _Request(UUID(uuid=list(raw[4:20])), [raw[:4] + raw[20:]])
        except MemoryError:
            return None
        finally:
            ros.rcutils_uint8_array_fini(place)

    places = {
        name: getattr(kind, name) for name in ('_CREATE_ROS_MESSAGE', '_DESTROY_ROS_MESSAGE')
    }
    places['_CONVERT_TO_PY'] = python.PyCapsule_New(convert, None, None)
    return type('_TakenAsBytes', (type,), places | {'keep': convert})('_Taken', (), {})


def _action() -> Any:
    """Return FollowJointTrajectory, whose goals a server takes as bytes.

    As it is where rclpy's inside is not the one that `_taken_as_bytes` knows.
    """
    kind = FollowJointTrajectory.Impl.SendGoalService
    try:
        service = type('_Service', (kind,), {'Request': _taken_as_bytes(kind.Request)})
    except (AttributeError, OSError):
        return FollowJointTrajectory
    messages = type('_Impl', (FollowJointTrajectory.Impl,), {'SendGoalService': service})
    return type('_Action', (FollowJointTrajectory,), {'Impl': messages})


_ACTION = _action()


class EventActionServer(ActionServer):
    """An action server without a coroutine per goal: EventsExecutor would poll them for ever."""

    async def execute(self, taken_data: Any) -> None:
        """Handle requests; an error would end the process."""
        try:
            await super().execute(taken_data)
        except RuntimeError as error:  # as of a cancel that came too late
            self._logger.warning(f'goal server: {error}')

    def notify_execute(self, goal_handle: ServerGoalHandle, execute_callback: Any) -> None:
        """Start a goal: the callback only takes it."""
        self._execute_callback(goal_handle)

    def finish(self, handle: ServerGoalHandle, result: Any) -> None:
        """Send a goal's result, once its state is terminal."""
        answer = self.action_type.Impl.GetResultService.Response(
            status=handle.status, result=result
        )
        self._result_futures[bytes(handle.goal_id.uuid)].set_result(answer)


class GoalEndpoints:
    """The topic ~/joint_trajectory and the action ~/follow_joint_trajectory of a node.

    For recorders, goals that are accepted stand on ~/goals, how any goal ended on ~/results.

    In real time they are in a thread of their own: a long goal must not hold up the control cycle.
    What arrives stays bytes until it is looked at: most of a flood is pushed out before. They stay
    as long as the process: where an action server goes, EventsExecutor may crash over a goal that
    is on its way.
    """

    def __init__(
        self,
        node: Node,
        realtime: bool,
        on_goal: Callable[[object, bytes], None],
        on_cancel: Callable[[object], bool],
    ):
        """Open the topic and the action.

        Args:
            node: whose they are.
            realtime: open them in another thread, where the callbacks are then called too.
            on_goal: takes a serialised goal: None and a JointTrajectory, or an identifier and a
                FollowJointTrajectory.Goal.
            on_cancel: takes the identifier of a goal to cancel; returns whether it may be.
        """
        self._on_goal, self._may_cancel = on_goal, on_cancel
        self._handles: dict[object, ServerGoalHandle] = {}
        self._front = _front_of(node) if realtime else node
        prefix = node.get_fully_qualified_name()
        self._front.create_subscription(
            JointTrajectory, f'{prefix}/joint_trajectory', self._on_message, 10, raw=True
        )
        self._action = EventActionServer(
            self._front,
            _ACTION,
            f'{prefix}/follow_joint_trajectory',
            execute_callback=self._on_action_goal,
            cancel_callback=self._on_cancel,
            goal_service_qos_profile=ACTION_QOS,
            result_service_qos_profile=ACTION_QOS,
            cancel_service_qos_profile=ACTION_QOS,
            result_timeout=_RESULT_TIMEOUT,
        )
        self._goals = node.create_publisher(FollowJointTrajectory.Goal, '~/goals', ACTION_QOS)
        self._results = node.create_publisher(
            FollowJointTrajectory.Result, '~/results', ACTION_QOS
        )
        if realtime:
            sys.setswitchinterval(_SWITCH_INTERVAL)
            gc.collect()
            gc.freeze()  # a full collection may skip all that stays: it would hold up a cycle
            gc.set_threshold(*_GARBAGE)
            Thread(target=self._spin_front).start()  # the process ends after it, with the context

    def handle(self, identifier: object) -> ServerGoalHandle | None:
        """Return the action's handle of a goal that has not ended."""
        return self._handles.get(identifier)

    def tell(self, raw: bytes | Goal, identifier: object, start_ns: int) -> None:
        """Show recorders a goal that came and was accepted, with the stamp [ns] of its start."""
        if not (isinstance(raw, bytes) and self._goals.get_subscription_count()):
            return
        if identifier is None:
            trajectory = deserialize_message(raw, JointTrajectory)
            raw = bytes(serialize_message(FollowJointTrajectory.Goal(trajectory=trajectory)))
        self._goals.publish(raw if stamp_ns(raw) else with_stamp(raw, start_ns))

    def resolve(self, end: GoalResult) -> None:
        """Tell the client, and recorders, how its goal has ended."""
        code = int(end.code)
        result = FollowJointTrajectory.Result(error_code=code, error_string=end.message)
        if self._results.get_subscription_count():
            self._results.publish(result)
        handle = self._handles.pop(end.identifier, None)
        if handle is None:
            return
        if end.canceled and handle.is_cancel_requested:
            handle.canceled()
        elif end.code == ResultCode.SUCCESSFUL and not end.canceled:
            handle.succeed()
        else:
            handle.abort()
        self._action.finish(handle, result)

    def _spin_front(self) -> None:
        executor = make_executor()
        executor.add_node(self._front)
        while self._front.context.ok():
            try:
                executor.spin_once(timeout_sec=0.1)
            except ExternalShutdownException:
                return

    def _on_message(self, raw: bytes) -> None:
        self._on_goal(None, raw)  # of a flood, those that are pushed out are never read

    def _on_action_goal(self, handle: ServerGoalHandle) -> None:
        identifier = bytes(handle.goal_id.uuid)
        self._handles[identifier] = handle
        asked = handle.request  # lives as long as its result, but for what is taken out
        raw = asked.pop() if isinstance(asked, list) else serialize_message(asked)
        self._on_goal(identifier, raw)

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        may = self._may_cancel(bytes(handle.goal_id.uuid))
        return CancelResponse.ACCEPT if may else CancelResponse.REJECT


def _front_of(node: Node) -> Node:
    """Return a node beside a controller that takes its goals."""
    return rclpy.create_node(
        f'{node.get_name()}_goals',
        context=node.context,
        namespace=node.get_namespace(),
        use_global_arguments=False,
        start_parameter_services=False,
    )
