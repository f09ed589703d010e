"""The output of a control cycle: commands on their topic, or straight to the simulator."""

from collections.abc import Sequence

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from arm_controllers.ros.cdr import serialized
from arm_controllers.ros.command_messages import FIELD
from arm_controllers.ros.in_process import InProcessTransport, TakeCommand
from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.serialized_messages import JointStateWriter
from arm_dynamics.checks import Array, all_finite

COMMANDS = 'joint_commands'


class CommandOutput:
    """Publishes commands; passes them on directly where the simulator runs in this process.

    Attributes:
        values: (n,) the newest command, in the unit of its interface.
        publisher: of the topic.
    """

    def __init__(
        self,
        node: Node,
        transport: InProcessTransport,
        joint_names: Sequence[str],
        command_interface: str,
    ):
        """Open the topic; the commands have the node's name."""
        field = FIELD[command_interface]
        self._name, self._transport = node.get_name(), transport
        self._node, self._topic = node, node.resolve_topic_name(COMMANDS)
        self._message = JointStateWriter(joint_names, (field,), self._name)
        self.values: Array = getattr(self._message, field)
        self._zeros, self._newest = np.zeros(len(joint_names)), b''
        self._looked, self._others, self._published = -1, False, 0
        self._server: TakeCommand | None = None
        self.publisher = node.create_publisher(JointState, COMMANDS, STATE_QOS)

    def close(self) -> None:
        """Close the topic."""
        self._node.destroy_publisher(self.publisher)

    @property
    def answered(self) -> bool:
        """Whether a command was sent, and no release message after it."""
        return bool(self._newest)

    def send(self, command: Array, time_ns: int) -> bool:
        """Send a command (n,) for the state of a stamp [ns]; return False if it is not finite.

        Then nothing is sent.
        """
        values = self.values
        values[:] = command
        if not all_finite(values, self._zeros):
            return False
        self._newest = newest = self._message.serialized(time_ns)
        self._send(newest)
        return True

    def send_again(self) -> None:
        """Send the newest command again."""
        self._send(self._newest)

    def release(self, time_ns: int) -> None:
        """Send the release message, a command without joints: the simulator brakes and holds."""
        self._newest = b''
        release = JointState()
        release.header.frame_id = self._name
        set_stamp(release.header.stamp, time_ns)
        self._send(serialized(release))

    def _send(self, command: bytes) -> None:
        transport = self._transport
        if self._looked != transport.looks:
            self._looked, self._server = transport.looks, transport.command_server(self._topic)
            # Whether not only the simulator subscribes.
            self._others = self.publisher.get_subscription_count() > 1
        if self._server is None:
            self.publisher.publish(command)
            return
        if self._others:
            self._published += 1
            self.publisher.publish(command)
        self._server(command, self._published)
