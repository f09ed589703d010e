"""How a node runs, waits and ends."""

import gc
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any, NoReturn

import numpy as np
import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from arm_controllers.ros.log import shortened
from arm_controllers.ros.parameters import refuse_unknown_parameters
from arm_dynamics.checks import ArmError

_SOON, _AGAIN = 0.1, 0.5  # [s] until an interrupt that was lost is tried again, and again
_OFTEN = 0.02  # how often it is looked what is due [s]


class _Interrupt:
    """Ctrl-C and SIGTERM: at once, or, while the executor dispatches, after the callback.

    rclpy's own handlers would invalidate the context under a callback that is about to publish.
    Only the first one counts: launch sends SIGTERM 3 s after SIGINT, which on a busy machine comes
    while the node ends, and a process that leaves its threads behind crashes.
    """

    requested = insists = False
    stop: Future | None = None  # what the executor dispatches until

    @classmethod
    def install(cls) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, cls._on_signal)
        sys.unraisablehook = cls._on_lost

    @classmethod
    def _on_lost(cls, lost: Any) -> None:
        """Interrupt again where C code that had called Python swallowed the interrupt."""
        if not (cls.requested and issubclass(lost.exc_type, KeyboardInterrupt)):
            sys.__unraisablehook__(lost)
        elif not cls.insists:
            cls.insists = True
            Thread(target=cls._insist, daemon=True).start()

    @classmethod
    def _insist(cls) -> None:
        """Interrupt until the node ends: this one may be lost as well."""
        time.sleep(_SOON)
        while signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            cls.requested = False
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(_AGAIN)

    @classmethod
    def _on_signal(cls, number: int, frame: Any) -> None:
        if cls.requested:
            return
        cls.requested = True
        if cls.stop is None:
            raise KeyboardInterrupt
        # In a thread: what is interrupted may hold the future's lock.
        Thread(target=cls.stop.set_result, args=(None,)).start()


# Longest time for which a waiting executor does not look up [s]; it may be longer in a flood.
_SLICE = 0.2


def _dispatch(executor: Any, seconds: float, news: Future | None = None) -> None:
    """Dispatch callbacks for a while, or until there is news; notice Ctrl-C."""
    # A new one each time: the executor leaves a callback in it.
    outer, _Interrupt.stop = _Interrupt.stop, (stop := Future())
    if news is not None:
        news.add_done_callback(lambda _: stop.set_result(None))
    try:
        # EventsExecutor dispatches nothing in an untimed spin.
        executor.spin_until_future_complete(stop, timeout_sec=seconds)
    finally:
        _Interrupt.stop = outer
    if _Interrupt.requested:
        raise KeyboardInterrupt


# By how much a node's data may grow once it runs [bytes]. ROS makes room for as many strings as a
# request of 20 bytes claims to hold, 18 GB for 2^28; with a bound it drops the request.
_GROWTH = 2**30


def _bound_memory() -> None:
    """Bound what this process may take on, unless the user has (`ulimit -d`)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with open('/proc/self/statm') as pages:
        data = int(pages.read().split()[5]) * resource.getpagesize()
    if soft == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_DATA, (data + _GROWTH, hard))


def run_node(name: str, make_node: Callable[[], Node]) -> int:
    """Run a node to its end and return the process's exit code; see `run_nodes`."""
    return run_nodes({name: make_node})


def run_and_exit(name: str, make_node: Callable[[], Node]) -> NoReturn:
    """Run a node, and end the process without more ado: what else is in it may never end well."""
    code = run_node(name, make_node)
    sys.stdout.flush()
    os._exit(code)


def run_nodes(makers: Mapping[str, Callable[[], Node]]) -> int:
    """Run nodes on one executor to their common end and return the process's exit code.

    A node with a method `run(executor) -> int` is a task: it runs that and ends with its result.
    Bad or unknown parameters and the like (ArmError) end all with one line and exit code 1; Ctrl-C
    with 0, a task with 130. The nodes are made in their order.
    """
    code = 0
    together = name = ', '.join(makers)
    nodes: list[Any] = []
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        _Interrupt.install()
        executor = make_executor()
        for own, make_node in makers.items():
            name = own  # whose error it is
            nodes.append(make_node())
            refuse_unknown_parameters(nodes[-1])
        for node in nodes:
            executor.add_node(node)
        name = together
        gc.collect()
        # What must be finite is checked, and told in our words.
        np.seterr(over='ignore', invalid='ignore')
        gc.freeze()  # what stays need not be searched for garbage, cycle after cycle
        if hasattr(nodes[-1], 'run'):
            code = 130
            code = nodes[-1].run(executor)
        else:
            _bound_memory()
            while True:
                _dispatch(executor, _SLICE)
    except KeyboardInterrupt:
        pass
    except (ArmError, ParameterException, rclpy_implementation.RCLError) as error:
        print(f'{name}: {shortened(str(error))}', file=sys.stderr, flush=True)
        code = 1
    except Exception as error:
        if not _Interrupt.requested:  # else Ctrl-C amid a C extension's import: ImportError
            if len(makers) > 1:  # the executor has named the node
                print(f'{name}: all end by {error!r}', file=sys.stderr, flush=True)
            raise
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        for node in reversed(nodes):
            node.destroy_node()
        rclpy.try_shutdown()
    return code


def end_node() -> None:
    """End the node that runs, after this callback, as Ctrl-C does."""
    signal.raise_signal(signal.SIGTERM)


def wait_for(executor: Any, future: Future, what: str, timeout: float) -> Any:
    """Return a future's result; wait as `wait_until` it is done."""
    wait_until(executor, future.done, what, timeout, future)
    return future.result()


def wait_until(
    executor: Any,
    condition: Callable[[], bool],
    what: str,
    timeout: float,
    news: Future | None = None,
) -> None:
    """Dispatch callbacks until a condition holds, looked at every 10 ms or when `news` is done.

    Raises:
        ArmError: it does not within `timeout` [s].
    """
    end = time.monotonic() + timeout
    while not condition():
        left = end - time.monotonic()
        if left <= 0.0:
            raise ArmError(f'no {what} within {timeout:g} s')
        _dispatch(executor, min(left, _SLICE if news else 0.01), news)


def make_executor() -> Any:
    """Return the fastest single-threaded executor of this ROS 2."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def now_and_then(node: Node, period: float, do: Callable[[], None]) -> None:
    """Call `do` every `period` [s], to 0.02 s, as long as the node lives.

    One timer does for all: rclpy's EventsExecutor looks at every timer of a node whenever one of
    them is due, and from the eighth on it complains of their number on the terminal.
    """
    for timer in node.timers:
        if isinstance(timer.callback, _Several):
            timer.callback.add(period, do)
            return
    several = _Several()
    several.add(period, do)
    node.create_timer(_OFTEN, several)


class _Several:
    """Calls several functions, each at its own period."""

    def __init__(self) -> None:
        self._due: list[tuple[float, float, Callable[[], None]]] = []

    def add(self, period: float, do: Callable[[], None]) -> None:
        """Call `do` as well, first after one period [s]."""
        self._due.append((time.monotonic() + period, period, do))

    def __call__(self) -> None:
        """Call those whose time has come; where calls were missed they are not made up for."""
        now = time.monotonic()
        for k, (due, period, do) in enumerate(self._due):
            if now >= due:
                following = due + period
                self._due[k] = following if following > now else now + period, period, do
                do()


def pin_to_core(core: int) -> None:
    """Let every thread of this process run on one core only (none if negative).

    Two processes that take turns pass a message faster on one core than across two.
    """
    if core < 0:
        return
    cores = sorted(os.sched_getaffinity(0))
    for thread in os.listdir('/proc/self/task'):
        os.sched_setaffinity(int(thread), {cores[core % len(cores)]})
