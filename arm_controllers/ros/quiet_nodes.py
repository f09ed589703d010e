"""A second node next to a node, and subscriptions from which messages are taken when needed."""

import rclpy.node
from rclpy.subscription import Subscription

from arm_controllers.ros.nodes import Node


def quiet_node(node: rclpy.node.Node, name: str) -> Node:
    """Return a node in the namespace of a node, without its parameters, remappings and services.

    Where no executor spins this node, the middleware keeps messages until `taken` takes them.
    """
    return Node(
        name,
        context=node.context,
        namespace=node.get_namespace(),
        use_global_arguments=False,
        start_parameter_services=False,
    )


def taken(subscription: Subscription) -> bytes | None:
    """Return the next serialised message of a subscription, or None."""
    with subscription.handle:
        message = subscription.handle.take_message(subscription.msg_type, True)
    return message[0] if message else None
