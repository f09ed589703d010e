"""The wrench that a law needs: that of the state which it answers."""

from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node

from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.messages import set_components, set_stamp
from arm_controllers.ros.qos import CONTROL_INPUT_QOS
from arm_controllers.ros.serialized_messages import (
    LARGEST,
    Fields,
    is_native,
    no_message,
    stamp_ns,
)
from arm_dynamics.checks import ArmError, Array

TOPIC = 'force_torque_sensor_broadcaster/wrench'


def wrench_message(frame: str, wrench: Array, time_ns: int) -> WrenchStamped:
    """Return a wrench (6,) [N, N.m] in the axes of a frame, with a stamp [ns]."""
    message = WrenchStamped()
    message.header.frame_id = frame
    set_stamp(message.header.stamp, time_ns)
    set_components(wrench, message.wrench.force, message.wrench.torque)
    return message


class WrenchInput:
    """Keeps the newest wrench.

    Attributes:
        topic: its name.
        time_ns: its stamp [ns]; -1 before the first one.
        wrench: (6,) force [N] and torque [N.m].
    """

    def __init__(
        self,
        node: Node,
        transport: InProcessTransport,
        on_wrench: Callable[[], None],
        drop: Callable[[ArmError], None],
    ):
        """Subscribe; `drop` receives the reason why a message cannot be used."""
        self._node, self._transport, self._on_wrench = node, transport, on_wrench
        self.topic = TOPIC
        self._drop, self._place, self._length = drop, slice(0), -1
        self.time_ns, self.wrench = -1, np.zeros(6)
        self._input = node.create_subscription(
            WrenchStamped, TOPIC, self.take, CONTROL_INPUT_QOS, raw=True
        )
        transport.subscribe_states(self._input.topic_name, self.take)

    def close(self) -> None:
        """Unsubscribe."""
        self._transport.unsubscribe_states(self._input.topic_name, self.take)
        self._node.destroy_subscription(self._input)

    def take(self, raw: bytes) -> None:
        """Take a serialised wrench."""
        try:
            time_ns, wrench = stamp_ns(raw), self._read(raw)
        except ArmError as error:
            self._drop(error)
            return
        self.time_ns, self.wrench = time_ns, wrench
        self._on_wrench()

    def _read(self, raw: bytes) -> Array:
        if not is_native(raw):
            raise no_message(raw, 'WrenchStamped')
        if len(raw) != self._length:
            self._place, self._length = Fields(raw, WrenchStamped).numbers[0], len(raw)
        wrench = np.frombuffer(raw[self._place])
        if len(wrench) != 6 or not (np.abs(wrench) < LARGEST).all():
            raise ArmError(f'wrench {wrench.tolist()} is not six numbers within {LARGEST:g}')
        return wrench
