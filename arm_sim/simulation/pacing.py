"""Pacing: when a clock steps, and what the stamp of a command means."""

from arm_sim.simulation.resend_timeout import RESEND_PERIOD

TOO_SLOW_HELP = (
    'mode:=lockstep, or a smaller real_time_factor or a longer timestep in config:=FILE, helps'
)


class Pacing:
    """Policy of one clock: it is called at each event, and lets the clock step when it is time.

    Attributes:
        factor: simulated time per wall time, where the clock follows the wall.
        tick_period: period at which `tick` is called [s].
        holds: whether a command holds until the next one. Then stamps are not read, and a command
            source may be silent.
        further_names: names in a state besides the joints, with zeros.
        late, skipped: delayed ticks of real time, and periods that real time has skipped.
        oldest_command_ns: largest age of a command in use [ns]; the reader resets the value.
    """

    factor = 1.0
    tick_period = RESEND_PERIOD
    holds = False
    further_names: tuple[str, ...] = ()
    late = skipped = oldest_command_ns = 0

    def set_timing(self, timeout: float, factor: float = 1.0, wait: float = 0.0) -> None:
        """Go on with another timeout [s], factor (simulated time per wall time) and wait [s]."""
        raise NotImplementedError

    def state_ns(self, stamp_ns: int) -> int:
        """Return the stamp of the state that a command with this stamp answers [ns]."""
        raise NotImplementedError

    def accepts(self, state_ns: int, newest_ns: int | None = None) -> bool:
        """Whether an answer to the state of that stamp is neither too old nor too early.

        `newest_ns`: stamp that the controller answered last; None: that of the command in use.
        """
        raise NotImplementedError

    def tick(self) -> None:
        """Do what is due now; called every `tick_period` [s]."""
        raise NotImplementedError

    def taken(self) -> None:
        """Note that the clock has a new command."""

    def written(self) -> None:
        """Note that a message with a command, used or not, has been dealt with."""

    def answered_again(self) -> None:
        """Note a second answer to the state that was answered last."""

    def go_on(self) -> bool:
        """Step unless a command, or permission to step, is missing; return whether it stepped."""
        return False

    def shown(self) -> None:
        """Note that a new state has been shown."""

    def stopped(self) -> None:
        """Note that the brake has taken the arm: no controller commands it any more."""

    def claim_ended(self) -> None:
        """Note that a controller has released its joints while others go on."""

    def reset(self, time: bool) -> None:
        """Note a reset of the state, of time, or of both, before the new state is shown."""

    def remark(self) -> str:
        """Return a remark for warnings where a slow machine may be the cause."""
        return ''

    @property
    def counts(self) -> dict[str, int]:
        """Further numbers for diagnostics, by name."""
        return {}
