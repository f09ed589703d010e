"""A topic of messages that differ in stamp and numbers only."""

from rclpy.node import Node

from arm_controllers.ros.cdr import Template
from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.ros_types import AnyMessage
from arm_dynamics.checks import Array


class NumbersTopic:
    """A topic of messages that differ in stamp and numbers only.

    Attributes:
        raw: the last message, serialised.
    """

    def __init__(self, node: Node, topic: str, message: AnyMessage, frame: str):
        """`frame`: of the header, without the prefix of the node's namespace."""
        message.header.frame_id = prefix_of(node) + frame
        self._template, self.raw = Template(message), b''
        self._publisher = node.create_publisher(type(message), topic, STATE_QOS)

    def fill(self, time_ns: int, *vectors: Array) -> None:
        """Write the stamp [ns] and the vectors, in the order of the message."""
        # An Imu has nine covariances after each of its three vectors.
        for numbers, vector in zip(self._template.numbers[::2], vectors, strict=True):
            numbers[:] = vector
        self.raw = self._template.at_times(time_ns)

    def publish(self, besides: int = 0) -> None:
        """Publish the last message if there are more subscribers than `besides`."""
        if self._publisher.get_subscription_count() > besides:
            self._publisher.publish(self.raw)
