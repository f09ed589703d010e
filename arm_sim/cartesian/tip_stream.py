"""A stream of commands for a tip: the newest one counts, and one that is too old is a stop."""

from collections.abc import Callable

from arm_sim.cartesian.tip_servo import Step, TipServo

Command = Callable[[TipServo], Step]  # makes one step of a servo


class TipStream:
    """What a tip is asked to do, step by step.

    Attributes:
        servo: makes the steps.
    """

    def __init__(self, servo: TipServo, timeout: float):
        """Brake where no command is younger than `timeout` [s]."""
        self.servo, self._timeout_ns = servo, round(timeout * 1e9)
        self._command: Command | None = None
        self._taken_ns = 0

    def take(self, command: Command, time_ns: int) -> None:
        """Take a command that came at a time [ns]."""
        self._command, self._taken_ns = command, time_ns

    def forget(self) -> None:
        """Ask for nothing any more."""
        self._command = None

    def asks(self, time_ns: int) -> bool:
        """Whether there is a command at a time [ns]."""
        return self._command is not None and time_ns - self._taken_ns <= self._timeout_ns

    def step(self, time_ns: int) -> list[Step]:
        """Return the step that begins at a time [ns], and the way to rest after it.

        Empty where the arm is at rest and nothing is asked for.
        """
        if self._command is not None and self.asks(time_ns):
            step = self._command(self.servo)
        elif self.servo.v.any():
            step = self.servo.stop()
        else:
            return []
        return [step, *self.servo.way_to_rest()]
