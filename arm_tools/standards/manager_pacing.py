"""Lock-step with a controller_manager of ros2_control, by the messages that it sends anyway."""

from enum import Enum, auto

from arm_sim.pacings.lockstep import brake_to_rest, take_if_all_have_answered
from arm_sim.simulation.clock import Clock
from arm_sim.simulation.pacing import Pacing
from arm_sim.simulation.resend_timeout import RESEND_PERIOD

# Name in the states whose command no controller claims; `with_hardware` says what for.
UNCLAIMED = 'unclaimed'
# An answer of which one half is missing counts as complete after this time [s of the wall clock].
GRACE = 0.1
# Why a cycle is not proven.
_NO_PROOF = 'no message of joint_state_broadcaster'
_EARLIER = 'the hardware component read an earlier state'
_COMMANDS = 'not one command of the hardware component'
# A state has this time before its /clock; after an earlier state was read, twice as long [s].
_GAP, _LONGEST_GAP = 2e-5, 1e-3


class State(Enum):
    """What the pacing waits for."""

    NO_MANAGER = auto()  # time follows the wall clock until the broadcaster sends
    LATE_MESSAGES = auto()  # those of the cycle before may still come: GRACE ends the cycle
    COMMAND = auto()  # of the update at the present state
    PROOF = auto()  # the arm has stepped; the broadcaster has not sent what was read


class ManagerPacing(Pacing):
    """Steps with the command of the manager's update at the time of the present state.

    The output shows state k, and then /clock, which starts an update of the manager. The manager
    reads the state, runs its controllers, and writes a command. Two messages prove the cycle:

    1. The hardware component sends a command in `write`: the arm steps, and state k + 1 is shown.
    2. joint_state_broadcaster sends what was read, with the stamp of the update. Then the /clock
       of state k + 1 follows, which the component has by then.

    A cycle is proven by the numbers of state k and one command. Each other cycle is counted and
    reported, and the run goes on with the newest command: an earlier state was read, a message is
    missing, or there are two commands. An update cannot be repeated: its controllers have gone on.

    Until the broadcaster sends, and after the end of the manager, time follows the wall clock.

    Attributes:
        timeout: maximum time without an answer [s of the wall clock].
        state: what the pacing waits for.
        cycles: number of cycles in lock-step.
        unproven: number of those without a proof, by reason.
        before: the bytes of positions, velocities and efforts of the state before the present one.
    """

    tick_period = 0.01
    holds = True
    further_names = (UNCLAIMED,)

    def __init__(self, clock: Clock, timeout: float):
        """Pace this clock; `timeout`: maximum time without an answer [s of the wall clock]."""
        self._clock, self._output, self.timeout = clock, clock.output, timeout
        self.state = State.NO_MANAGER
        self.cycles = 0
        self.unproven = dict.fromkeys((_NO_PROOF, _EARLIER, _COMMANDS), 0)
        self.before: list[bytes] = []
        self._present: list[bytes] = []
        self._gap = _GAP
        self._begin_cycle()

    def _begin_cycle(self) -> None:
        self._update_ns = self._clock.simulation.time_ns
        self._was_read: bool | None = None  # None: the broadcaster has not sent yet
        self._written = 0
        self._heard_at = float('inf')  # when the newest half of the answer came

    def set_timing(self, timeout: float, factor: float = 1.0, wait: float = 0.0) -> None:
        """Go on with another timeout; the factor has no effect."""
        self.timeout = timeout

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of cycles, for diagnostics."""
        total = {'lock-step cycles': self.cycles, 'unproven cycles': sum(self.unproven.values())}
        return total | {f'unproven: {why}': count for why, count in self.unproven.items()}

    def state_ns(self, stamp_ns: int) -> int:
        """Return the stamp of the present: a command holds until the next one."""
        return self._clock.simulation.time_ns

    def accepts(self, state_ns: int, newest_ns: int | None = None) -> bool:
        """Whether the command answers the present state."""
        return state_ns == self._clock.simulation.time_ns

    # Messages of the manager

    def read(self, stamp_ns: int, read: list[bytes]) -> None:
        """Note what the broadcaster sends: the time of an update, and the state that was read."""
        if self.state is State.NO_MANAGER:
            self.state = State.LATE_MESSAGES
            self._begin_cycle()
            self._heard_at = self._clock.wall()  # this state may have been answered already
            self._output.show_again()
            self._output.note('lock-step with the controller_manager')
        if stamp_ns == self._update_ns and self._was_read is None:
            stepped = self.state is State.PROOF
            self._was_read = read == (self.before if stepped else self._present)
            self._heard_at = self._clock.wall()
            self.go_on()

    def written(self) -> None:
        """Note a message of the hardware component, whose command is in use now."""
        self._written += 1
        self._heard_at = self._clock.wall()
        self.go_on()

    def go_on(self) -> bool:
        """Step once the command is there; end the cycle once both halves of the answer are."""
        stepped = self.state is State.COMMAND and self._written > 0 and self._clock.may_step
        if stepped:
            self._step_ahead()
        if self.state is State.PROOF and self._was_read is not None:
            self._end_cycle()
        return stepped

    def _step_ahead(self) -> None:
        """Step and show the next state, without its /clock."""
        self.state = State.PROOF
        self._output.holds_clock = True
        self._clock.step(self._clock.command)

    def _end_cycle(self) -> None:
        """Count the cycle and start the manager's next update."""
        why = self._why_unproven()
        if why == _EARLIER:
            self._gap = min(2.0 * self._gap, _LONGEST_GAP)
        self.cycles += 1
        if why and self.cycles > 1:
            self.unproven[why] += 1
            if sum(self.unproven.values()) == 1:
                t = self._update_ns * 1e-9
                self._output.warn(
                    f'cycle {self.cycles} of the lock-step (t = {t:.4f} s) is not proven: {why}; '
                    'from here on this run may differ from the next one '
                    "(/diagnostics counts such cycles as 'unproven cycles')"
                )
        self.state = State.COMMAND if self._written == 1 else State.LATE_MESSAGES
        self._begin_cycle()
        self._output.holds_clock = False
        self._output.show_clock(after=self._gap)

    def _why_unproven(self) -> str:
        """Return why the cycle is not proven, '' where it is."""
        if self._was_read is None:
            return _NO_PROOF
        if not self._was_read:
            return _EARLIER
        return '' if self._written == 1 else _COMMANDS

    # Time

    def shown(self) -> None:
        """Remember the new state, and the one before."""
        self.before, self._present = self._present, self._output.state_bytes

    def tick(self) -> None:
        """Follow the wall clock without a manager; with one, notice what is missing."""
        clock = self._clock
        now, period = clock.wall(), clock.simulation.period_ns * 1e-9
        if self.state is State.NO_MANAGER:
            clock.wake(period)
            if clock.may_step and now - clock.shown_at >= period:
                clock.step(clock.command)
        else:
            clock.wake(self.tick_period)
            self._look_for_manager(now)
        if not clock.fault and now - clock.sent_at >= RESEND_PERIOD:
            clock.show_again()

    def _look_for_manager(self, now: float) -> None:
        """End a cycle whose other half does not come; after the timeout, give up the lock-step."""
        clock = self._clock
        stepped = self.state is State.PROOF
        if not (stepped or clock.may_step):
            return
        if now - self._heard_at > GRACE:
            if not stepped:
                self._step_ahead()
            self._end_cycle()
        elif now - clock.shown_at > self.timeout:
            clock.lose(now - clock.shown_at)

    def stopped(self) -> None:
        """Brake to rest, and follow the wall clock until a manager is there again."""
        self._unlock()
        brake_to_rest(self._clock)

    def claim_ended(self) -> None:
        """Use the commands of the other controllers where all have answered."""
        take_if_all_have_answered(self._clock)

    def reset(self, time: bool) -> None:
        """After a jump of time the manager has to send again before time waits for it."""
        if time:
            self._unlock()

    def _unlock(self) -> None:
        self.state = State.NO_MANAGER
        self._output.holds_clock = False
