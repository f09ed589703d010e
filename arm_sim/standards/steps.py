"""So many control periods of a clock that is paused, then it stands again."""

from arm_dynamics.checks import ArmError
from arm_sim.simulation.clock import Clock


class Steps:
    """Steps that are under way, or have ended.

    Attributes:
        count: how many are wanted.
    """

    def __init__(self, clock: Clock, count: int):
        """Let time go on so far.

        Raises:
            ArmError: it runs, goes on already, or physics has stopped.
        """
        if clock.fault or not clock.paused or not clock.waits:
            running = 'steps are under way' if clock.paused else 'not paused: pause it'
            raise ArmError(clock.fault or running)
        simulation = clock.simulation
        self.count, self._clock, self._begin = count, clock, simulation.steps
        clock.allow_until(simulation.time_ns + count * simulation.period_ns)

    @property
    def made(self) -> int:
        """How many were made so far; negative after a reset."""
        return self._clock.simulation.steps - self._begin

    @property
    def ended(self) -> bool:
        """Whether time stands again, or goes on without them."""
        clock = self._clock
        short = clock.fault or clock.waits or not clock.paused or self.made < 0
        return self.made >= self.count or bool(short)

    @property
    def failure(self) -> str:
        """Why they ended before all were made, or ''."""
        if self.made >= self.count:
            return ''
        made = self.made
        how = f'{made} of {self.count} steps were made' if made >= 0 else 'time was reset'
        return self._clock.fault or f'stopped in between: {how}'

    def stop(self) -> None:
        """Let time stand."""
        self._clock.allow_until(self._clock.simulation.time_ns)
