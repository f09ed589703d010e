"""The status of the simulator on /diagnostics, once per second."""

import time

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from arm_controllers.ros.diagnostics import status_publisher
from arm_controllers.ros.log import Log, once_a_minute, shortened
from arm_controllers.ros.running import now_and_then
from arm_dynamics.checks import ArmError
from arm_sim.ros.command_input import CommandInput
from arm_sim.ros.state_output import StateOutput
from arm_sim.simulation.clock import Clock
from arm_sim.simulation.pacing import TOO_SLOW_HELP

# A report that comes later than this after the one before was held up [s].
_PERIOD, _STOPPED = 1.0, 3.0
_JUDGED = 0.8  # share of a period in which time ran, at least, where it says what was missed

_OK, _WARN, _ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class SimulatorDiagnostics:
    """Counts refused inputs, and reports the state of the simulator with remedies."""

    def __init__(
        self,
        node: Node,
        clock: Clock,
        shown: StateOutput,
        commands: CommandInput,
        fixed: dict[str, str],
    ):
        """Publish every second; `fixed` are values that do not change."""
        self._clock, self._shown, self._commands, self._fixed = clock, shown, commands, fixed
        self._log, self._publish = Log(node, 1.0), status_publisher(node)
        self._slow = once_a_minute(node)  # a machine may be busy for long
        self._refused = self._seen_stale = self._seen_refused = self._seen_skipped = 0
        self._behind = ''
        self._last_refusal = ''
        self._reported_at, self._steps, self._braked = time.monotonic(), 0, True
        self._made, self._seconds = 0, _PERIOD
        now_and_then(node, _PERIOD, self._report)

    def refuse(self, error: ArmError) -> None:
        """Count and log a refused input."""
        self._refused += 1
        self._last_refusal = shortened(str(error))
        self._log.warning(self._last_refusal)

    def _report(self) -> None:
        now = time.monotonic()
        if now - self._reported_at > _STOPPED:
            self._clock.tick()  # counts the periods that are skipped for it
        steps = self._clock.simulation.steps
        self._made, self._seconds = max(steps - self._steps, 0), now - self._reported_at
        self._reported_at, self._steps = now, steps
        self._behind = self._look_behind()
        if self._behind:
            self._slow(self._behind)
        self._publish(*self._state(), self._fixed | self._numbers())
        self._commands.competing, self._clock.pacing.oldest_command_ns = '', 0
        self._seen_stale, self._seen_refused = self._commands.stale, self._refused

    def _state(self) -> tuple[bytes, str]:
        """Return level and words: first, the reason why the arm does not move."""
        clock, commands = self._clock, self._commands
        if clock.fault:
            return _ERROR, clock.fault
        if commands.rejection:
            return _ERROR, commands.rejection
        if clock.waits:
            return _OK, 'paused'
        if clock.readers.lag and not self._made:
            return _WARN, f'waiting for a recorder or camera that stays at {self._recorded()} s'
        if clock.awaited:
            return _OK, f'held: waiting for {", ".join(sorted(clock.awaited))}'
        if clock.simulation.braking and clock.simulation.steps:
            return _WARN, 'no command: the arm is braked and held'
        if clock.simulation.braking:
            return _OK, 'held: waiting for the first command'
        if commands.competing:
            return _WARN, commands.competing
        if self._refused > self._seen_refused:
            return _WARN, f'running; refused: {self._last_refusal}'
        if stale := commands.stale - self._seen_stale:
            return _WARN, f'running; {stale} command{"s" * (stale > 1)} came too late to be used'
        if self._behind:
            return _WARN, f'running; {self._behind}'
        if self._shown.clocks:
            return _WARN, 'running; another node publishes /clock: one arm has clock:=true'
        return _OK, 'running'

    def _recorded(self) -> str:
        recorded = self._clock.readers.reached_ns
        return '-' if recorded is None else f'{recorded * 1e-9:.3f}'

    def _look_behind(self) -> str:
        """Return which share of real time was missed since the last report, if a tenth or more."""
        clock = self._clock
        skipped = clock.pacing.skipped - self._seen_skipped
        self._seen_skipped, due = clock.pacing.skipped, skipped + self._made
        braked, self._braked = self._braked, clock.simulation.braking
        if skipped < max(0.1 * due, 1) or self._braked or braked:  # while others start, too
            return ''
        period = clock.simulation.period_ns * 1e-9
        if due * period < _JUDGED * self._seconds * clock.pacing.factor:  # a pause, or a reset
            return ''
        if self._seconds > _STOPPED:
            return (
                f'the simulator got no CPU time for {self._seconds - _PERIOD:.1f} s, in which '
                'simulated time stood still: the machine was suspended, or busy'
            )
        return (
            f'the machine misses {skipped / due:.0%} of real time and carries '
            f'{self._made / self._seconds:.0f} control periods of '
            f'{period * 1e3:g} ms per second: {TOO_SLOW_HELP}'
        )

    def _numbers(self) -> dict[str, object]:
        simulation, pacing = self._clock.simulation, self._clock.pacing
        rate = self._made / self._seconds
        return {
            'simulated time [s]': f'{simulation.time_ns * 1e-9:.3f}',
            'recorded until [s]': self._recorded(),
            'cycles per second': f'{rate:.1f}',
            'real time factor': f'{rate * simulation.period_ns * 1e-9:.3f}',
            'late ticks': pacing.late,
            'skipped periods': pacing.skipped,
            'oldest command [ms]': f'{pacing.oldest_command_ns * 1e-6:.1f}',
            'active controllers': ', '.join(self._commands.sources),
            'stale commands': self._commands.stale,
            'refused inputs': self._refused,
            'saturated samples': simulation.saturated,
            'brakings without command': self._clock.lost,
            'overspeed samples': simulation.guard.samples,
            **pacing.counts,
        }
