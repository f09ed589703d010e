"""A controller_manager with a topic-based hardware interface, as far as the wire shows them.

It has the topics' QoS, the NaN before a controller is active, the threshold below which nothing is
sent, and the stamps of joint_state_topic_hardware_interface and topic_based_ros2_control. In
lock-step it sends in every cycle, and has a joint_state_broadcaster.
"""

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

THRESHOLD = 1e-5  # sum of |state - command| up to which no command is sent
RATE = 100.0  # of the manager [Hz]


class StandIn(Node):
    """Reads states, runs a controller, writes commands, RATE times a second of its clock.

    Attributes:
        t: newest state's time [s].
        q, command: (n,) newest state and command [rad]; the command is NaN before `motion` is set.
        motion: the controller: a function of `t` that returns (n,) positions.
        cycles, sent, unset: how many there were; messages; messages without a number.
        fault: what goes wrong in the next cycle: 'stale', 'lost', 'late' or 'silent'.
    """

    def __init__(
        self,
        context,
        names,
        stamps,
        states='joint_states',
        commands='joint_commands',
        broadcast='',
    ):
        """Open the topics.

        `stamps`: 'wall', 'sim' (then its clock is /clock) or 'zero'; `broadcast`: topic of the
        joint_state_broadcaster, in lock-step.
        """
        super().__init__('topic_based_hardware', context=context)
        self.fault, self._late, self._newest = '', None, None
        self._broadcast = broadcast and self.create_publisher(JointState, broadcast, 10)
        self.names, self.stamps = [*reversed(names)], stamps  # in another order than ours
        self.q, self.command = np.full((2, len(names)), np.nan)
        self.t, self.motion = 0.0, None
        self.cycles = self.sent = self.unset = 0
        self._now, self._last = None, None
        self._destroyed = False
        self.create_subscription(JointState, states, self._on_state, qos_profile_sensor_data)
        self._commands = self.create_publisher(JointState, commands, QoSProfile(depth=1))
        if stamps == 'sim':
            self.create_subscription(Clock, '/clock', self._on_clock, qos_profile_sensor_data)
        else:
            self.create_timer(1.0 / RATE, self._cycle)

    def destroy_node(self):
        self._destroyed = True  # EventsExecutor still hands over what had come before
        super().destroy_node()

    def _on_state(self, state):
        self._before, self._newest = self._newest, state
        self.t = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
        self.q = np.array([state.position[state.name.index(name)] for name in self.names])

    def _on_clock(self, clock):
        now = clock.clock.sec + 1e-9 * clock.clock.nanosec
        if self._last is None:
            self._last = now  # it sleeps one period before its first cycle
        if now - self._last >= 1.0 / RATE - 1e-9:
            self._now, self._last = clock.clock, now
            self._cycle()

    def _cycle(self):
        if self._destroyed:
            return
        self.cycles += 1
        fault, self.fault = self.fault, ''
        if self._broadcast and self._newest is not None and fault != 'lost':
            read = self._before if fault == 'stale' else self._newest
            read.header.stamp = self._now
            self._broadcast.publish(read)
        if self.motion is not None and np.isfinite(self.q).all():
            self.command = self.motion(self.t)[::-1]
        close = np.abs(self.q - self.command).sum() <= THRESHOLD  # false where one is NaN
        if (close and not self._broadcast) or fault == 'silent':
            return
        message = JointState(name=self.names, position=self.command.tolist())
        if self.stamps == 'wall':
            message.header.stamp = self.get_clock().now().to_msg()
        elif self.stamps == 'sim':
            message.header.stamp = self._now
        if fault == 'late':
            self._late = message
            return
        for each in (self._late, message) if self._late else (message,):
            self._commands.publish(each)
        self._late = None
        self.sent += 1
        self.unset += int(np.isnan(self.command).all())
