"""What a clock is connected to: an output that shows states, own commands of the simulator."""

from collections.abc import Callable
from typing import Protocol

from arm_dynamics.checks import Array


class Output(Protocol):
    """Shows states to controllers, and lines to the user.

    Attributes:
        holds_clock: whether a state is shown without its /clock, which `show_clock` publishes.
    """

    holds_clock: bool

    def show(self) -> None:
        """Show a new state."""

    def show_again(self) -> None:
        """Show the newest state again, which no controller has answered."""

    def show_clock(self, after: float = 0.0) -> None:
        """Publish the time of the newest state, `after` a pause [s] in which readers get it."""

    def show_objects(self) -> None:
        """Show the objects of the newest state, which were moved."""

    @property
    def state_bytes(self) -> list[bytes]:
        """Positions, velocities and efforts of the newest state."""

    def note(self, words: str, /) -> object:
        """Log a line."""

    def warn(self, words: str, /) -> object:
        """Log a warning, as of a lost controller."""

    def fail(self, words: str, /) -> object:
        """Log an error: physics has failed."""


class OwnCommands(Protocol):
    """Commands the arm while no controller does.

    Attributes:
        in_charge: whether it does so now.
    """

    in_charge: bool

    def command(self, time_ns: int, q: Array, v: Array) -> Array:
        """Return the command that answers a state."""

    def begin(self, go_on: Callable[[], bool]) -> None:
        """Let time go on by `go_on`, which says whether the arm has stepped."""

    def give_up(self, source: str) -> None:
        """Leave the arm to a controller."""

    def take_over(self) -> None:
        """Command the arm again from the next state on."""
