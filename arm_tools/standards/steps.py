"""A number of control periods of a paused clock."""

from arm_dynamics.checks import ArmError
from arm_sim.simulation.clock import Clock


class Steps:
    """Requested control periods, running or ended.

    Attributes:
        count: their number.
    """

    def __init__(self, clock: Clock, count: int):
        """Let the paused clock run for `count` control periods.

        Raises:
            ArmError: the clock is not paused, other steps are running, or physics has stopped.
        """
        if clock.fault or not clock.paused or not clock.waits:
            running = 'steps are under way' if clock.paused else 'not paused: pause it'
            raise ArmError(clock.fault or running)
        simulation = clock.simulation
        self.count, self._clock, self._begin = count, clock, simulation.steps
        clock.allow_until(simulation.time_ns + count * simulation.period_ns)

    @property
    def made(self) -> int:
        """Number of control periods so far; negative after a reset."""
        return self._clock.simulation.steps - self._begin

    @property
    def ended(self) -> bool:
        """Whether the clock is paused again, or runs for another reason."""
        clock = self._clock
        short = clock.fault or clock.waits or not clock.paused or self.made < 0
        return self.made >= self.count or bool(short)

    @property
    def failure(self) -> str:
        """Why they ended early, or ''."""
        if self.made >= self.count:
            return ''
        made = self.made
        how = f'{made} of {self.count} steps were made' if made >= 0 else 'time was reset'
        return self._clock.fault or f'stopped in between: {how}'

    def stop(self) -> None:
        """Pause the clock again."""
        self._clock.allow_until(self._clock.simulation.time_ns)
