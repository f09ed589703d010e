"""What the simulator says about itself on /diagnostics, once a second."""

import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from arm_dynamics.errors import ArmError
from arm_sim.plants.simulation import Simulation


class SimulatorDiagnostics:
    """Counts what goes wrong, and tells it in words that a person can act on.

    Attributes:
        stale: commands that came too late to be used.
        late, skipped: ticks of real time that were late, and periods that were given up.
        oldest_command_ns: largest age of a command in use since the last report [ns].
        rival: a controller that commands while another is heeded; '' since the last report.
    """

    def __init__(self, node: Node, simulation: Simulation, mode: str, engine: str):
        """Open the publisher; `mode` and `engine` are passed on."""
        self._node, self._simulation = node, simulation
        self._fixed = {'mode': mode, 'engine': engine}
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self.stale = self.late = self.skipped = self.oldest_command_ns = 0
        self.rival = ''
        self._refused = self._seen_stale = self._seen_refused = 0
        self._last_refusal = ''
        self._last_report = (time.monotonic(), 0)

    def refuse(self, error: ArmError) -> None:
        """Count an input that was refused."""
        self._refused += 1
        self._last_refusal = str(error)

    def report(self, fault: str, paused: bool, commander: str) -> None:
        """Publish how things are.

        Args:
            fault: why physics has stopped, or ''.
            paused: whether time stands still.
            commander: the controller that is heeded.
        """
        level, words = self._state(fault, paused, commander)
        values = self._fixed | self._numbers()
        self.oldest_command_ns = 0
        self.rival = ''
        self._seen_stale, self._seen_refused = self.stale, self._refused
        status = DiagnosticStatus(level=level, name=self._node.get_name(), message=words)
        status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def _state(self, fault: str, paused: bool, commander: str) -> tuple[bytes, str]:
        simulation = self._simulation
        ok, warn = DiagnosticStatus.OK, DiagnosticStatus.WARN
        if fault:
            return DiagnosticStatus.ERROR, fault
        if paused:
            return ok, 'paused'
        if simulation.braking and simulation.steps:
            return warn, 'no command: the arm is braked and held'
        if simulation.braking:
            return ok, 'held: waiting for the first command'
        if self.rival:
            return warn, f'two controllers command: {commander!r} is heeded, {self.rival!r} is not'
        if self._refused > self._seen_refused:
            return warn, f'running; refused: {self._last_refusal}'
        if self.stale > self._seen_stale:
            return (
                warn,
                f'running; {self.stale - self._seen_stale} commands came too late to be used',
            )
        return ok, 'running'

    def _numbers(self) -> dict[str, str]:
        simulation = self._simulation
        now = time.monotonic()
        wall, steps = self._last_report
        rate = max((simulation.steps - steps) / (now - wall), 0.0)
        self._last_report = (now, simulation.steps)
        return {
            'simulated time [s]': f'{simulation.time_ns * 1e-9:.3f}',
            'cycles per second': f'{rate:.1f}',
            'real time factor': f'{rate * simulation.period_ns * 1e-9:.3f}',
            'late ticks': str(self.late),
            'skipped periods': str(self.skipped),
            'oldest command [ms]': f'{self.oldest_command_ns * 1e-6:.1f}',
            'stale commands': str(self.stale),
            'refused inputs': str(self._refused),
            'saturated samples': str(simulation.saturated_samples),
        }
