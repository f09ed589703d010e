"""Base of the clocks that decide when the simulated arm steps: lock-step and real time."""

import time
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from arm_dynamics.checks import ArmError
from arm_sim.simulation.claims import Claim, Claims
from arm_sim.simulation.resend_timeout import RESEND_PERIOD
from arm_sim.simulation.simulation import Array, Simulation

# A clock whose `tick` comes later than this was stopped itself [s].
_STOPPED = 0.5


class Clock:
    """Steps a simulation with the newest command; brakes and holds the arm where there is none.

    Attributes:
        simulation: the arm that the clock steps.
        claims: the controllers that command its joints.
        paused: whether the clock steps only as far as it is allowed to.
        fault: why physics has stopped until `reset`, or ''.
        late, skipped: delayed ticks of real time, and periods that real time has skipped.
        oldest_command_ns: largest age of a command in use [ns]; the reader resets the value.
        awaited: controllers without whose claims the first step is not taken.
        wake: called with the period of the next ticks [s]; the caller of `tick` may set it.
    """

    tick_period = RESEND_PERIOD
    awaited: Collection[str] = ()

    def __init__(
        self,
        simulation: Simulation,
        output: Any,
        paused: bool = False,
        own: Any = None,
        wall: Callable[[], float] = time.monotonic,
    ):
        """Take the arm, its subscribers, and the wall clock [s].

        `output`, as StateOutput, has `show` for a new state, `show_again` for a state that no
        controller has answered, `warn` for a lost controller, and `fail` for failed physics.
        `own`, as OwnGoals, commands the arm while no controller does.
        """
        self.simulation, self.paused, self.fault = simulation, paused, ''
        self.claims = Claims(simulation.plant.joint_names, wall)
        self.late = self.skipped = self.oldest_command_ns = 0
        self._output, self._own, self._wall = output, own, wall
        self.wake: Callable[[float], Any] = lambda period: None
        self._n = len(simulation.plant.joint_names)
        self._held = np.zeros(self._n)
        self._command: Array | None = None
        self._command_ns = self._steps_allowed = 0
        self._shown_at = self._ticked_at = self._wall()

    def accepts(self, stamp_ns: int, newest_ns: int | None = None) -> bool:
        """Whether a command with this stamp is neither too old nor too early.

        `newest_ns`: stamp that the controller answered last; None: that of the command in use.
        """
        raise NotImplementedError

    def take_from(self, claim: Claim, stamp_ns: int, command: Array) -> None:
        """Use a controller's command (k,) for its joints, by its claim.

        In lock-step the arm steps when every controller has answered the present state.
        """
        merged = self.claims.merged(claim, stamp_ns, command)
        if len(claim.joints) == self._n:
            self.simulation.unclaimed = None
            self.take(stamp_ns, merged)
            return
        self.simulation.unclaimed = self.claims.unclaimed
        oldest_ns = self.claims.oldest_ns
        if len(self.claims) == 1 or self.accepts(oldest_ns, -1):
            self.take(oldest_ns, merged)

    def take(self, stamp_ns: int, command: Array) -> None:
        """Use a command (n,) that answers the state of that stamp."""
        self._hold(stamp_ns, command)
        self.go_on()

    def written(self) -> None:
        """Note that a message with a command, used or not, has been dealt with."""

    def answered_again(self) -> None:
        """Note a second answer to the state that was answered last."""

    def go_on(self) -> bool:
        """Step unless a command, or permission to step, is missing; return whether it stepped."""
        return False

    def _hold(self, stamp_ns: int, command: Array) -> None:
        self._command, self._command_ns = self._held, stamp_ns
        self._held[:] = command

    def yield_to(self, source: str) -> None:
        """End the simulator's own goals, if there are any: a controller commands the arm."""
        if self._own is not None and self._own.in_charge:
            self._own.give_up(source)
            self._command = None

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

    def _stop(self) -> None:
        self.simulation.brake()
        self._command = None
        if self._own is not None:
            self._own.take_over()
            self.show()

    def reset(self, time: bool = True, state: bool = True) -> None:
        """Go back to time zero, to the initial state, or to both; a paused clock waits there.

        The claims stay, so that no other controller can take the arm by a reset.

        Raises:
            ArmError: time alone, while physics has stopped.
        """
        if self.fault and not state:
            raise ArmError(f'{self.fault}; reset the state too')
        self.simulation.reset(time, state)
        self._command, self._steps_allowed = None, 0
        if time:
            self.claims.restart()
            self._command_ns = 0
        if state:
            self.fault = ''
            if not time and self._own is not None and self._own.in_charge:
                self._own.take_over()
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
        """Whether time is paused, or has reached the permitted stamp."""
        return self.paused and not self._steps_allowed

    @property
    def counts(self) -> dict[str, int]:
        """Further numbers for diagnostics, by name."""
        return {}

    @property
    def recorded_ns(self) -> int | None:
        """The stamp that recorder and cameras have reached [ns]; None: nothing delays time."""
        return None

    @property
    def waits_for_recorder(self) -> bool:
        """Whether time waits for a recorder or a camera that lags behind."""
        return False

    def tick(self) -> None:
        """Do what is due now; the caller calls it every `tick_period` [s]."""
        self._forgive_own_stop()
        now = self._wall()
        if not self.fault and now - self._shown_at >= RESEND_PERIOD:
            self._output.show_again()
            self._shown_at = now

    def _forgive_own_stop(self) -> None:
        """Count no time in which this process did not run: no controller was silent then."""
        now = self._wall()
        stopped = now - self._ticked_at - self.tick_period
        if stopped > _STOPPED:
            self._shown_at += stopped
        self._ticked_at = now

    def show(self) -> None:
        """Publish the present state; the simulator's own goals answer at once."""
        self._shown_at = self._wall()
        self._output.show()
        own, plant = self._own, self.simulation.plant
        if own is not None and own.in_charge:
            self._command_ns = self.simulation.time_ns
            self._command = own.command(self._command_ns, plant.q.copy(), plant.v.copy())

    def check_rest(self) -> None:
        """Raise ArmError while the arm moves and time runs: objects cannot change then."""
        if not (self.waits or self.simulation.can_be_claimed()):
            raise ArmError('the arm moves: pause the simulator, or wait until the arm is at rest')

    def show_objects(self) -> None:
        """Publish the objects of the present state, which were moved."""
        self._output.show_objects()

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
            self._output.fail(self.fault)
        else:
            self.show()
            if self.simulation.notice:
                self._output.warn(f'{self.simulation.notice}{self._too_slow()}')
                self.simulation.notice = ''

    def _too_slow(self) -> str:
        """Return a remark for warnings where a slow machine may be the cause."""
        return ''

    def _lose(self, silence: float) -> None:
        """Brake: no command has come for this time [s]."""
        t = self.simulation.time_ns * 1e-9
        self._output.warn(
            f'no command for {silence:.3g} s (t = {t:.3f} s): '
            'braking to rest; a controller that returns takes over from there'
        )
        self.claims.expire()
        self._stop()
