"""The status of the simulator on /diagnostics, once per second."""

import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from arm_controllers.ros.diagnostics import status_publisher
from arm_controllers.ros.log import Log, shortened
from arm_controllers.ros.running import now_and_then
from arm_dynamics.checks import ArmError
from arm_sim.ros.command_input import CommandInput
from arm_sim.ros.state_output import StateOutput
from arm_sim.simulation.clock import Clock
from arm_sim.simulation.pacing import TOO_SLOW_HELP

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
        self._slow = Log(node, 1.0 / 30.0)  # a machine may be busy for long
        self._refused = self._seen_stale = self._seen_refused = self._seen_skipped = 0
        self._behind = ''
        self._last_refusal = ''
        self._last_report = (time.monotonic(), 0)
        now_and_then(node, 1.0, self._report)

    def refuse(self, error: ArmError) -> None:
        """Count and log a refused input."""
        self._refused += 1
        self._last_refusal = shortened(str(error))
        self._log.warning(self._last_refusal)

    def _report(self) -> None:
        before, self._behind = self._behind, self._look_behind()
        if self._behind and not before:
            self._slow.warning(self._behind)
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
        if clock.readers.lag and clock.simulation.steps == self._last_report[1]:
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
        stale = commands.stale - self._seen_stale
        if stale:
            return _WARN, f'running; {stale} commands came too late to be used'
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
        self._seen_skipped = clock.pacing.skipped
        wall, steps = self._last_report
        made = max(clock.simulation.steps - steps, 0)
        due = skipped + made
        if skipped < max(0.1 * due, 1) or clock.simulation.braking:
            return ''
        rate = made / (time.monotonic() - wall)
        return (
            f'the machine misses {skipped / due:.0%} of real time and carries {rate:.0f} control '
            f'periods of {clock.simulation.period_ns * 1e-6:g} ms per second: {TOO_SLOW_HELP}'
        )

    def _numbers(self) -> dict[str, Any]:
        simulation, pacing = self._clock.simulation, self._clock.pacing
        now = time.monotonic()
        wall, steps = self._last_report
        rate = max((simulation.steps - steps) / (now - wall), 0.0)
        self._last_report = (now, simulation.steps)
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
            'saturated samples': simulation.saturation.samples,
            'overspeed samples': simulation.guard.samples,
            **pacing.counts,
        }
