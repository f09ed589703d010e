"""Events of a closed loop: pushes on an arm, and another plant that goes on from its state."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
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
