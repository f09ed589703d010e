"""Lock-step with a controller_manager of ros2_control, by the messages that it sends anyway."""

import os
import time
from typing import Any

from arm_dynamics.checks import Array
from arm_sim.simulation.lockstep_clock import LockstepClock
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


class ManagerClock(LockstepClock):
    """Steps with the command of the manager's update at the time of the present state.

    The output shows state k, and then /clock, which starts an update of the manager. The manager
    reads the state, runs its controllers, and writes a command. Two messages prove the cycle:

    1. The hardware component sends a command in `write`: the arm steps, and state k + 1 is shown.
    2. joint_state_broadcaster sends what was read, with the stamp of the update. Then the /clock
       of state k + 1 follows, which the component has by then.

    A cycle is proven by the numbers of state k and one command. Any other cycle is counted and
    reported, and the run goes on with the newest command: an earlier state was read, a message is
    missing, or there are two commands. An update cannot be repeated: its controllers have gone on.

    Until the broadcaster sends, and after the end of the manager, time follows the wall clock.

    Attributes:
        locked: whether the arm waits for the manager.
        cycles: number of cycles in lock-step.
        unproven: number of those without a proof, by reason.
        before: the bytes of positions, velocities and efforts of the state before the present one.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        """Begin with time that follows the wall clock; for the arguments, see `LockstepClock`."""
        super().__init__(*args, **kwargs)
        self.locked = False
        self.cycles = 0
        self.unproven = dict.fromkeys((_NO_PROOF, _EARLIER, _COMMANDS), 0)
        self.before: list[bytes] = []
        self._gap = _GAP
        # After another number of commands than 1 the next cycle waits for one that is late.
        self._doubt = False
        self._begin_cycle()

    def _begin_cycle(self) -> None:
        self._update_ns = self.simulation.time_ns
        self._was_read: bool | None = None  # None: the broadcaster has not sent yet
        self._written, self._stepped = 0, False
        self._heard_at = float('inf')  # when the newest half of the answer came

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of cycles, for diagnostics."""
        total = {'lock-step cycles': self.cycles, 'unproven cycles': sum(self.unproven.values())}
        return total | {f'unproven: {why}': count for why, count in self.unproven.items()}

    def read(self, stamp_ns: int, read: list[bytes]) -> None:
        """Note what the broadcaster sends: the time of an update, and the state that was read."""
        if not self.locked:
            self.locked = True
            self._begin_cycle()
            self._heard_at = self._wall()  # the manager may have answered this state already
            self._doubt = True
            self._output.show_again()
            self._output.note('lock-step with the controller_manager')
        if stamp_ns == self._update_ns and self._was_read is None:
            self._was_read = read == (self.before if self._stepped else self._output.state_bytes)
            self._heard_at = self._wall()
            self.go_on()

    def written(self) -> None:
        """Note a message of the hardware component, whose command is in use now."""
        self._written += 1
        self._heard_at = self._wall()
        self.go_on()

    def go_on(self) -> bool:
        """Step once the command is there; end the cycle once both halves of the answer are."""
        if not (self.locked and self._written) or self._doubt:
            return False
        stepped = not self._stepped and self._may_step
        if stepped:
            self._step_ahead()
        if self._stepped and self._was_read is not None:
            self._end_cycle()
        return stepped

    def _step_ahead(self) -> None:
        """Step and show the next state, without its /clock."""
        self._stepped = self._output.holds_clock = True
        self._step(self._command)

    def _end_cycle(self) -> None:
        """Count the cycle and start the manager's next update."""
        why = ''
        if self._was_read is None:
            why = _NO_PROOF
        elif not self._was_read:
            why = _EARLIER
            self._gap = min(2.0 * self._gap, _LONGEST_GAP)
        elif self._written != 1:
            why = _COMMANDS
        self._doubt = self._written != 1
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
        self._begin_cycle()
        os.sched_yield()  # the manager, on the same CPU core, receives the state
        time.sleep(self._gap)
        self._output.holds_clock = False
        self._output.show_clock()

    def show(self) -> None:
        """Publish the present state, and remember the one before."""
        self.before = self._output.state_bytes
        super().show()

    def tick(self) -> None:
        """Follow the wall clock without a manager; with one, notice what is missing."""
        self._forgive_own_stop()
        self._look_for_readers()
        now = self._wall()
        period = self.simulation.period_ns * 1e-9
        self.wake(self.tick_period if self.locked else period)
        if self.locked and (self._stepped or self._may_step):
            if now - self._heard_at > GRACE:
                if not self._stepped:
                    self._step_ahead()
                self._end_cycle()
            elif now - self._shown_at > self.timeout:
                self._lose(now - self._shown_at)
                self._unlock()
        elif self._may_step and now - self._shown_at >= period:
            self._step(self._command)
        if not self.fault and now - max(self._sent_at, self._shown_at) >= RESEND_PERIOD:
            self._output.show_again()
            self._sent_at = now

    def take(self, stamp_ns: int, command: Array) -> None:
        """Hold a command until the next one; `written` follows."""
        self._hold(stamp_ns, command)

    def _unlock(self) -> None:
        """Follow the wall clock until a manager is there again."""
        self.locked = self._output.holds_clock = False

    def release(self) -> None:
        """End all claims, brake, and follow the wall clock until a manager is there again."""
        self._unlock()
        super().release()

    def reset(self, time: bool = True, state: bool = True) -> None:
        """Go back; after a jump of time the manager has to send again before time waits for it."""
        if time:
            self._unlock()
        super().reset(time, state)
