"""The node between one of our controllers and a robot that another ros2_control runs."""

import time
from dataclasses import fields

import numpy as np
from builtin_interfaces.msg import Duration
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.command_messages import FIELD
from arm_controllers.ros.diagnostics import status_publisher
from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.nodes import Node
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.ros_types import AnyMessage
from arm_controllers.ros.serialized_messages import JointReader, JointStateReader
from arm_controllers.ros.services import serve
from arm_controllers.ros.subscriptions import subscribe_controller_state, subscribe_joint_states
from arm_dynamics.checks import ArmError, Array
from arm_tools.driving.pauses import Pauses
from arm_tools.driving.ros.stop_key import watch_keys
from arm_tools.driving.supervisor import Supervisor
from arm_tools.driving.supervisor_parameters import SupervisorNodeParameters, SupervisorParameters
from arm_tools.driving.supervisor_state import DRIVING, STOPPED, WAITING, SupervisorState

_TICK = 0.01  # period of looking whether states are missing [s]
_USELESS = ' The readings cannot be used: use the brakes of the robot.'
_WORDS = {
    WAITING: 'waiting for rest',
    DRIVING: 'the law commands the robot',
    STOPPED: 'stopped; ~/start begins again',
}


class SupervisorNode(Node):
    """Passes states of the robot to the controller, and supervised commands to the robot."""

    Parameters = SupervisorNodeParameters

    def __init__(self) -> None:
        """Load the model, open the topics."""
        super().__init__('supervisor')
        self.parameters = p = declare_parameters(self, self.Parameters)
        self._log, self._seldom = Log(self), Log(self, 1.0)
        self.model = p.model()
        names = self.model.joint_names
        limits = {each.name: getattr(p, each.name) for each in fields(SupervisorParameters)}
        own = SupervisorParameters(**limits)
        self.supervisor = Supervisor(self.model, own, p.command_interface, p)
        self._states = JointStateReader(names, ('position',))
        self._commands = JointStateReader(names, (FIELD[p.command_interface],))
        self._references = JointReader(names)
        self._own: SupervisorState | None = None
        self._q, self._v = np.zeros(len(names)), np.zeros(len(names))
        self._command = np.full(len(names), np.nan)
        self._reference = np.full(len(names), np.nan)
        self._time_ns, self._gap, self._answered = -1, p.period, True
        self._state_at = self._command_at = self._cycle_at = -np.inf
        self._pauses = Pauses(_TICK, 0.5 * p.state_age_limit, time.monotonic())
        self._may_start, self._stop = p.autostart, False
        self.counts = {'cycles': 0, 'stops': 0, 'limited commands': 0, 'dropped states': 0}
        self._why = ''
        self._to_law = self.create_publisher(JointState, 'joint_states', STATE_QOS)
        kind = Float64MultiArray if p.output == 'commands' else JointTrajectory
        self._to_robot = self.create_publisher(kind, 'robot_commands', 1)
        self._message = self._new_message()
        subscribe_joint_states(self, 'robot_states', self._on_state)
        subscribe_joint_states(self, 'joint_commands', self._on_command)
        subscribe_controller_state(self, p.controller, self._on_reference)
        serve(self, Trigger, '~/stop', lambda *_: self._on_stop('~/stop'))
        serve(self, Trigger, '~/start', lambda *_: self._on_start())
        self._leave_terminal = watch_keys(self, lambda: self._on_stop('a key'))
        self._publish = status_publisher(self)
        self.create_timer(_TICK, self._on_tick)
        self.create_timer(1.0, self._report)
        key = 'any key in this terminal or ' if self._leave_terminal else ''
        self._log.info(f'{key}the service ~/stop stops the robot')

    def destroy_node(self) -> None:
        """Leave the terminal as it was."""
        if self._leave_terminal:
            self._leave_terminal()
        super().destroy_node()

    def _new_message(self) -> AnyMessage:
        if self.parameters.output == 'commands':
            return Float64MultiArray()
        point = JointTrajectoryPoint(time_from_start=Duration())
        set_stamp(point.time_from_start, self.parameters.period_ns)
        return JointTrajectory(joint_names=list(self.model.joint_names), points=[point])

    def _on_state(self, raw: bytes) -> None:
        """Take a state of the robot; velocities that it lacks are differences of positions."""
        reader, now = self._states, time.monotonic()
        self._pauses.wake(now)
        try:
            reader.open(raw)
            time_ns, q = reader.time_ns, reader.values('position').copy()
            gap = 1e-9 * (time_ns - self._time_ns)
            if reader.has('velocity'):
                v = reader.values('velocity').copy()
            else:
                moves = self._own is not None and gap > 0.0
                v = self.model.difference(self._q, q) / gap if moves else 0.0 * q
            effort = reader.values('effort').tolist() if reader.has('effort') else []
        except ArmError as error:
            self.counts['dropped states'] += 1
            self._seldom.warning(f'state of the robot dropped: {error}')
            return
        if time_ns <= self._time_ns:
            if time_ns < self._time_ns:
                self._time_ns, self._own = -1, None
                self._log.warning('the time of the robot jumped back: waiting for rest')
            return
        if not self._answered:
            self._cycle()  # by the law's newest command
        known = self._own is not None
        self._gap = gap if known else self.parameters.period
        self._q, self._v, self._time_ns, self._state_at = q, v, time_ns, now
        self._answered = False
        own = self._own
        if own is None or (own.phase == WAITING and own.since == 0.0):
            self._own = self.supervisor.start(q, v, self.parameters.period)
            if own is not None:
                self._own = self._own._replace(period=own.period, since=own.since)
        assert self._own is not None
        if not self._may_start or self._own.phase == STOPPED:
            return  # goals of a law that does not drive must not be reached
        rests = bool((np.abs(v) <= self.supervisor.parameters.rest_speed).all())
        if rests or np.isfinite(self._command).all():
            message = JointState(name=list(self.model.joint_names))
            set_stamp(message.header.stamp, time_ns)
            message.position, message.velocity = q.tolist(), v.tolist()
            message.effort = effort
            self._to_law.publish(message)

    def _on_command(self, raw: bytes) -> None:
        """Take a command of the controller."""
        self._pauses.wake(time.monotonic())
        reader = self._commands
        try:
            reader.open(raw)
            if reader.empty:
                self._command[:] = np.nan
                if self._own is not None and self._own.phase == DRIVING:
                    self._on_stop('the controller, which releases the robot')
                return
            self._command = reader.values(FIELD[self.parameters.command_interface]).copy()
        except ArmError as error:
            self._seldom.warning(f'command of the law dropped: {error}')
            return
        self._command_at = time.monotonic()
        if reader.time_ns == self._time_ns and not self._answered:
            self._cycle()

    def _on_reference(self, message: JointTrajectoryControllerState) -> None:
        """Take the position that the law follows."""
        try:
            self._reference = self._references.read(
                message.joint_names, message.reference.positions, 'position'
            ).copy()
        except ArmError as error:
            self._seldom.warning(f'controller_state dropped: {error}')

    def _on_tick(self) -> None:
        """Go on without states: the robot is stopped."""
        p, now = self.parameters, time.monotonic()
        self._pauses.wake(now)
        if self._own is None or now - self._state_at <= p.state_age_limit:
            return
        if self._own.phase != WAITING:
            for _ in range(min(round((now - self._cycle_at) / p.period), 100)):
                self._cycle()

    def _cycle(self) -> None:
        """Supervise one period, and command the robot unless it is waited for."""
        own, now, p = self._own, time.monotonic(), self.parameters
        assert own is not None  # a state has come
        command = self._command if self._may_start else np.full_like(self._command, np.nan)
        sent, new = self.supervisor(
            own, self._q, self._v, command, p.period, self._reference,
            self._gap, now - self._state_at, now - self._command_at, self._stop,
        )  # fmt: skip
        self._own, self._answered, self._cycle_at = new, True, now
        self._stop = False
        self.counts['cycles'] += 1
        if new.phase != own.phase:
            self._log_phase(new)
        elif new.blind and not own.blind:
            reasons = '; '.join(self.supervisor.reasons(new, True)) or 'the arm runs away'
            self._log.error(f'while the robot stops: {reasons}.{_USELESS}')
        if new.phase == WAITING:
            return
        if new.phase == DRIVING and new.since > p.ramp_time:
            self._log_limits(command, sent)
        self._send(sent)

    def _log_phase(self, new: SupervisorState) -> None:
        """Log a change of phase with its numbers."""
        if new.phase == STOPPED:
            self.counts['stops'] += 1
            reasons = '; '.join(self.supervisor.reasons(new)) or self._why
            self._why = reasons
            blind = _USELESS * bool(new.blind)
            slow = self._pauses.words(time.monotonic())
            self._log.error(f'stopped: {reasons}.{blind}{slow} ~/start begins again')
        else:
            self._log.info(
                f'the law begins: from the measured state, within {self.parameters.ramp_time:g} s'
            )

    def _log_limits(self, command: Array, sent: Array) -> None:
        """Log a command that limits of torque or of its rate have changed."""
        changed = np.abs(command - sent)
        if changed.max() > 1e-9:
            self.counts['limited commands'] += 1
            joint = int(changed.argmax())
            self._seldom.warning(
                f'joint {self.model.joint_names[joint]!r}: the effort command '
                f'{command[joint]:.4g} is limited to {sent[joint]:.4g}'
            )

    def _send(self, command: Array) -> None:
        if self.parameters.output == 'commands':
            self._message.data = command.tolist()
        else:
            self._message.points[0].positions = command.tolist()
        self._to_robot.publish(self._message)

    def _on_stop(self, who: str) -> str:
        """Stop the robot; the next cycle does it."""
        self._stop, self._why = True, f'requested by {who}'
        if self._own is None or self._own.phase != DRIVING:
            self._stop = self._may_start = False
            return 'the law does not begin before ~/start'
        self._cycle()
        return self._why

    def _on_start(self) -> str:
        """Let the law begin again once the robot rests."""
        self._may_start, self._why = True, ''
        own = self._own
        if own is not None and own.phase == STOPPED:
            fresh = self.supervisor.start(self._q, self._v, self.parameters.period)
            self._own = fresh._replace(since=0.0 * fresh.since)
        return 'the law begins once the robot rests'

    def _report(self) -> None:
        own = self._own
        if own is None:
            self._publish(DiagnosticStatus.WARN, 'no state of the robot yet', self.counts)
            return
        phase = int(own.phase[0])
        level = DiagnosticStatus.ERROR if phase == STOPPED else DiagnosticStatus.OK
        words = f'{_WORDS[phase]}: {self._why}' if self._why else _WORDS[phase]
        self._publish(level, words, self.counts)
