"""Computing time of a controller's cycles: mean, worst case, and cycles longer than a period."""

import time


class CycleTimes:
    """Times from a state to its command.

    Attributes:
        worst: most CPU time of a cycle [s].
        missed: number of cycles that took longer than the deadline on the wall clock.
        longest: the longest of these [s]; 0: there is none.
    """

    def __init__(self, deadline: float):
        """`deadline` of a cycle on the wall clock [s]; infinite: there is none."""
        self._deadline, self._sum, self._count = deadline, 0, 0
        self.worst, self.missed, self.longest = 0.0, 0, 0.0

    def begin(self) -> None:
        """Begin a cycle."""
        self._cpu, self._wall = time.thread_time_ns(), time.monotonic()

    def end(self) -> bool:
        """End the cycle; return whether it missed the deadline."""
        cpu, wall = time.thread_time_ns() - self._cpu, time.monotonic() - self._wall
        self._sum, self._count = self._sum + cpu, self._count + 1
        self.worst = max(self.worst, cpu * 1e-9)
        if wall <= self._deadline:
            return False
        self.missed, self.longest = self.missed + 1, max(self.longest, wall)
        return True

    @property
    def mean(self) -> float:
        """Mean CPU time of a cycle [s]."""
        return self._sum * 1e-9 / max(self._count, 1)
