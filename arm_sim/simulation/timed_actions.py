"""What is to be done at later simulated times, as stamped messages ask for it."""

from collections.abc import Callable, Iterable
from operator import itemgetter

Action = Callable[[], None]


class TimedActions:
    """Actions in the order of their times.

    Attributes:
        waiting: time [ns] and action of each that is not done yet.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.waiting: list[tuple[int, Action]] = []

    def restart(self, first: Iterable[tuple[int, Action]]) -> None:
        """Drop all actions, and let these wait."""
        self.waiting = list(first)

    def add(self, time_ns: int, action: Action) -> None:
        """Let an action wait for its time [ns]."""
        self.waiting.append((time_ns, action))
        self.waiting.sort(key=itemgetter(0))

    def do_due(self, now_ns: int) -> None:
        """Do what is due."""
        while self.waiting and self.waiting[0][0] <= now_ns:
            self.waiting.pop(0)[1]()
