"""The wrench that a law needs: that of the state which it answers."""

from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node

from arm_controllers.measurement import HOW_TO_MEASURE
from arm_controllers.ros.cdr import Fields, is_native, no_message, stamp_ns
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.qos import CONTROL_INPUT_QOS
from arm_controllers.ros.serialized_messages import LARGEST
from arm_dynamics.checks import ArmError, Array

TOPIC = 'force_torque_sensor_broadcaster/wrench'
_NO_WRENCH = f'no wrench on {TOPIC}: {HOW_TO_MEASURE["wrench"]}'


class WrenchInput:
    """Keeps the newest wrench, and the newest state whose wrench has not come."""

    def __init__(
        self,
        node: Node,
        transport: InProcessTransport,
        on_state: Callable[[bytes], None],
        drop: Callable[[ArmError], None],
    ):
        """Subscribe.

        Args:
            node: the controller.
            transport: to a simulator in the same process.
            on_state: receives a serialised state that was kept, once its wrench is here.
            drop: receives the reason why a message cannot be used.
        """
        self._node, self._transport, self._on_state = node, transport, on_state
        self._drop, self._place, self._length = drop, slice(0), -1
        self._time_ns, self._wrench = -1, np.zeros(6)  # no wrench yet
        self._state = b''
        self._input = node.create_subscription(
            WrenchStamped, TOPIC, self.take, CONTROL_INPUT_QOS, raw=True
        )
        transport.subscribe_states(self._input.topic_name, self.take)

    def close(self) -> None:
        """Unsubscribe."""
        self._transport.unsubscribe_states(self._input.topic_name, self.take)
        self._node.destroy_subscription(self._input)

    def check_publisher(self) -> None:
        """Raise an ArmError where no node publishes wrenches."""
        if not self._node.count_publishers(TOPIC):
            raise ArmError(_NO_WRENCH)

    def of_state(self, raw: bytes) -> Array | None:
        """Return the wrench (6,) of a serialised state: force [N] and torque [N.m].

        None: it is not here; the state is kept until it comes.
        """
        try:
            time_ns = stamp_ns(raw)
        except ArmError as error:
            self._drop(error)
            return None
        if time_ns == self._time_ns:
            self._state = b''
            return self._wrench
        if raw == self._state and self._time_ns < 0:
            self._drop(ArmError(_NO_WRENCH))
        self._state = raw
        return None

    def take(self, raw: bytes) -> None:
        """Take a serialised wrench; hand over the state that was kept for it."""
        try:
            time_ns, wrench = stamp_ns(raw), self._read(raw)
        except ArmError as error:
            self._drop(error)
            return
        self._time_ns, self._wrench = time_ns, wrench
        state = self._state
        if state and stamp_ns(state) == time_ns:
            self._on_state(state)

    def _read(self, raw: bytes) -> Array:
        if not is_native(raw):
            raise no_message(raw, 'WrenchStamped')
        if len(raw) != self._length:
            self._place, self._length = Fields(raw, WrenchStamped).numbers[0], len(raw)
        wrench = np.frombuffer(raw[self._place])
        if len(wrench) != 6 or not (np.abs(wrench) < LARGEST).all():
            raise ArmError(f'wrench {wrench.tolist()} is not six numbers within {LARGEST:g}')
        return wrench
