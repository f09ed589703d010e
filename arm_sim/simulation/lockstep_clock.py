"""Lock-step clock: the simulated arm steps when its controllers have answered."""

from collections.abc import Callable, Collection
from typing import Any

from arm_dynamics.checks import Array
from arm_sim.simulation.claims import Claim
from arm_sim.simulation.clock import Clock
from arm_sim.simulation.resend_timeout import RESEND_PERIOD, ResendTimeout

# Number of control periods by which time may run ahead of a recorder: Fast DDS keeps 512 messages
# in shared memory, and each period has two.
AHEAD = 200
# Longest wait for the start of the node camera [s of the wall clock].
CAMERA_START = 60.0
# A clock asks for no tick sooner [s].
_SOONEST = 1e-5


class LockstepClock(Clock):
    """Takes a step when the present state is answered: nothing depends on the wall clock.

    A state without an answer is published again: the state or the answer may be lost. After the
    timeout the arm brakes to rest and waits there. During a recording time never runs far ahead of
    the recorder.

    Attributes:
        timeout: maximum time without an answer [s of the wall clock].
        reader_there: whether 'recorder' or 'camera' still runs; set by the caller of `recorded`.
    """

    tick_period = 0.01

    def __init__(self, *args: Any, timeout: float, awaited: Collection[str] = (), **kwargs: Any):
        """Set the rules; for the other arguments, see `Clock`.

        Args:
            args, kwargs: of `Clock`.
            timeout: maximum time without an answer [s of the wall clock].
            awaited: names of the controllers that must have a claim before the first step.
        """
        super().__init__(*args, **kwargs)
        self.awaited: set[str] = set(awaited)
        self._resend_timeout, self._sent_at = ResendTimeout(), self._shown_at
        self.reader_there: Callable[[str], bool] = lambda reader: False
        self._read_ns: dict[str, int] = {}
        self._camera_due = 0.0
        self.set_timing(timeout)

    def set_timing(self, timeout: float) -> None:
        """Go on with another timeout."""
        self.timeout = timeout

    def accepts(self, stamp_ns: int, newest_ns: int | None = None) -> bool:
        """Whether the command answers the present state."""
        return stamp_ns == self.simulation.time_ns

    def recorded(self, time_ns: int, reader: str = 'recorder') -> None:
        """Note that a recorder or the cameras have come to this state [ns]."""
        self._read_ns[reader] = time_ns
        self.go_on()

    def await_camera(self) -> None:
        """Let time begin when the cameras have come to the initial state.

        Where there is none within CAMERA_START, time begins without.
        """
        self._read_ns['camera'] = -AHEAD * self.simulation.period_ns
        self._camera_due = self._wall() + CAMERA_START

    def reset(self, time: bool = True, state: bool = True) -> None:
        """Go back, and let recorder and cameras do so as well."""
        if time:
            self._read_ns = {name: min(ns, 0) for name, ns in self._read_ns.items()}
        super().reset(time, state)

    @property
    def recorded_ns(self) -> int | None:
        """The stamp that recorder and cameras have reached [ns]; None: nothing delays time."""
        return min(self._read_ns.values(), default=None)

    @property
    def _may_step(self) -> bool:
        if self.fault or self.awaited or (self.paused and self.waits):
            return False
        return not (self._read_ns and self.waits_for_recorder)

    @property
    def waits_for_recorder(self) -> bool:
        """Whether time has come as far ahead of recorder and cameras as it may."""
        if not self._read_ns:
            return False
        simulation, recorded = self.simulation, min(self._read_ns.values())
        return simulation.time_ns - recorded >= AHEAD * simulation.period_ns

    def take_from(self, claim: Claim, stamp_ns: int, command: Array) -> None:
        """Use a controller's command; step when every controller has answered the state."""
        if self.awaited:
            self.awaited.discard(claim.source)
        super().take_from(claim, stamp_ns, command)

    def take(self, stamp_ns: int, command: Array) -> None:
        """Step with the command; while time does not run, keep it."""
        self._resend_timeout.answered(self._wall() - self._shown_at)
        super().take(stamp_ns, command)

    def answered_again(self) -> None:
        """Note a second answer to a state that was published again."""
        self._resend_timeout.answered_again()

    def show(self) -> None:
        """Publish the present state; where losses are expected, check soon for its answer."""
        super().show()
        self._sent_at = now = self._shown_at
        if self._resend_timeout.short(now):
            self.wake(self._resend_timeout.seconds(now))

    def go_on(self) -> bool:
        """Step if every controller has answered; brake to rest where no controller commands."""
        command = self._command
        if command is None:
            self._brake_to_rest()
        if command is None or not self._may_step:
            return False
        self._command = None
        self._step(command)
        return True

    def release_one(self, claim: Claim) -> None:
        """End a claim; where only its answer was missing, step."""
        super().release_one(claim)
        if self.claims and self.accepts(self.claims.oldest_ns):
            self.take(self.simulation.time_ns, self.claims.command)

    def _stop(self) -> None:
        """Brake to rest; simulated time goes on meanwhile, as far as it may."""
        super()._stop()
        self._brake_to_rest()

    def _brake_to_rest(self) -> None:
        simulation = self.simulation
        while simulation.braking and self._command is None and self._may_step:
            if simulation.can_be_claimed():
                break
            self._step(None)

    def _is_expected(self, reader: str) -> bool:
        """Whether a recorder or the cameras run, or the cameras may still start."""
        is_there = self.reader_there(reader)
        if reader == 'camera' and self._camera_due:
            if not is_there and self._wall() < self._camera_due:
                return True
            self._camera_due = 0.0
            if not is_there:
                self._output.warn(
                    f'no node camera within {CAMERA_START:g} s: time begins without pictures'
                )
        return is_there

    def _look_for_readers(self) -> None:
        """Wait no longer for a recorder or a camera that has gone."""
        if self.waits_for_recorder:
            here = {name: ns for name, ns in self._read_ns.items() if self._is_expected(name)}
            if len(here) < len(self._read_ns):
                self._read_ns = here
                self.go_on()

    def tick(self) -> None:
        """Publish a state again that is not answered in time; after the timeout, brake."""
        self._forgive_own_stop()
        self._look_for_readers()
        now, resend = self._wall(), self._resend_timeout
        commanded = self._may_step and not (self.simulation.braking and not self.claims)
        if commanded and now - self._shown_at > self.timeout:
            self._lose(now - self._shown_at)
            return
        period = resend.seconds(now) if commanded else RESEND_PERIOD
        if not self.fault and now - self._sent_at >= period:
            self._output.show_again()
            self._sent_at = now
            if commanded:
                resend.lost(now)
        soon = commanded and resend.short(now)
        self.wake(max(self._sent_at + period - now, _SOONEST) if soon else self.tick_period)
