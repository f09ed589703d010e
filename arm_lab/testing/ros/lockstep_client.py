"""A client of a simulator in lock-step: receives each state, and says how far time may run."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from builtin_interfaces.msg import Time
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from std_msgs.msg import String, UInt8MultiArray
from std_srvs.srv import SetBool, Trigger

from arm_controllers.ros.active_controllers import ActiveControllers, watch_active_controllers
from arm_controllers.ros.cdr import stamp_ns
from arm_controllers.ros.messages import stamp_at
from arm_controllers.ros.qos import CONTROL_QOS, LATCHED_QOS, RECORD_QOS
from arm_controllers.ros.ros_types import AnyMessage, Request, ServiceType
from arm_controllers.ros.running import make_executor, wait_until
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader
from arm_dynamics.checks import ArmError, in_range
from arm_dynamics.model import RobotModel
from arm_dynamics.plugins import extension
from arm_lab.experiments.processes import Group
from arm_sim.loop.record import JointStates
from arm_sim.ros.goal_run import SOON, joint_states, sender_of
from arm_sim.ros.loop_messages import COMMAND, STATE, TOPIC, gathered

_START = 180.0  # longest wait for a node that starts, and may compile first [s]
STILL = 60.0  # longest wait for an answer, or for time to go on [s]
_AHEAD = 600  # states by which time runs ahead of those received, see `goal_run`
_LOOK = 0.5  # period of looking whether a process has ended [s]
_STEP = 0.02  # period of looking at a condition, in both times [s]
_PAUSE = 0.1  # a controller_manager looks every 50 ms whether a goal has ended [s]
_TRIES = 6  # of a request: ROS can lose the answer to a new client


class LockstepClient(AbstractContextManager['LockstepClient']):
    """The node of a test. Simulated time stands still, except in `run`, `run_to` and `wait`.

    Attributes:
        node: for publishers and clients of the test; the methods dispatch its callbacks.
        model: the arm, with its limits.
        names: of the joints.
        time_ns: simulated time of the newest state [ns].
    """

    def __init__(self, domain: int, processes: Mapping[str, Group], recording: Path):
        """Open the node and wait for the simulator.

        Args:
            domain: ROS domain.
            processes: by name; the end of one is an error.
            recording: file of all messages.

        Raises:
            ArmError: no simulator; says which process has ended, with its last words.
        """
        self._ends, self._watched = ExitStack(), processes
        self._claims = ActiveControllers()
        self._states, self._commands = list[bytes](), list[bytes]()
        self._clients: dict[str, Any] = {}
        self.time_ns = -1
        try:
            self._open(domain, recording)
        except BaseException:
            self._ends.close()
            raise

    def __exit__(self, *error: object) -> None:
        """End recording and node."""
        self._ends.close()

    def _open(self, domain: int, recording: Path) -> None:
        context, ends = rclpy.Context(), self._ends
        no_handlers = SignalHandlerOptions.NO
        rclpy.init(context=context, domain_id=domain, signal_handler_options=no_handlers)
        ends.callback(context.try_shutdown)
        self.node = node = rclpy.create_node('arm_test', context=context)
        ends.callback(node.destroy_node)
        self._executor = make_executor(context)
        self._executor.add_node(node)
        ends.callback(self._executor.shutdown)
        self._run_until = node.create_publisher(Time, 'simulator/run_until', CONTROL_QOS)
        watch_active_controllers(node, partial(setattr, self, '_claims'))
        urdf: list[str] = []
        for topic in ('robot_description', 'arm_sim/robot_description'):
            node.create_subscription(String, topic, lambda x: urdf.append(x.data), LATCHED_QOS)
        self.until(lambda: bool(urdf), 'robot_description of the simulator', _START)
        self.model = RobotModel(urdf[0])
        self.names = list(self.model.joint_names)
        self._reader = JointStateReader(self.names, FIELDS)
        make = extension('arm_sim.recorders', 'recorder')
        self._recorder = make(node, lambda number: recording, own_states=False)
        ends.callback(self._recorder.close)
        node.create_subscription(UInt8MultiArray, TOPIC, self._on_batch, RECORD_QOS, raw=True)
        self.until(lambda: bool(self._states), 'states of the simulator', _START)
        steps = GetParameters.Request(names=['timestep', 'control_decimation'])
        step, count = self.call(GetParameters, 'simulator/get_parameters', steps).values
        self.period_ns = round(step.double_value * 1e9) * count.integer_value

    def _on_batch(self, raw: bytes) -> None:
        """Collect the states of a batch of the control loop's messages."""
        messages = list(gathered(raw))
        for what, data in messages:
            if what == STATE:
                self.time_ns = stamp_ns(data)
                if self._states[-1:] != [data]:
                    self._states.append(data)
                self._commands.clear()
            elif what == COMMAND:
                self._commands.append(data)
        self._recorder.take(messages)

    def await_controllers(self, names: Sequence[str]) -> None:
        """Wait until controllers of this package, or without names any one, command the arm."""
        what = f'command of {" and ".join(names) or "the controller"}'
        self.until(
            lambda: self._claims.claims and set(names) <= {*self._claims.claims}, what, _START
        )

    def await_managed(self, names: Sequence[str]) -> None:
        """Wait until controllers are active, as the controller_manager of ros2_control lists them.

        Raises:
            ArmError: they are not; says which states they have.
        """
        from controller_manager_msgs.srv import ListControllers

        service, states = 'controller_manager/list_controllers', dict[str, str]()
        end = time.monotonic() + _START
        while any(states.get(name) != 'active' for name in names):
            if time.monotonic() > end:
                raise ArmError(f'controllers are {states}; wanted active: {", ".join(names)}')
            answer = self.call(ListControllers, service, ListControllers.Request(), _START)
            states = {each.name: each.state for each in answer.controller}
            self.spin(_PAUSE)

    def begin(self, last: str, managed: bool) -> None:
        """Let time stand still in the initial state; forget what was before.

        Args:
            last: the controller that has started last.
            managed: by a controller_manager, which bears no jump of time.
        """
        self.until(lambda: self._recorder.ready, 'recorder', _START)
        self.call(SetBool, 'simulator/pause', SetBool.Request(data=True))
        self.set_parameters(lockstep_timeout=3600.0)  # `STILL` is the longest wait instead
        if managed:
            from simulation_interfaces.srv import ResetSimulation

            scope = ResetSimulation.Request(scope=ResetSimulation.Request.SCOPE_STATE)
            self.settle(last)
            self.call(ResetSimulation, 'simulator/reset_simulation', scope)
            self.settle(last)
        else:
            self.time_ns = -1
            self.call(Trigger, 'simulator/reset', Trigger.Request())
            self.until(lambda: self.time_ns == 0, 'state after the reset', STILL)
            self.until(self._all_have_answered, 'command that answers the first state', STILL)
        del self._states[:-1]

    def _all_have_answered(self) -> bool:
        """Whether all controllers that command joints have answered the newest state."""
        return {*self._claims.claims} <= {sender_of(raw) for raw in self._commands}

    # Time

    def run(self, seconds: float) -> None:
        """Let simulated time run [s]."""
        in_range('seconds', seconds, 0.0)
        self.run_to(self.time_ns + self.whole(seconds))

    def whole(self, seconds: float) -> int:
        """Return a time [s] in whole control periods, at least one [ns]."""
        return max(1, round(seconds * 1e9 / self.period_ns)) * self.period_ns

    def run_to(self, end_ns: int) -> None:
        """Let simulated time run to the first state at a stamp [ns] or after it.

        Raises:
            ArmError: a state stays without answer; a process has ended.
        """
        begin_ns, ahead_ns, until_ns = self.time_ns, _AHEAD * self.period_ns, 0
        end_ns = begin_ns + -(-(end_ns - begin_ns) // self.period_ns) * self.period_ns

        def is_over() -> bool:
            nonlocal until_ns
            if until_ns < min(end_ns, self.time_ns + ahead_ns // 2):
                until_ns = min(self.time_ns + ahead_ns, end_ns)
                self._run_until.publish(stamp_at(until_ns))
            return self.time_ns >= end_ns

        def goes_on(before_ns: int) -> bool:
            return is_over() or self.time_ns > before_ns

        while not is_over():
            what = f'command that answers the state of t = {1e-9 * self.time_ns:g} s'
            self.until(partial(goes_on, self.time_ns), what, STILL)

    def wait(self, condition: Callable[[], bool], what: str, seconds: float = 10.0) -> None:
        """Let time run until a condition holds, not faster than the wall clock.

        Args:
            condition: of messages that `node` receives, or of processes.
            what: is waited for, in words.
            seconds: longest wait [s of simulated time].

        Raises:
            ArmError: the condition does not hold then.
        """
        end_ns = self.time_ns + self.whole(seconds)
        while not condition():
            if self.time_ns >= end_ns:
                raise ArmError(f'no {what} within {seconds:g} s of simulated time')
            end = time.monotonic() + _STEP
            self.run_to(self.time_ns + self.whole(_STEP))
            self.spin(max(end - time.monotonic(), 1e-3), condition)

    # Messages

    def until(self, condition: Callable[[], Any], what: str, seconds: float = STILL) -> None:
        """Dispatch callbacks until a condition holds; simulated time need not run.

        Raises:
            ArmError: it does not hold within a time [s of the wall clock]; a process has ended.
        """
        end = time.monotonic() + seconds
        while True:
            with suppress(ArmError):
                return wait_until(self._executor, condition, what, min(_LOOK, seconds))
            for name, process in self._watched.items():
                if process.code is not None:
                    raise ArmError(
                        f'the {name} has ended with exit code {process.code}; {said(process)}'
                    )
            if time.monotonic() > end:
                raise ArmError(
                    f'no {what} within {seconds:g} s; '
                    + '; '.join(f'{name}: {said(each)}' for name, each in self._watched.items())
                )

    def spin(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Dispatch callbacks for a time [s of the wall clock], or until a condition holds."""
        with suppress(ArmError):
            wait_until(self._executor, until, '', seconds)

    def call(
        self, kind: ServiceType, name: str, request: Request, seconds: float = STILL
    ) -> AnyMessage:
        """Return the answer of a service; raise ArmError if there is none in time [s]."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        client, answers = self._clients[name], list[Future]()
        self.until(client.service_is_ready, f'service {name}', seconds)
        for _ in range(_TRIES):
            answers.append(client.call_async(request))
            self.spin(STILL / _TRIES, lambda: any(each.done() for each in answers))
            for each in answers:
                if each.done():
                    return each.result()
        raise ArmError(f'no answer of {name} within {STILL:g} s')

    def publish(self, topic: str, message: AnyMessage) -> None:
        """Publish a message; return when its subscriber has received it."""
        if topic not in self._clients:
            self._clients[topic] = self.node.create_publisher(type(message), topic, 100)
        publisher = self._clients[topic]
        self.until(publisher.get_subscription_count, f'subscription to {topic}')
        publisher.publish(message)
        self.until(lambda: publisher.wait_for_all_acked(SOON), f'receipt on {topic}')

    def settle(self, node: str, until: Callable[[], bool] = lambda: False) -> None:
        """Wait until a node has dealt with the messages that it has, or a condition holds.

        It answers a request after them. A node without parameters has the time of `_LOOK` instead.
        """
        service = f'{node}/get_parameters'
        if service not in self._clients:
            self._clients[service] = self.node.create_client(GetParameters, service)
        client = self._clients[service]
        self.spin(_START, client.service_is_ready)
        for pause in (_PAUSE, 0.0):
            if client.service_is_ready():
                self.call(GetParameters, service, GetParameters.Request())
            if pause:
                self.spin(pause if client.service_is_ready() else _LOOK, until)

    def set_parameters(self, **values: object) -> None:
        """Set parameters of the simulator; raise ArmError where it refuses."""
        own = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
        request, kind = SetParametersAtomically.Request(parameters=own), SetParametersAtomically
        result = self.call(kind, 'simulator/set_parameters_atomically', request).result
        if not result.successful:
            raise ArmError(f'simulator: {result.reason}')

    # What was seen

    @property
    def motion(self) -> JointStates:
        """The states since the arm was ready: time_ns (m,), q, v, effort (m, n)."""
        return joint_states(self._states, self._reader)

    def checksum(self) -> str:
        """Return the SHA-256 of times since the first state, positions, velocities, efforts."""
        found, digest = self.motion, sha256()
        for array in (found.time_ns - found.time_ns[0], found.q, found.v, found.effort):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def said(process: Group, of: str = '') -> str:
    """Return what a process said last, if possible as an error or a warning, about `of`."""
    lines = [line for line in process.lines() if of in line]
    for word in ('refused', 'ERROR', 'WARN', ''):
        for line in reversed(lines):
            if word in line:
                return f'it said: {line}'
    return f'{process.log} says nothing'
