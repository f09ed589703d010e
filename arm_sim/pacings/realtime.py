"""Real time: the simulated arm steps as the wall clock advances."""

from arm_sim.simulation.clock import Clock
from arm_sim.simulation.pacing import TOO_SLOW_HELP, Pacing
from arm_sim.simulation.resend_timeout import RESEND_PERIOD

# Real time skips what is further behind than this number of steps.
_CATCH_UP_STEPS = 10
# Commands of this average age [control periods] are delayed; the average is over some steps.
_LATE_PERIODS, _AVERAGED = 0.5, 20


class RealtimePacing(Pacing):
    """Takes the steps that the wall clock says are due.

    Where the command is older than the timeout, simulated time stands still for a while, as it
    does while the simulator gets no CPU; then the arm brakes and holds.

    Attributes:
        factor: simulated time per wall time.
        timeout_ns: maximum age of a command [ns of simulated time].
        wait: longest time for which simulated time stands still for a command [s of wall time].
    """

    def __init__(
        self,
        clock: Clock,
        timeout: float,
        factor: float = 1.0,
        wait: float = 0.0,
        holds: bool = False,
    ):
        """Pace this clock.

        Args:
            clock: the clock.
            timeout: maximum age of a command [s of simulated time].
            factor: simulated time per wall time.
            wait: longest time for which simulated time stands still for a command [s].
            holds: whether a command holds until the next one, and its stamp is not read.
        """
        self._clock, self.holds = clock, holds
        self._state_ns = -1  # stamp at which the state was reset alone
        self.set_timing(timeout, factor, wait)

    def set_timing(self, timeout: float, factor: float = 1.0, wait: float = 0.0) -> None:
        """Go on from here with another factor, timeout and wait."""
        self._age_ns, self.wait = 0.0, wait
        self.factor, self.timeout_ns = factor, timeout * 1e9
        self.tick_period = min(self._clock.simulation.period_ns * 1e-9 / factor, RESEND_PERIOD)
        self._restart()
        self._clock.wake(self.tick_period)

    def _restart(self, due_ns: int = 0) -> None:
        """Let the present state, or one `due_ns` later, be the one that is due now."""
        self._anchor = self._clock.wall(), self._clock.simulation.time_ns + due_ns

    def state_ns(self, stamp_ns: int) -> int:
        """Return the stamp; where a command holds until the next one, that of the present."""
        return self._clock.simulation.time_ns if self.holds else stamp_ns

    def accepts(self, state_ns: int, newest_ns: int | None = None) -> bool:
        """Whether the command is no older than the controller's newest one."""
        clock = self._clock
        if newest_ns is None:
            newest_ns = clock.command_ns
        return newest_ns <= state_ns <= clock.simulation.time_ns and state_ns > self._state_ns

    def reset(self, time: bool) -> None:
        """Go on from here; commands for states before a reset of the state are not used."""
        self._state_ns = -1 if time else self._clock.simulation.time_ns
        self._restart()

    def tick(self) -> None:
        """Take the steps that are due; show a state again that stays for long."""
        clock = self._clock
        for _ in range(self._due()):
            if clock.may_step and not self._late():
                self._step_in_time()
        if not clock.fault and clock.wall() - clock.sent_at >= RESEND_PERIOD:
            clock.show_again()

    def _due(self) -> int:
        """Return how many steps are due."""
        clock = self._clock
        if clock.paused or clock.fault:
            self._restart()
            return min(clock.steps_allowed, 1)  # many at once would hold up who commands
        wall, simulated = self._anchor
        simulation = clock.simulation
        elapsed = (clock.wall() - wall) * 1e9 * self.factor
        due = int(elapsed - (simulation.time_ns - simulated)) // simulation.period_ns
        self.late += due > 1
        if due > _CATCH_UP_STEPS:
            self.skipped += due - 1
            self._restart(simulation.period_ns)
            return 1
        return due

    def _late(self) -> bool:
        """Whether to wait for a command; brake where the wait was long enough."""
        clock = self._clock
        age = clock.simulation.time_ns - clock.command_ns
        expected = clock.command is not None or len(clock.claims) > 0
        if not expected or age <= self.timeout_ns:
            return False
        if clock.wall() - clock.shown_at < self.wait:
            return True
        clock.lose(age * 1e-9, self.wait)
        return False

    def _step_in_time(self) -> None:
        """Take a step with the newest command."""
        clock = self._clock
        age = clock.simulation.time_ns - clock.command_ns
        self.oldest_command_ns = max(self.oldest_command_ns, age)
        used = age if clock.command is not None else 0
        self._age_ns += (used - self._age_ns) / _AVERAGED
        clock.step(clock.command)

    def remark(self) -> str:
        """Return by how much commands are delayed, if by much."""
        periods = self._age_ns / self._clock.simulation.period_ns
        if periods < _LATE_PERIODS:
            return ''
        return (
            f'; the machine is too slow for real time: commands are {self._age_ns * 1e-6:.2g} ms '
            f'old, {periods:.2g} control periods: {TOO_SLOW_HELP}'
        )
