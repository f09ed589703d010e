"""Events of a loop: pushes on one arm or on each of many, and a plant that replaces another."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

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
        other.continue_from(plant)
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


def pushes_of_each(pushes: Sequence[Push | None], period: float) -> list[Event]:
    """Return the events of a loop that push each of N arms as its own Push says.

    Args:
        pushes: (N,) one of each arm; None: it is not pushed.
        period: of the control [s]; starts and ends are at whole periods, as in the one-arm loop.
    """
    changes = sorted(
        (
            (round(time / period), arm, push.frame, share * np.array(push.wrench))
            for arm, push in enumerate(pushes)
            if push is not None
            for time, share in push.samples()
        ),
        key=itemgetter(0),
    )

    def apply(step: int, plant: Any) -> Any:
        rows = {frame: np.zeros((len(pushes), 6)) for _, _, frame, _ in changes}
        for _, arm, frame, wrench in takewhile(lambda change: change[0] <= step, changes):
            rows[frame][arm] = wrench
        for frame, wrenches in rows.items():
            plant.apply_wrench(frame, wrenches)
        return plant

    steps = dict.fromkeys(step for step, *_ in changes)
    return [(step * period, partial(apply, step)) for step in steps]
