"""The clock of the simulated arm: steps it when its pacing says so."""

import time
from collections.abc import Callable, Collection
from typing import Protocol

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_sim.simulation.claims import Claim, Claims
from arm_sim.simulation.pacing import Pacing
from arm_sim.simulation.readers import Readers
from arm_sim.simulation.simulation import Simulation


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


# A clock whose `tick` comes later than this was stopped itself [s].
_STOPPED = 0.5
_LOST = 'braking to rest; a controller that returns takes over from there'


class Clock:
    """Steps a simulation with the newest command; brakes and holds the arm where there is none.

    Attributes:
        simulation: the arm that the clock steps.
        output: what shows its states.
        pacing: decides when the clock steps, and what the stamp of a command means.
        own: what commands the arm while no controller does; None: the brake.
        claims: the controllers that command its joints.
        awaited: controllers without whose claims the first step is not taken.
        readers: recorder and cameras that time waits for.
        paused, steps_allowed: whether the clock steps only as far as it may, and how far that is.
        fault: why physics has stopped until `reset`, or ''.
        command, command_ns: newest command (n,), if there is one, and stamp of its state [ns].
        shown_at, sent_at: when the present state was shown first and last [s of the wall clock].
        lost: how often the arm has braked for want of a command.
        wall: the wall clock [s].
        wake: called with the period of the next ticks [s]; the caller of `tick` may set it.
    """

    def __init__(
        self,
        simulation: Simulation,
        output: Output,
        pacing: Callable[['Clock'], Pacing],
        own: OwnCommands | None = None,
        paused: bool = False,
        awaited: Collection[str] = (),
        wall: Callable[[], float] = time.monotonic,
    ):
        """Take the arm; `pacing` makes the pacing of this clock."""
        self.simulation, self.output, self.own, self.wall = simulation, output, own, wall
        self.paused, self.fault = paused, ''
        self.awaited = set(awaited)
        self.claims = Claims(simulation.plant.joint_names, wall)
        self.readers = Readers(simulation, output.warn, self.go_on, wall)
        self.wake: Callable[[float], object] = lambda period: None
        self._held = np.zeros(len(simulation.plant.joint_names))
        self.command: Array | None = None
        self.command_ns = self.steps_allowed = self.lost = 0
        self.shown_at = self.sent_at = self._ticked_at = wall()
        self.pacing = pacing(self)

    def take_from(self, claim: Claim, state_ns: int, command: Array) -> None:
        """Use a controller's command (k,) for its joints, by its claim.

        In lock-step the arm steps when every controller has answered the present state.
        """
        if self.awaited:
            self.awaited.discard(claim.source)
        merged = self.claims.merged(claim, state_ns, command)
        if len(claim.joints) == len(self._held):
            self.simulation.unclaimed = None
            self.take(state_ns, merged)
            return
        self.simulation.unclaimed = self.claims.unclaimed
        oldest_ns = self.claims.oldest_ns
        if len(self.claims) == 1 or self.pacing.accepts(oldest_ns, -1):
            self.take(oldest_ns, merged)

    def take(self, state_ns: int, command: Array) -> None:
        """Use a command (n,) that answers the state of that stamp."""
        self.command, self.command_ns = self._held, state_ns
        self._held[:] = command
        self.pacing.taken()

    def yield_to(self, source: str) -> None:
        """End the simulator's own goals, if there are any: a controller commands the arm."""
        if self.own is not None and self.own.in_charge:
            self.own.give_up(source)
            self.command = None

    def release(self) -> None:
        """End all claims and brake, then hold; or let the simulator's own goals take over."""
        self.claims.clear()
        self._stop()

    def release_one(self, claim: Claim) -> None:
        """End a claim: its joints are braked and held, those of other controllers go on."""
        self.claims.release(claim.source)
        if not self.claims:
            self.release()
            return
        self.simulation.brake_joints(claim.joints)
        self.simulation.unclaimed = self.claims.unclaimed
        self.pacing.claim_ended()

    def lose(self, silence: float, waited: float = 0.0) -> None:
        """Brake: no command has come for a time [s], and then `waited` [s of the wall clock]."""
        t, oldest_ns = self.simulation.time_ns * 1e-9, self.claims.oldest_ns
        late = [repr(each.source) for each in self.claims if each.newest_ns == oldest_ns]
        who = ' from ' + ', '.join(late) if late else ''
        wait = f', nor while time stood still for {waited:.3g} s' if waited else ''
        self.output.warn(f'no command for {silence:.3g} s (t = {t:.3f} s){who}{wait}: {_LOST}')
        self.lost += 1
        self.claims.expire()
        self._stop()

    def _stop(self) -> None:
        self.simulation.brake()
        self.command = None
        if self.own is not None:
            self.own.take_over()
            self.show()
        self.pacing.stopped()

    def reset(self, time: bool = True, state: bool = True) -> None:
        """Go back to time zero, to the initial state, or to both; a paused clock waits there.

        The claims stay, so that no other controller can take the arm by a reset.

        Raises:
            ArmError: time alone, while physics has stopped.
        """
        if self.fault and not state:
            raise ArmError(f'{self.fault}; reset the state too')
        before_ns = self.simulation.time_ns
        self.simulation.reset(time, state)
        self.command, self.steps_allowed = None, 0
        if time:
            self.claims.restart(before_ns)
            self.readers.restart()
            self.command_ns = 0
        if state:
            self.fault = ''
            if not time and self.own is not None and self.own.in_charge:
                self.own.take_over()
        self.pacing.reset(time)
        self.show()

    def pause(self, paused: bool) -> None:
        """Stop time, or let it go on."""
        self.paused, self.steps_allowed = paused, 0
        self.go_on()

    def allow_step(self) -> None:
        """Let a paused clock take one more step."""
        self.steps_allowed += 1
        self.go_on()

    def allow_until(self, time_ns: int) -> None:
        """Let a paused clock go on to this simulated time [ns], where it waits again."""
        ahead_ns = time_ns - self.simulation.time_ns
        self.steps_allowed = max(0, ahead_ns // self.simulation.period_ns)
        self.go_on()

    @property
    def waits(self) -> bool:
        """Whether time is paused, or has reached the permitted stamp."""
        return self.paused and not self.steps_allowed

    @property
    def may_step(self) -> bool:
        """Whether nothing but a command may be missing for the next step."""
        if self.fault or self.awaited or (self.paused and not self.steps_allowed):
            return False
        return not (self.readers.reached and self.readers.lag)

    def go_on(self) -> bool:
        """Step unless a command, or permission to step, is missing; return whether it stepped."""
        return self.pacing.go_on()

    def tick(self) -> None:
        """Do what is due now."""
        now = self.wall()
        stopped = now - self._ticked_at - self.pacing.tick_period
        if stopped > _STOPPED:  # no controller was silent while this process did not run
            self.shown_at += stopped
        self._ticked_at = now
        self.readers.forget_gone()
        self.pacing.tick()

    def step(self, command: Array | None) -> None:
        """Go on by one control period, braked without a command, and show the new state."""
        self.steps_allowed -= self.paused
        try:
            self.simulation.advance(command)
        except ArmError as error:
            self.fault = f'{error}{self.pacing.remark()}'
            self.output.fail(self.fault)
        else:
            self.show()
            if self.simulation.guard.notice:
                self.output.warn(f'{self.simulation.guard.notice}{self.pacing.remark()}')
                self.simulation.guard.notice = ''

    def show(self) -> None:
        """Publish the present state; the simulator's own goals answer at once."""
        self.shown_at = self.sent_at = self.wall()
        self.output.show()
        own, plant = self.own, self.simulation.plant
        if own is not None and own.in_charge:
            self.command_ns = self.simulation.time_ns
            self.command = own.command(self.command_ns, plant.q.copy(), plant.v.copy())
        self.pacing.shown()

    def show_again(self) -> None:
        """Publish the present state again."""
        self.output.show_again()
        self.sent_at = self.wall()

    def check_rest(self) -> None:
        """Raise ArmError while the arm moves and time runs: objects cannot change then."""
        if not (self.waits or self.simulation.can_be_claimed()):
            raise ArmError('the arm moves: pause the simulator, or wait until the arm is at rest')
