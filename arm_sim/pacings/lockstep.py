"""Lock-step: the simulated arm steps when its controllers have answered."""

from arm_sim.simulation.clock import Clock
from arm_sim.simulation.pacing import Pacing
from arm_sim.simulation.resend_timeout import RESEND_PERIOD, ResendTimeout

# A clock asks for no tick sooner [s].
_SOONEST = 1e-5


class LockstepPacing(Pacing):
    """Takes a step when the present state is answered: nothing depends on the wall clock.

    A state without an answer is published again: the state or the answer may be lost. After the
    timeout the arm brakes to rest and waits there.

    Attributes:
        timeout: maximum time without an answer [s of the wall clock].
    """

    tick_period = 0.01

    def __init__(self, clock: Clock, timeout: float):
        """Pace this clock; `timeout`: maximum time without an answer [s of the wall clock]."""
        self._clock, self.timeout = clock, timeout
        self._resend_timeout = ResendTimeout()

    def set_timing(self, timeout: float, factor: float = 1.0, wait: float = 0.0) -> None:
        """Go on with another timeout; the factor has no effect."""
        self.timeout = timeout

    def state_ns(self, stamp_ns: int) -> int:
        """Return the stamp: it is that of the answered state."""
        return stamp_ns

    def accepts(self, state_ns: int, newest_ns: int | None = None) -> bool:
        """Whether the command answers the present state."""
        return state_ns == self._clock.simulation.time_ns

    def taken(self) -> None:
        """Step with the command; while time does not run, the clock keeps it."""
        clock = self._clock
        self._resend_timeout.answered(clock.wall() - clock.shown_at)
        self.go_on()

    def answered_again(self) -> None:
        """Note a second answer to a state that was published again."""
        self._resend_timeout.answered_again()

    def shown(self) -> None:
        """Where losses are expected, check soon for the answer to the new state."""
        now = self._clock.shown_at
        if self._resend_timeout.short(now):
            self._clock.wake(self._resend_timeout.seconds(now))

    def go_on(self) -> bool:
        """Step if every controller has answered; brake to rest where no controller commands."""
        clock = self._clock
        command = clock.command
        if command is None:
            brake_to_rest(clock)
        if command is None or not clock.may_step:
            return False
        clock.command = None
        clock.step(command)
        return True

    def stopped(self) -> None:
        """Brake to rest; simulated time goes on meanwhile, as far as it may."""
        brake_to_rest(self._clock)

    def claim_ended(self) -> None:
        """Step where only the answer of the released controller was missing."""
        take_if_all_have_answered(self._clock)

    def tick(self) -> None:
        """Publish a state again that is not answered in time; after the timeout, brake."""
        clock, resend = self._clock, self._resend_timeout
        now = clock.wall()
        commanded = clock.may_step and not (clock.simulation.braking and not clock.claims)
        if commanded and now - clock.shown_at > self.timeout:
            clock.lose(now - clock.shown_at)
            return
        period = resend.seconds(now) if commanded else RESEND_PERIOD
        if not clock.fault and now - clock.sent_at >= period:
            clock.show_again()
            if commanded:
                resend.lost(now)
        soon = commanded and resend.short(now)
        clock.wake(max(clock.sent_at + period - now, _SOONEST) if soon else self.tick_period)


def brake_to_rest(clock: Clock) -> None:
    """Step until the arm is at rest, as far as time may go, while the brake holds it."""
    simulation = clock.simulation
    while simulation.braking and clock.command is None and clock.may_step:
        if simulation.can_be_claimed():
            break
        clock.step(None)


def take_if_all_have_answered(clock: Clock) -> None:
    """Use the commands of all claims if each answers the present state."""
    present_ns = clock.simulation.time_ns
    if clock.claims.oldest_ns == present_ns:
        clock.take(present_ns, clock.claims.command)
