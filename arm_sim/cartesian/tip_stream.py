"""A stream of commands for a tip: the newest command counts until it is too old."""

from collections.abc import Callable

from arm_sim.cartesian.tip_servo import TipReference, TipServo

Command = Callable[[TipServo], TipReference]  # makes one step of a servo


class TipStream:
    """Steps a servo by the newest command of a stream.

    Attributes:
        servo: the servo.
    """

    def __init__(self, servo: TipServo, timeout: float):
        """Brake when the newest command is older than `timeout` [s]."""
        self.servo, self._timeout_ns = servo, round(timeout * 1e9)
        self._command: Command | None = None
        self._taken_ns = 0

    def take(self, command: Command | None, time_ns: int) -> None:
        """Take a command at a time [ns]; None ends the stream."""
        self._command, self._taken_ns = command, time_ns

    def commands(self, time_ns: int) -> bool:
        """Return whether a command counts at a time [ns]."""
        return self._command is not None and time_ns - self._taken_ns <= self._timeout_ns

    def step(self, time_ns: int) -> list[TipReference]:
        """Return the reference after the step that begins at a time [ns], and braking from there.

        Empty where the arm rests and no command counts.
        """
        if self._command is not None and self.commands(time_ns):
            step = self._command(self.servo)
        elif self.servo.v.any():
            step = self.servo.stop()
        else:
            return []
        return [step, *self.servo.way_to_rest()]
