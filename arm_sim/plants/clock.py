"""What the clocks of a simulated arm share: lock-step with a commander, and real time."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from arm_dynamics.checks import ArmError
from arm_sim.plants.patience import RESEND_PERIOD
from arm_sim.plants.simulation import Array, Simulation

# A clock that is not asked for so much longer than it wanted was stopped itself [s].
_STOPPED = 0.5


class Clock:
    """Steps a simulation with the newest command; brakes and holds the arm where there is none.

    Attributes:
        simulation: what it steps.
        paused: whether it steps only as far as it is allowed to.
        fault: why physics has stopped until `reset`, or ''.
        late, skipped: real time's ticks that came late, and periods that it gave up.
        oldest_command_ns: largest age of a command in use [ns]; the reader sets it back.
        recorded_ns: how far a recorder has come that is waited for [ns]; None: there is none.
        wake: asks for the next ticks so soon and so often [s]; whoever calls `tick` may set it.
    """

    tick_period = RESEND_PERIOD
    recorded_ns: int | None = None

    def __init__(
        self,
        simulation: Simulation,
        audience: Any,
        paused: bool = False,
        own: Any = None,
        wall: Callable[[], float] = time.monotonic,
    ):
        """Take what is moved, who hears of it, and the wall clock [s].

        `audience`, as StateOutput, is asked to `show` a new state, to `show_again` one that nobody
        has answered, to `warn` of a lost commander, and to say why physics `fail`s.
        `own`, as OwnGoals, commands the arm while no controller does.
        """
        self.simulation, self.paused, self.fault = simulation, paused, ''
        self.late = self.skipped = self.oldest_command_ns = 0
        self._audience, self._own, self._wall = audience, own, wall
        self.wake: Callable[[float], Any] = lambda period: None
        self._held = np.zeros(len(simulation.plant.joint_names))
        self._command: Array | None = None
        self._command_ns = self._steps_allowed = 0
        self._shown_at = self._ticked_at = self._wall()

    def accepts(self, stamp_ns: int) -> bool:
        """Whether a command with this stamp is neither too old nor too early."""
        raise NotImplementedError

    def take(self, stamp_ns: int, command: Array) -> None:
        """Use a command (n,) that answers the state of that stamp."""
        self._hold(stamp_ns, command)
        self.go_on()

    def answered_again(self) -> None:
        """Note a second answer to the state that was answered last."""

    def go_on(self) -> bool:
        """Step if nothing else than a command is waited for; return whether it did."""
        return False

    def _hold(self, stamp_ns: int, command: Array) -> None:
        self._command, self._command_ns = self._held, stamp_ns
        self._held[:] = command

    def forget(self) -> None:
        """Forget the newest command: another commander has come."""
        self._command = None

    @property
    def abandoned(self) -> bool:
        """Whether the arm brakes or is held, and no command waits to change that."""
        return self.simulation.braking and self._command is None

    def release(self) -> None:
        """Brake, then hold: nobody commands; or let the own commander take over."""
        self.simulation.brake()
        self._command = None
        if self._own is not None:
            self._own.take_over()
            self.show()

    def reset(self) -> None:
        """Go back to the initial state at time zero; a paused clock waits there."""
        self.simulation.reset()
        self._command, self._command_ns, self.fault, self._steps_allowed = None, 0, '', 0
        self.show()

    def pause(self, paused: bool) -> None:
        """Stop time, or let it go on."""
        self.paused, self._steps_allowed = paused, 0
        self.go_on()

    def allow_step(self) -> None:
        """Let a paused clock take one more step."""
        self._steps_allowed += 1
        self.go_on()

    def allow_until(self, time_ns: int) -> None:
        """Let a paused clock go on to this simulated time [ns], where it waits again."""
        ahead_ns = time_ns - self.simulation.time_ns
        self._steps_allowed = max(0, ahead_ns // self.simulation.period_ns)
        self.go_on()

    @property
    def waits(self) -> bool:
        """Whether time stands because it is paused, or has come as far as is allowed."""
        return self.paused and not self._steps_allowed

    @property
    def waits_for_recorder(self) -> bool:
        """Whether time stands until a recorder has come closer."""
        return False

    def tick(self) -> None:
        """Do what time asks for; to be called every `tick_period` [s]."""
        self._forgive_own_stop()
        now = self._wall()
        if not self.fault and now - self._shown_at >= RESEND_PERIOD:
            self._audience.show_again()
            self._shown_at = now

    def _forgive_own_stop(self) -> None:
        """Count no time in which this process did not run: nobody else was silent then."""
        now = self._wall()
        stopped = now - self._ticked_at - self.tick_period
        if stopped > _STOPPED:
            self._shown_at += stopped
        self._ticked_at = now

    def show(self) -> None:
        """Show the present state; an own commander in charge answers it at once."""
        self._shown_at = self._wall()
        self._audience.show()
        own, plant = self._own, self.simulation.plant
        if own is not None and own.in_charge:
            self._command_ns = self.simulation.time_ns
            self._command = own.command(self._command_ns, plant.q.copy(), plant.v.copy())

    @property
    def _may_step(self) -> bool:
        return not (self.fault or self.waits)

    def _step(self, command: Array | None) -> None:
        """Go on by one control period and show the new state."""
        self._steps_allowed -= self.paused
        try:
            self.simulation.advance(command)
        except ArmError as error:
            self.fault = f'{error}{self._too_slow()}'
            self._audience.fail(self.fault)
        else:
            self.show()
            if self.simulation.notice:
                self._audience.warn(f'{self.simulation.notice}{self._too_slow()}')
                self.simulation.notice = ''

    def _too_slow(self) -> str:
        """Return what to add to bad news where the machine may be the reason."""
        return ''

    def _lose(self, silence: float) -> None:
        """Give up a commander after this silence [s]."""
        t = self.simulation.time_ns * 1e-9
        self._audience.warn(
            f'no command for {silence:.3g} s (t = {t:.3f} s): '
            'braking to rest; a controller that returns takes over from there'
        )
        self.release()
