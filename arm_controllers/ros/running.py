"""How nodes run, wait and end."""

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import NoReturn

import numpy as np
import rclpy
from rclpy.exceptions import InvalidHandle, ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from arm_controllers.ros.interrupts import Interrupt
from arm_controllers.ros.log import shortened
from arm_controllers.ros.parameters import refuse_unknown_parameters
from arm_controllers.ros.process_settings import bound_memory, keep_what_exists
from arm_controllers.ros.rclpy_internals import RCLError
from arm_controllers.ros.ros_types import Executor
from arm_dynamics.checks import ArmError

# Name of a thread that spins a node, and ends with the context.
SPINS = 'spins'
# Longest time in which a node's entities are destroyed [s of the wall clock].
LONGEST_END = 30
_TICK = 0.02  # period of looking which periodic function is due [s]
# Longest time for which a waiting executor dispatches without a check [s]; longer in a flood.
_SLICE = 0.2
# Others take a process for dead that stood still for longer; in this time they find it again [s].
_DEAD, _FOUND = 15.0, 3.0


class Dispatch:
    """When the executor of this process began to dispatch, time.monotonic() [s]."""

    began = never = float('inf')


def _dispatch(executor: Executor, seconds: float, news: Future | None = None) -> None:
    """Dispatch callbacks for a time [s] or until `news` is done; raise KeyboardInterrupt."""
    # A new future each time: the executor leaves a callback in the future.
    outer, Interrupt.stop = Interrupt.stop, (stop := Future())
    Dispatch.began = time.monotonic()
    if news is not None:
        news.add_done_callback(lambda _: stop.set_result(None))
    try:
        # EventsExecutor dispatches nothing in an untimed spin.
        executor.spin_until_future_complete(stop, timeout_sec=seconds)
    except InvalidHandle:
        pass  # EventsExecutor hands over what came for something before it was destroyed
    finally:
        Interrupt.stop, Dispatch.began = outer, Dispatch.never
    if Interrupt.requested:
        raise KeyboardInterrupt


def run_node(name: str, make_node: Callable[[], Node]) -> int:
    """Run a node to its end and return the process's exit code; see `run_nodes`."""
    return run_nodes({name: make_node})


def run_and_exit(name: str, make_node: Callable[[], Node]) -> NoReturn:
    """Run a node and end the process at once: other threads in the process may never end."""
    code = run_node(name, make_node)
    sys.stdout.flush()
    os._exit(code)


def run_nodes(makers: Mapping[str, Callable[[], Node]]) -> int:
    """Run nodes on one executor to their common end and return the process's exit code.

    A node with a method `run(executor) -> int` is a task, whose result is the exit code. An
    ArmError, such as an invalid or unknown parameter, ends all nodes with one line and exit code
    1. Ctrl-C ends them with exit code 0, a task with 130. The nodes are created in their order.
    """
    code = 0
    all_names = name = ', '.join(makers)
    nodes: list[Node] = []
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        Interrupt.install()
        executor = make_executor()
        for own, make_node in makers.items():
            name = own  # of the node that an error is about
            nodes.append(make_node())
            refuse_unknown_parameters(nodes[-1])
        for node in nodes:
            executor.add_node(node)
        name = all_names
        # Numbers that must be finite are checked, in our own words.
        np.seterr(over='ignore', invalid='ignore')
        keep_what_exists()
        if hasattr(nodes[-1], 'run'):
            code = 130
            code = nodes[-1].run(executor)
        else:
            bound_memory()
            while True:
                since = time.monotonic()
                _dispatch(executor, _SLICE)
                let_clients_return(since)
    except KeyboardInterrupt:
        pass
    except (ArmError, ParameterException, RCLError) as error:
        print(f'{name}: {shortened(str(error))}', file=sys.stderr, flush=True)
        code = 1
    except Exception as error:
        if not Interrupt.requested:  # else ImportError: Ctrl-C during the import of a C extension
            if len(makers) > 1:  # the executor has named the node
                print(f'{name}: all nodes end after {error!r}', file=sys.stderr, flush=True)
            raise
    finally:
        Interrupt.ignore()
        # Fast DDS can wait for ever here, for a listener that waits for its own mutex.
        signal.alarm(LONGEST_END)
        for node in reversed(nodes):
            node.destroy_node()
        rclpy.try_shutdown()
        for thread in threading.enumerate():
            if thread.name == SPINS:
                thread.join()
        if nodes:
            executor.shutdown()
            nodes.clear()
            del node
            gc.unfreeze()
            gc.collect()  # a node that is left would stay on the graph for another 20 s
        signal.alarm(0)
    return code


def let_clients_return(since: float) -> None:
    """Wait where this process stood still since time.monotonic() was `since` [s].

    Clients have taken it for dead; a result that is sent before they find it again is lost.
    """
    if time.monotonic() - since > _DEAD:
        time.sleep(_FOUND)


def stood_still(longest: float) -> bool:
    """Return, once, whether this process stood still for longer [s]: what has come is old."""
    now = time.monotonic()
    still = now - Dispatch.began > _SLICE + longest
    if still:
        Dispatch.began = now
    return still


def end_node() -> None:
    """End the running node after this callback, as Ctrl-C does."""
    signal.raise_signal(signal.SIGTERM)


def wait_until(
    executor: Executor,
    condition: Callable[[], bool],
    what: str,
    timeout: float,
    news: Future | None = None,
) -> None:
    """Dispatch callbacks until a condition holds, checked every 10 ms or when `news` is done.

    Raises:
        ArmError: the condition does not hold within `timeout` [s].
    """
    end = time.monotonic() + timeout
    while not condition():
        left = end - time.monotonic()
        if left <= 0.0:
            raise ArmError(f'no {what} within {timeout:g} s')
        _dispatch(executor, min(left, _SLICE if news else 0.01), news)


def make_executor(context: rclpy.Context | None = None) -> Executor:
    """Return the fastest single-threaded executor of this ROS 2; `context`: not the default."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


def now_and_then(node: Node, period: float, do: Callable[[], None]) -> None:
    """Call `do` every `period` [s], with a resolution of 0.02 s, as long as the node exists.

    One timer serves all functions: rclpy's EventsExecutor checks every timer of a node whenever
    one is due, and prints a warning from the eighth timer on.
    """
    for timer in node.timers:
        if isinstance(timer.callback, _Several):
            timer.callback.add(period, do)
            return
    several = _Several()
    several.add(period, do)
    node.create_timer(_TICK, several)


class _Several:
    """Calls several functions, each at its own period."""

    def __init__(self) -> None:
        self._due: list[tuple[float, float, Callable[[], None]]] = []

    def add(self, period: float, do: Callable[[], None]) -> None:
        """Call `do` as well, first after one period [s]."""
        self._due.append((time.monotonic() + period, period, do))

    def __call__(self) -> None:
        """Call the functions that are due; missed calls are not made up for."""
        now = time.monotonic()
        for k, (due, period, do) in enumerate(self._due):
            if now >= due:
                following = due + period
                self._due[k] = following if following > now else now + period, period, do
                do()
