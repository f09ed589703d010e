"""The tip servo: turns streams of twists, poses and joint velocities into trajectory goals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from control_msgs.msg import JointJog, JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from trajectory_msgs.msg import JointTrajectory

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.cdr import stamp_ns
from arm_controllers.ros.diagnostics import status_publisher
from arm_controllers.ros.log import Log, once_a_minute
from arm_controllers.ros.messages import components, prefix_of, to_ns, trajectory_message
from arm_controllers.ros.nodes import Node
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.pose_messages import pose_from_message
from arm_controllers.ros.qos import CONTROL_INPUT_QOS
from arm_controllers.ros.ros_types import AnyMessage, Kind
from arm_controllers.ros.serialized_messages import JointReader
from arm_controllers.ros.subscriptions import subscribe_controller_state, subscribe_joint_states
from arm_dynamics.checks import ArmError, Array, finite, unknown
from arm_dynamics.parameters import parameter
from arm_tools.cartesian.tip_parameters import TipParameters
from arm_tools.cartesian.tip_servo import (
    Command,
    TipReference,
    TipServo,
    TipServoParameters,
    TipStream,
)

_FAR = 0.03  # farther from the controller's reference, the servo starts again there [rad | m]
_FRESH_NS = 60_000_000  # age up to which a controller's report counts for that
_OLDEST_NS = 1_000_000_000  # age from which a moving reference is unknown
_LEFT_OUT = 0.1  # share of a twist that may be left out without a line
_REST = 1e-4  # largest speed of joints at rest [rad/s | m/s]
_REACHED = 1e-3  # largest distance from a target pose that is reached [m | rad]
_LARGEST = 1e6  # command [m/s | rad/s | m]
_LATEST_NS = (2**31 - 10) * 1_000_000_000  # the goal's later stamps must fit their message too


@dataclass(frozen=True)
class TipServoNodeParameters(TipServoParameters, TipParameters):
    """Parameters of the node."""

    controller: str = parameter('servo_controller', 'name of the controller for the goals')
    command_timeout: float = parameter(
        0.1, 'longest simulated time without a message in a stream [s]', above=0, max=10
    )


class TipServoNode(Node):
    """Moves the tip of an arm through the controller that commands it.

    Time is the states' time. Each goal is sent one step ahead and holds the reference after that
    step and the braking from there. The next goal replaces the braking; without it the arm rests.
    """

    Parameters = TipServoNodeParameters

    def __init__(self) -> None:
        """Load the model, create publishers and subscriptions."""
        super().__init__('tip_servo')
        self.parameters = p = declare_parameters(self, self.Parameters)
        self._log, self._prefix = Log(self, 1.0), prefix_of(self)
        self._name = once_a_minute(self)
        self.model = p.model()
        self._stream = TipStream(TipServo(self.model, p), p.command_timeout)
        self._reader = JointReader(self.model.joint_names)
        self._period_ns = round(p.period * 1e9)
        self._now_ns = self._next_ns = -1
        self._reference: JointTrajectoryControllerState | None = None
        self._moves, self.goals, self.refused = False, 0, ''
        self._publisher = self.create_publisher(
            JointTrajectory, f'{p.controller}/joint_trajectory', 10
        )
        subscribe_joint_states(self, 'joint_states', self._on_state)
        subscribe_controller_state(self, p.controller, self._on_reference)
        self._listen(TwistStamped, '~/delta_twist_cmds', self._twist)
        self._listen(PoseStamped, '~/pose_target_cmds', self._pose)
        self._listen(JointJog, '~/delta_joint_cmds', self._jog)
        self._publish = status_publisher(self)
        self.create_timer(1.0, self._report)

    def _listen(self, kind: Kind, topic: str, read: Any) -> None:
        """Subscribe to commands; an invalid one is logged and changes nothing."""

        def take(message: AnyMessage) -> None:
            try:
                self._stream.take(read(message), self._now_ns)
            except ArmError as error:
                self.refused = f'{topic}: {error}'
                self._log.warning(self.refused)

        self.create_subscription(kind, topic, take, CONTROL_INPUT_QOS)

    # Commands

    def _twist(self, message: TwistStamped) -> Command:
        values = components(message.twist.linear, message.twist.angular)
        twist = _bounded('the twist', values)
        frame = self._frame(message.header.frame_id)

        def move(servo: TipServo) -> TipReference:
            rotation = self._pose_of(frame).rotation
            turned = (rotation @ twist.reshape(2, 3, 1)).ravel()
            self._name_left_out(servo, turned)
            return servo.move(turned)

        return move

    def _name_left_out(self, servo: TipServo, twist: Array) -> None:
        """Log where the tip does not follow a twist because no motion of the joints does."""
        left_out = servo.left_out(twist)
        lost, whole = (float(np.linalg.norm(x * servo.weights)) for x in (left_out, twist))
        if lost > _LEFT_OUT * whole:
            self._name(
                f'the tip leaves out {(left_out.round(3) + 0.0).tolist()} of the twist '
                f'{twist.round(3).tolist()} [m/s, rad/s] in axes of {self.model.base_frame}: no '
                f'motion of the {self.model.nv} joints gives this here'
            )

    def _pose(self, message: PoseStamped) -> Command:
        frame = self._frame(message.header.frame_id)
        target = pose_from_message(message.pose, 'the target pose')
        _bounded("the target's position", target.translation)
        asked = self._pose_of(frame) * target

        def approach(servo: TipServo) -> TipReference:
            reference, error = servo.approach(asked), servo.error(asked)
            away, turn = (float(np.linalg.norm(x)) for x in (error[:3], error[3:]))
            if np.abs(reference.v).max() < _REST and max(away, turn) > _REACHED:
                self._name(
                    f'the tip rests {1e3 * away:.3g} mm and {turn:.3g} rad from the target pose: '
                    'no motion of the joints within their limits brings it nearer'
                )
            return reference

        return approach

    def _jog(self, message: JointJog) -> Command:
        v, names = np.zeros(self.model.nv), list(message.joint_names)
        self._name_unused(message)
        count = f'velocities of {len(names)} joint_names'
        given = finite(count, message.velocities, (len(names),))
        for name, value in zip(names, given, strict=True):
            if name not in self.model.joint_names:
                raise unknown('joint', name, self.model.joint_names)
            if names.count(name) > 1:
                raise ArmError(f'joint {name!r} is named {names.count(name)} times; allowed: once')
            v[self.model.joint_names.index(name)] = value
        return lambda servo: servo.move_joints(v)

    def _name_unused(self, message: JointJog) -> None:
        """Log what a message asks for beyond velocities; without any it is refused."""
        way = [float(x) for x in message.displacements if not np.isnan(x)]
        longest = self.parameters.command_timeout
        if way and not message.velocities:
            what = f'displacements are {way}, and there are no velocities'
            raise ArmError(f'{what}: give velocities, or send the controller a goal')
        if way or message.duration > longest:
            self._name(
                'displacements and duration are not used: velocities count for '
                f'command_timeout = {longest:g} s (displacements {way}, {message.duration:g} s)'
            )

    def _frame(self, name: str) -> str:
        frame = name.removeprefix(self._prefix) or self.model.base_frame
        self.model.frame_id(frame)
        return frame

    def _pose_of(self, frame: str) -> Any:
        """Return the pose of a frame in the base frame, at the reference."""
        return self.model.forward_kinematics(self._stream.servo.q, frame)

    # Steps

    def _on_reference(self, message: JointTrajectoryControllerState) -> None:
        self._reference = message

    def _on_state(self, raw: bytes) -> None:
        """Send the next goal where a state's time asks for it; an invalid state is logged."""
        try:
            now_ns = stamp_ns(raw)
            if now_ns > _LATEST_NS:
                raise ArmError(f'stamp {now_ns * 1e-9:.0f} s; allowed: {_LATEST_NS * 1e-9:.0f}')
            self._go_on(now_ns)
        except ArmError as error:
            self._log.warning(f'state dropped: {error}')

    def _go_on(self, now_ns: int) -> None:
        """Send the next goal, one step ahead of time."""
        self._now_ns, before_ns = now_ns, self._now_ns
        if now_ns < before_ns:  # a reset
            self._moves, self._reference = False, None
            self._stream.take(None, now_ns)
        if not self._moves:
            if not self._stream.commands(now_ns) or not self._begin(now_ns):
                return
        elif now_ns < self._next_ns - self._period_ns:
            return
        elif now_ns > self._next_ns or self._is_elsewhere(now_ns):
            # States were missed, or another goal moves the arm.
            self._moves = self._begin(now_ns)
            if not self._moves:
                return
        way = self._stream.step(self._next_ns)
        self._moves = bool(way)
        if way:
            self._send(way)
            self._next_ns += self._period_ns

    def _begin(self, now_ns: int) -> bool:
        """Start at the controller's reference of one step from now; return whether that works."""
        if self._reference is None:
            self._log.warning(f'no state of {self.parameters.controller} yet: nothing moves')
            return False
        try:
            q, v = self._where(now_ns + self._period_ns)
            whose = f'the reference of {self.parameters.controller}'
            self._stream.servo.start(q, v, whose)
        except ArmError as error:
            self._log.warning(f'{error}: nothing moves')
            return False
        self._next_ns = now_ns + self._period_ns
        return True

    def _is_elsewhere(self, now_ns: int) -> bool:
        message = self._reference
        if message is None or abs(now_ns - to_ns(message.header.stamp)) > _FRESH_NS:
            return False
        return bool(np.abs(self._where(self._next_ns)[0] - self._stream.servo.q).max() > _FAR)

    def _where(self, time_ns: int) -> tuple[Array, Array]:
        """Return the controller's reference at a time, extrapolated from its last report."""
        message, read = self._reference, self._reader.read
        assert message is not None  # goals are sent after the first report only
        names, point = list(message.joint_names), message.reference
        q, v = (read(names, getattr(point, field), field) for field in ('positions', 'velocities'))
        since_ns = time_ns - to_ns(message.header.stamp)
        if abs(since_ns) > _OLDEST_NS and v.any():
            raise ArmError(
                f'{self.parameters.controller} moves, and its last report is '
                f'{abs(since_ns) * 1e-9:.1f} s from joint_states; allowed: {_OLDEST_NS * 1e-9:g} s'
            )
        return q + v * since_ns * 1e-9, v

    def _send(self, way: list[TipReference]) -> None:
        times = np.array([k * self._period_ns * 1e-9 for k in range(1, len(way) + 1)])
        q, v = map(np.array, zip(*way, strict=True))
        goal = Goal(self.model.joint_names, times, q, v, start_ns=self._next_ns)
        self._publisher.publish(trajectory_message(goal))
        self.goals += 1

    def _report(self) -> None:
        values = {'goals': self.goals, 'last refused': self.refused}
        self._publish(DiagnosticStatus.OK, 'moving' if self._moves else 'waiting', values)


def _bounded(name: str, values: Sequence[float] | Array) -> Array:
    """Return finite numbers of a plausible size as an array."""
    array = finite(name, values, (len(values),))
    for value in array[np.abs(array) > _LARGEST]:
        raise ArmError(f'{name} has {value:g}; allowed: up to {_LARGEST:g}')
    return array
