"""Events of a loop: pushes on one arm or on each of many, and a plant that replaces another."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import Array
from arm_sim.loop.many_arms import ManyArms

# A time [s], and a function of the plant at that time that returns the plant that goes on.
Event = tuple[float, Callable[[Any], Any]]


@dataclass(frozen=True)
class Push:
    """A wrench on a frame for a while.

    Attributes:
        frame: name of a link.
        wrench: (6,) force [N] and torque [N.m] at the frame's origin, base-aligned axes.
        start, end: [s].
        shares: of the wrench, each for an equal part of the time; empty: all of the wrench.
    """

    frame: str
    wrench: tuple[float, ...]
    start: float
    end: float
    shares: tuple[float, ...] = ()

    def samples(self) -> list[tuple[float, float]]:
        """Return times [s] and the shares of the wrench that begin there; the last one is 0."""
        shares = self.shares or (1.0,)
        times = np.linspace(self.start, self.end, len(shares) + 1).tolist()
        return list(zip(times, (*shares, 0.0), strict=True))

    def events(self) -> list[Event]:
        """Return the changes of the push."""

        def apply(wrench: ArrayLike, plant: Any) -> Any:
            plant.apply_wrench(self.frame, wrench)
            return plant

        wrench = np.array(self.wrench)
        return [(time, partial(apply, share * wrench)) for time, share in self.samples()]


def replacement(time: float, other: Any) -> Event:
    """Return the event that another plant goes on from the state, as when a payload is dropped."""

    def replace(plant: Any) -> Any:
        other.go_on_from(plant)
        return other

    return time, replace


def events_by_period(events: Iterable[Event], period: float) -> dict[int, list[Callable]]:
    """Return the events at the beginning of each control period, in the order of `events`.

    Times and `period` are in [s].
    """
    due: dict[int, list[Callable]] = {}
    for time, event in events:
        due.setdefault(round(time / period), []).append(event)
    return due


def pushes_of_each(
    pushes: Sequence[Push | None], period: float
) -> list[tuple[float, Callable[[ManyArms], ManyArms]]]:
    """Return the events for run_batch that push each of N arms as its own Push says.

    Args:
        pushes: (N,) one of each arm; None: it is not pushed.
        period: of the control [s]; starts and ends are at whole periods, as in the one-arm loop.
    """
    changes: dict[int, dict[str, list[tuple[int, tuple[float, ...]]]]] = {}
    for arm, push in enumerate(pushes):
        if push is None:
            continue
        ends = ((push.start, tuple(push.wrench)), (push.end, (0.0,) * 6))
        for time, wrench in ends:
            frames = changes.setdefault(round(time / period), {})
            frames.setdefault(push.frame, []).append((arm, wrench))
    now: dict[str, Array] = {}

    def apply(step: int, plant: ManyArms) -> ManyArms:
        if step == min(changes):  # of a new run
            now.clear()
        for frame, wrenches in changes[step].items():
            rows = now.setdefault(frame, np.zeros((len(pushes), 6)))
            for arm, wrench in wrenches:
                rows[arm] = wrench
            plant.apply_wrench(frame, rows.copy())
        return plant

    return [(step * period, partial(apply, step)) for step in sorted(changes)]
