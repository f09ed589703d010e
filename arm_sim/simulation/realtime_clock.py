"""Real-time clock: the simulated arm steps as the wall clock advances."""

from typing import Any

from arm_sim.simulation.clock import Clock
from arm_sim.simulation.resend_timeout import RESEND_PERIOD

# Real time skips what is further behind than this number of steps.
_CATCH_UP_STEPS = 10
# Commands of this average age [control periods] are delayed; the average is over some steps.
_LATE_PERIODS, _AVERAGED = 0.5, 20
TOO_SLOW_HELP = 'mode:=lockstep, a smaller real_time_factor or a longer timestep helps'


class RealtimeClock(Clock):
    """Takes the steps that the wall clock says are due.

    A command that is older than the timeout is no longer used: the arm brakes and holds.

    Attributes:
        factor: simulated time per wall time.
        timeout_ns: maximum age of a command [ns of simulated time].
    """

    def __init__(self, *args: Any, factor: float, timeout: float, **kwargs: Any):
        """`factor`: simulated per wall time; `timeout` [s of simulated time]; else see `Clock`."""
        super().__init__(*args, **kwargs)
        self._state_ns = -1  # stamp at which the state was reset alone
        self.set_timing(factor, timeout)

    def set_timing(self, factor: float, timeout: float) -> None:
        """Go on from here with another factor and timeout."""
        self._age_ns = 0.0
        self.factor, self.timeout_ns = factor, timeout * 1e9
        self.tick_period = min(self.simulation.period_ns * 1e-9 / factor, RESEND_PERIOD)
        self._restart()
        self.wake(self.tick_period)

    def _restart(self, due_ns: int = 0) -> None:
        """Let the present state, or one `due_ns` later, be the one that is due now."""
        self._anchor = self._wall(), self.simulation.time_ns + due_ns

    def accepts(self, stamp_ns: int, newest_ns: int | None = None) -> bool:
        """Whether the command is no older than the controller's newest one."""
        if newest_ns is None:
            newest_ns = self._command_ns
        return newest_ns <= stamp_ns <= self.simulation.time_ns and stamp_ns > self._state_ns

    def reset(self, time: bool = True, state: bool = True) -> None:
        """Go back now; commands for states before a reset of the state are not used."""
        super().reset(time, state)
        self._state_ns = -1 if time else self.simulation.time_ns
        self._restart()

    def tick(self) -> None:
        """Take the steps that are due; show a state again that stays for long."""
        for _ in range(self._due()):
            if self._may_step:
                self._step_in_time()
        super().tick()

    def _due(self) -> int:
        """Return how many steps are due."""
        if self.paused or self.fault:
            self._restart()
            return min(self._steps_allowed, 1)  # many at once would hold up who commands
        wall, simulated = self._anchor
        simulation = self.simulation
        elapsed = (self._wall() - wall) * 1e9 * self.factor
        due = int(elapsed - (simulation.time_ns - simulated)) // simulation.period_ns
        self.late += due > 1
        if due > _CATCH_UP_STEPS:
            self.skipped += due - 1
            self._restart(simulation.period_ns)
            return 1
        return due

    def _step_in_time(self) -> None:
        """Take a step with the newest command, unless that is too old."""
        age = self.simulation.time_ns - self._command_ns
        self.oldest_command_ns = max(self.oldest_command_ns, age)
        expected = self._command is not None or len(self.claims) > 0
        if expected and age > self.timeout_ns:
            self._lose(age * 1e-9)
        used = age if self._command is not None else 0
        self._age_ns += (used - self._age_ns) / _AVERAGED
        self._step(self._command)

    def _too_slow(self) -> str:
        periods = self._age_ns / self.simulation.period_ns
        if periods < _LATE_PERIODS:
            return ''
        return (
            f'; the machine is too slow for real time: commands are {self._age_ns * 1e-6:.2g} ms '
            f'old, {periods:.2g} control periods: {TOO_SLOW_HELP}'
        )
