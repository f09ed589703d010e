"""What all nodes share: parameters from dataclasses, QoS profiles, running and ending."""

import dataclasses
import gc
import os
import re
import signal
import sys
import time
import typing
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from arm_dynamics.errors import ArmError


def _qos(
    depth: int,
    reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE,
    durability: DurabilityPolicy = DurabilityPolicy.VOLATILE,
) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=reliability,
        durability=durability,
    )


CONTROL_QOS = _qos(1)
# The two ends of the control loop take the newest message only and acknowledge none: faster, and
# in lock-step a message that got lost is asked for again.
CONTROL_INPUT_QOS = _qos(1, ReliabilityPolicy.BEST_EFFORT)
# The simulator keeps enough states for a recorder that lags behind.
STATE_QOS = _qos(1000)
RECORD_QOS = _qos(100_000)
LATCHED_QOS = _qos(1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# ROS's own depth of 10 drops requests of many clients at once.
SERVICE_QOS = _qos(1000)


def declare_parameters[T](node: Node, parameters: type[T], prefix: str = '') -> T:
    """Declare one parameter a field of a dataclass, read them, and return the dataclass.

    The field's default is the parameter's; its description is the field's line under
    `Attributes:` in the dataclass's docstring. A nested dataclass becomes a dotted prefix.

    Raises:
        ArmError: a value has the wrong type (one line: name, value, what is allowed), or the
            dataclass refuses it.
    """
    hints = typing.get_type_hints(parameters)
    descriptions = _descriptions(parameters)
    values = {}
    for field in dataclasses.fields(parameters):  # type: ignore[arg-type]
        name = prefix + field.name
        kind = hints[field.name]
        if dataclasses.is_dataclass(kind):
            values[field.name] = declare_parameters(node, kind, name + '.')  # type: ignore[arg-type]
            continue
        descriptor = ParameterDescriptor(
            description=descriptions.get(field.name, ''), dynamic_typing=True
        )
        if not node.has_parameter(name):  # two dataclasses of a node may share a fact
            node.declare_parameter(name, as_ros_value(field.default), descriptor)
        value = node.get_parameter(name).value
        values[field.name] = from_ros_value(name, value, kind)
    return parameters(**values)


def as_ros_value(value: Any) -> Any:
    """Return a dataclass field's value as rclpy takes it."""
    return list(value) if isinstance(value, tuple) else value


def from_ros_value(name: str, value: Any, kind: Any) -> Any:
    """Return a parameter's value as the dataclass field has it: 2 is a float where one is due.

    Raises:
        ArmError: wrong type.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and number:
        return float(value)
    if kind in (bool, int, str) and type(value) is kind:
        return value
    if typing.get_origin(kind) is tuple:
        item = typing.get_args(kind)[0]
        items = (
            list(value)
            if isinstance(value, list | tuple | array)
            else []
            if value is None
            else [value]
        )
        if item is float and all(type(x) in (int, float) for x in items):
            return tuple(float(x) for x in items)
        if item is str and all(isinstance(x, str) for x in items):
            return tuple(items)
    raise ArmError(f'parameter {name!r} is {value!r}; it must be {_WORDS[str(kind)]}')


_WORDS = {
    str(bool): 'true or false',
    str(int): 'a whole number',
    str(float): 'a number',
    str(str): 'a text',
    str(tuple[float, ...]): 'a number or a list of numbers',
    str(tuple[str, ...]): 'a list of texts',
}


def _descriptions(parameters: type) -> dict[str, str]:
    """Return each field's line in the docstring: `        a, b: text`."""
    found = {}
    for names, text in re.findall(
        r'^ {8}([\w, ]+): (.+)$', parameters.__doc__ or '', re.MULTILINE
    ):
        for name in names.split(', '):
            found[name] = text
    return found


class _Interrupt:
    """Ctrl-C and SIGTERM: at once, or, while the executor dispatches, after the callback.

    rclpy's own handlers would invalidate the context under a callback that is about to publish.
    """

    requested = False
    dispatching = False

    @classmethod
    def install(cls) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, cls._on_signal)

    @classmethod
    def _on_signal(cls, number: int, frame: Any) -> None:
        cls.requested = True
        if not cls.dispatching:
            raise KeyboardInterrupt


# Longest time for which a waiting executor does not look up [s].
_SLICE = 0.2


def _dispatch(executor: Any, future: Future, seconds: float) -> None:
    """Dispatch callbacks until the future is done, at most for `seconds`; notice Ctrl-C."""
    _Interrupt.dispatching = True
    try:
        # EventsExecutor dispatches nothing in an untimed spin.
        executor.spin_until_future_complete(future, timeout_sec=seconds)
    finally:
        _Interrupt.dispatching = False
    if _Interrupt.requested:
        raise KeyboardInterrupt


def run_node(name: str, make_node: Callable[[], Node]) -> int:
    """Run a node to its end and return the process's exit code.

    A node with a method `run(executor) -> int` is a task: it runs that and ends with its result.
    Bad parameters and the like (ArmError) end it with one line and exit code 1; Ctrl-C with 0, a
    task with 130.
    """
    code = 0
    node = None
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        _Interrupt.install()
        node = make_node()
        executor = make_executor()
        executor.add_node(node)
        gc.collect()
        np.seterr(invalid='ignore')  # what must be finite is checked, and told in our words
        gc.freeze()  # what stays need not be searched for garbage, cycle after cycle
        if hasattr(node, 'run'):
            code = 130
            code = node.run(executor)
        else:
            never = Future()
            while True:
                _dispatch(executor, never, _SLICE)
    except KeyboardInterrupt:
        pass
    except (ArmError, ParameterException, rclpy_implementation.RCLError) as error:
        print(f'{name}: {" ".join(str(error).split())}', file=sys.stderr, flush=True)
        code = 1
    except Exception:
        if not _Interrupt.requested:  # else Ctrl-C amid a C extension's import: ImportError
            raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return code


def wait_for(executor: Any, future: Future, what: str, timeout: float) -> Any:
    """Dispatch callbacks until a future is done and return its result.

    Raises:
        ArmError: not done within `timeout` [s].
    """
    end = time.monotonic() + timeout
    while not future.done():
        remaining = end - time.monotonic()
        if remaining <= 0.0:
            raise ArmError(f'no {what} within {timeout:g} s')
        _dispatch(executor, future, min(remaining, _SLICE))
    return future.result()


def wait_until(executor: Any, condition: Callable[[], bool], what: str, timeout: float) -> None:
    """Dispatch callbacks until a condition holds.

    Raises:
        ArmError: it does not within `timeout` [s].
    """
    end = time.monotonic() + timeout
    never = Future()
    while not condition():
        if time.monotonic() > end:
            raise ArmError(f'no {what} within {timeout:g} s')
        _dispatch(executor, never, 0.01)


def make_executor() -> Any:
    """Return the fastest single-threaded executor of this ROS 2."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def pin_to_core(core: int) -> None:
    """Let every thread of this process run on one core only (none if negative).

    Two processes that take turns pass a message faster on one core than across two.
    """
    if core < 0:
        return
    cores = sorted(os.sched_getaffinity(0))
    for thread in os.listdir('/proc/self/task'):
        os.sched_setaffinity(int(thread), {cores[core % len(cores)]})
