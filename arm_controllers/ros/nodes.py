"""Nodes that name each publisher whose messages they cannot receive."""

from typing import Any

import rclpy.lifecycle
import rclpy.node
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.subscription import Subscription

from arm_controllers.ros.unmatched import log_unmatched


class Node(rclpy.node.Node):
    """A node that logs each publisher with a QoS that does not match a subscription's."""

    def create_subscription(self, *arguments: Any, **options: Any) -> Subscription:
        """Subscribe; all arguments are rclpy's."""
        known: set[bytes] = set()

        def on_unmatched(event: Any) -> None:
            log_unmatched(self, subscription, known)

        own = {'event_callbacks': SubscriptionEventCallbacks(incompatible_qos=on_unmatched)}
        subscription = super().create_subscription(*arguments, **own | options)
        return subscription


class LifecycleNode(Node, rclpy.lifecycle.LifecycleNode):
    """The same node with the states of a lifecycle."""
