"""Recorder and cameras: time in lock-step never runs far ahead of them."""

from collections.abc import Callable

from arm_sim.simulation.simulation import Simulation

# Number of control periods by which time may run ahead of a recorder: Fast DDS keeps 512 messages
# in shared memory, and each period has two.
AHEAD = 200
# Longest wait for the start of the node camera [s of the wall clock].
CAMERA_START = 60.0


class Readers:
    """How far the readers of states have come: 'recorder' and 'camera'.

    Attributes:
        reached: stamp of the state that each reader has come to [ns].
        is_there: whether a reader still runs; set by the caller of `note`.
    """

    def __init__(
        self,
        simulation: Simulation,
        warn: Callable[[str], object],
        go_on: Callable[[], object],
        wall: Callable[[], float],
    ):
        """Know no reader yet.

        Args:
            simulation: whose states are read.
            warn: gets a line for the user.
            go_on: called when time may have to wait no longer.
            wall: the wall clock [s].
        """
        self._simulation, self._warn, self._go_on, self._wall = simulation, warn, go_on, wall
        self.reached: dict[str, int] = {}
        self.is_there: Callable[[str], bool] = lambda reader: False
        self._camera_due = 0.0

    def note(self, time_ns: int, reader: str = 'recorder') -> None:
        """Note that a reader has come to the state of this time [ns]."""
        self.reached[reader] = time_ns
        self._go_on()

    def await_camera(self) -> None:
        """Let time begin when the cameras have come to the initial state.

        Where there is none within CAMERA_START, time begins without.
        """
        self.reached['camera'] = -AHEAD * self._simulation.period_ns
        self._camera_due = self._wall() + CAMERA_START

    def restart(self) -> None:
        """Let all readers be no further than time zero."""
        self.reached = {name: min(ns, 0) for name, ns in self.reached.items()}

    @property
    def reached_ns(self) -> int | None:
        """The stamp that all readers have come to [ns]; None: there is none."""
        return min(self.reached.values(), default=None)

    @property
    def lag(self) -> bool:
        """Whether time has come as far ahead of the readers as it may."""
        simulation, reached_ns = self._simulation, self.reached_ns
        ahead_ns = -1 if reached_ns is None else simulation.time_ns - reached_ns
        return ahead_ns >= AHEAD * simulation.period_ns

    def forget_gone(self) -> None:
        """Where time waits, wait no longer for a reader that has gone."""
        if not self.lag:
            return
        expected = {name: ns for name, ns in self.reached.items() if self._is_expected(name)}
        if len(expected) < len(self.reached):
            self.reached = expected
            self._go_on()

    def _is_expected(self, reader: str) -> bool:
        """Whether a reader runs, or the cameras may still start."""
        is_there = self.is_there(reader)
        if reader == 'camera' and self._camera_due:
            if not is_there and self._wall() < self._camera_due:
                return True
            self._camera_due = 0.0
            if not is_there:
                self._warn(
                    f'no node camera within {CAMERA_START:g} s: time begins without pictures'
                )
        return is_there
