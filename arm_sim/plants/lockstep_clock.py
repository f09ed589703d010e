"""Lock-step: the arm waits for the command to each of its states."""

from typing import Any

from arm_sim.plants.clock import Clock
from arm_sim.plants.simulation import Array

# Braking is given up after so long [ns of simulated time].
_LONGEST_BRAKING = 5_000_000_000


class LockstepClock(Clock):
    """Takes a step when the present state is answered: nothing depends on the wall clock.

    Without an answer for long, the arm brakes to rest at once and waits there.
    """

    def __init__(self, *args: Any, timeout: float, **kwargs: Any):
        """`timeout`: how long an answer is waited for [s of the wall clock]; see `Clock`."""
        super().__init__(*args, **kwargs)
        self._timeout = timeout

    def accepts(self, stamp_ns: int) -> bool:
        """Whether the command answers the present state."""
        return stamp_ns == self.simulation.time_ns

    def take(self, stamp_ns: int, command: Array) -> None:
        """Step with the command; while paused, keep it for the next step."""
        super().take(stamp_ns, command)
        self.go_on()

    def go_on(self) -> bool:
        """Step if there is a command and time runs; return whether it did."""
        command = self._command
        if command is None or not self._may_step:
            return False
        self._command = None
        self._step(command)
        return True

    def release(self) -> None:
        """Brake to rest; simulated time goes on meanwhile, unless it is paused."""
        super().release()
        simulation = self.simulation
        end = simulation.time_ns + _LONGEST_BRAKING
        while self._command is None and not self.paused and not self.fault:
            if simulation.at_rest or simulation.time_ns >= end:
                break
            self._step(None)

    def pause(self, paused: bool) -> None:
        """Stop time, or let it go on with the command at hand."""
        super().pause(paused)
        self.go_on()

    def allow_step(self) -> None:
        """Take one more step: now, or when a command comes."""
        super().allow_step()
        self.go_on()

    def tick(self) -> None:
        """Show a state again that nobody answers; in the end, brake."""
        commanded = not (self.paused or self.fault or self.simulation.braking)
        if commanded and self._silence > self._timeout:
            self._lose(self._silence)
        else:
            super().tick()
