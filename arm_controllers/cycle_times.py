"""Computing time of a controller's cycles: mean, worst case, and cycles longer than a period."""

import time
from math import inf

_BETWEEN = 60.0  # reports of missed deadlines [s]
# Where no cycle has a deadline, the CPU time is read in one of so many: to read takes 1 us.
_ONE_OF = 16


class CycleTimes:
    """Times from a state to its command.

    Attributes:
        worst: most CPU time of a cycle whose CPU time was read [s].
        missed: number of cycles that took longer than the deadline on the wall clock.
        longest: the longest of these [s]; 0: there is none.
    """

    def __init__(self, deadline: float):
        """`deadline` of a cycle on the wall clock [s]; infinite: there is none."""
        self._deadline, self._sum, self._count = deadline, 0, 0
        self._every = _ONE_OF if deadline == inf else 1
        self._left = 1
        self.worst, self.missed, self.longest = 0.0, 0, 0.0
        self._new, self._longest_new, self._reported = 0, 0.0, -inf

    def begin(self, wall: float) -> None:
        """Begin a cycle at a time of the monotonic clock [s]."""
        self._wall = wall
        self._left -= 1
        if not self._left:
            self._cpu = time.thread_time_ns()

    def end(self) -> bool:
        """End the cycle; return whether it missed the deadline."""
        if not self._left:
            cpu = time.thread_time_ns() - self._cpu
            self._sum, self._count, self._left = self._sum + cpu, self._count + 1, self._every
            self.worst = max(self.worst, cpu * 1e-9)
        if self._deadline == inf:
            return False
        wall = time.monotonic() - self._wall
        if wall <= self._deadline:
            return False
        self.missed, self.longest = self.missed + 1, max(self.longest, wall)
        self._new, self._longest_new = self._new + 1, max(self._longest_new, wall)
        return True

    def news(self) -> tuple[int, float]:
        """Return how many cycles missed the deadline since the last report, and the longest [s].

        There is a report at once, and then one a minute; before its time the number is 0.
        """
        now = time.monotonic()
        if now - self._reported < _BETWEEN:
            return 0, 0.0
        found = self._new, self._longest_new
        self._new, self._longest_new, self._reported = 0, 0.0, now
        return found

    @property
    def mean(self) -> float:
        """Mean CPU time of the cycles whose CPU time was read [s]."""
        return self._sum * 1e-9 / max(self._count, 1)
