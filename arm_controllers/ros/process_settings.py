"""Settings of a whole process that runs nodes: memory, garbage collector, threads, CPU cores."""

import gc
import os
import resource
import sys

# Bound of the growth of a running node's data [bytes]. ROS allocates memory for the number of
# strings that a request of 20 bytes claims, 18 GB for 2^28; with a bound ROS drops the request.
_GROWTH = 2**30
# How long a thread keeps the interpreter when another one waits for it, in real time [s].
_SWITCH_INTERVAL = 2e-4
# Thresholds of the garbage collector: a collection among the points of a long message takes 40 ms.
_GARBAGE = (100_000, 50, 100)


def bound_memory() -> None:
    """Bound the memory of this process, unless the user has (`ulimit -d`)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with open('/proc/self/statm') as pages:
        data = int(pages.read().split()[5]) * resource.getpagesize()
    if soft == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_DATA, (data + _GROWTH, hard))


def keep_what_exists() -> None:
    """Let the garbage collector skip all that exists by now: its search would hold up a cycle."""
    gc.collect()
    gc.freeze()


def share_with_threads() -> None:
    """Let a thread that takes long messages hold up the control loop for 0.2 ms at most."""
    sys.setswitchinterval(_SWITCH_INTERVAL)
    keep_what_exists()
    gc.set_threshold(*_GARBAGE)


def pin_to_core(core: int) -> None:
    """Run every thread of this process on one CPU core (negative: on any).

    Two processes that take turns pass a message faster on one core than between two.
    """
    if core < 0:
        return
    cores = sorted(os.sched_getaffinity(0))
    for thread in os.listdir('/proc/self/task'):
        os.sched_setaffinity(int(thread), {cores[core % len(cores)]})
