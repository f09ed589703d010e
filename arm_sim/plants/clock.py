"""When the simulated arm takes a step: what lock-step and real time have in common."""

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from arm_dynamics.errors import ArmError
from arm_sim.plants.simulation import Array, Simulation

# A state that nobody answers is shown again so often [s].
RESEND_PERIOD = 0.1


class Audience(Protocol):
    """What a clock tells of its steps; the simulator's StateOutput listens."""

    show: Callable[[], None]  # a new state
    show_again: Callable[[], None]  # the same, which nobody has answered
    warn: Callable[[str], Any]  # the commander is lost
    fail: Callable[[str], Any]  # physics has stopped


class OwnCommander(Protocol):
    """Commands the arm while no controller does: OwnGoals of an engine that moves by itself."""

    in_charge: bool
    command: Callable[[int, Array, Array], Array]  # that answers a state: time [ns], q, v
    take_over: Callable[[], None]  # from the next state on


class Clock:
    """Steps a simulation with the command at hand; brakes and holds the arm where there is none.

    Attributes:
        simulation: what it steps.
        paused: whether it steps only where `allow_step` lets it.
        fault: why physics has stopped until `reset`, or ''.
        late, skipped: real time's ticks that came late, and periods that it gave up.
        oldest_command_ns: largest age of a command in use [ns]; the reader sets it back.
    """

    tick_period = RESEND_PERIOD

    def __init__(
        self,
        simulation: Simulation,
        audience: Audience,
        paused: bool = False,
        own: OwnCommander | None = None,
        wall: Callable[[], float] = time.monotonic,
    ):
        """`own` commands where no controller does; `wall` is the wall clock [s]."""
        self.simulation, self.paused, self.fault = simulation, paused, ''
        self.late = self.skipped = self.oldest_command_ns = 0
        self._audience, self._own, self._wall = audience, own, wall
        self._held = np.zeros(len(simulation.plant.joint_names))
        self._command: Array | None = None
        self._command_ns = 0
        self._steps_allowed = 0
        self._shown_at = self._wall()

    def accepts(self, stamp_ns: int) -> bool:
        """Whether a command with this stamp is neither too old nor too early."""
        raise NotImplementedError

    def take(self, stamp_ns: int, command: Array) -> None:
        """Use a command (n,) that answers the state of that stamp."""
        self._hold(stamp_ns, command)

    def _hold(self, stamp_ns: int, command: Array) -> None:
        self._command, self._command_ns = self._held, stamp_ns
        self._held[:] = command

    def forget(self) -> None:
        """Forget the command at hand: another commander has come."""
        self._command = None

    def release(self) -> None:
        """Brake, then hold: nobody commands; or let the own commander take over."""
        self.simulation.brake()
        self._command = None
        if self._own is not None:
            self._own.take_over()
            self.show()

    def reset(self) -> None:
        """Go back to the initial state at time zero."""
        self.simulation.reset()
        self._command, self._command_ns, self.fault = None, 0, ''
        self.show()

    def pause(self, paused: bool) -> None:
        """Stop time, or let it go on."""
        self.paused, self._steps_allowed = paused, 0

    def allow_step(self) -> None:
        """Let a paused clock take one more step."""
        self._steps_allowed += 1

    def tick(self) -> None:
        """Do what time asks for; to be called every `tick_period` [s]."""
        if not self.fault and self._silence >= RESEND_PERIOD:
            self._audience.show_again()

    def show(self) -> None:
        """Show the present state; an own commander in charge answers it at once."""
        self._shown_at = self._wall()
        self._audience.show()
        own, plant = self._own, self.simulation.plant
        if own is not None and own.in_charge:
            time_ns = self.simulation.time_ns
            self._hold(time_ns, own.command(time_ns, plant.q.copy(), plant.v.copy()))

    @property
    def _silence(self) -> float:
        """Time since the last new state [s]."""
        return self._wall() - self._shown_at

    @property
    def _may_step(self) -> bool:
        return not self.fault and (not self.paused or self._steps_allowed > 0)

    def _step(self, command: Array | None) -> None:
        """Go on by one control period and show the new state."""
        self._steps_allowed -= self.paused
        try:
            self.simulation.advance(command)
        except ArmError as error:
            self.fault = str(error)
            self._audience.fail(self.fault)
        else:
            self.show()

    def _lose(self, silence: float) -> None:
        """Give up a commander after this silence [s]."""
        t = self.simulation.time_ns * 1e-9
        self._audience.warn(
            f'no command for {silence:.3g} s (t = {t:.3f} s): '
            'braking to rest; a controller that returns takes over from there'
        )
        self.release()
