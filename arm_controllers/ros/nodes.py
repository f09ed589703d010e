"""Nodes that name each publisher whose messages they cannot receive; quiet ones beside them."""

import rclpy.lifecycle
import rclpy.node
from lifecycle_msgs.srv import ChangeState
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import QoSCompatibility, QoSProfile, qos_check_compatible
from rclpy.subscription import Subscription

from arm_controllers.ros.log import Log, shortened
from arm_controllers.ros.rclpy_internals import log_failed_transitions, transitions_of

_POLICIES = 'reliability', 'durability', 'liveliness'
_UNKNOWN = '_UNKNOWN_'
_MOST = 20  # publishers that are named for a subscription


def log_unmatched(node: rclpy.node.Node, subscription: Subscription, known: set[bytes]) -> None:
    """Log a line for each publisher that does not match and is not `known` yet; note it."""
    topic, own = subscription.topic_name, subscription.qos_profile
    for publisher in node.get_publishers_info_by_topic(topic):
        gid, why = bytes(publisher.endpoint_gid), mismatch(publisher.qos_profile, own)
        if why and gid not in known and len(known) < _MOST:
            known.add(gid)
            name = f'{publisher.node_namespace.rstrip("/")}/{publisher.node_name}'
            name = 'a publisher' if _UNKNOWN in name else name  # its node is not discovered yet
            last = '; more such publishers are not named' * (len(known) == _MOST)
            Log(node).warning(f'{topic}: no message from {name} arrives: {why}{last}')


def mismatch(offered: QoSProfile, needed: QoSProfile) -> str:
    """Return why a subscription receives nothing from a publisher, and the remedy; '': it does."""
    compatible, reason = qos_check_compatible(offered, needed)
    if compatible != QoSCompatibility.ERROR:
        return ''
    for policy in _POLICIES:
        both = [QoSProfile(depth=1, **{policy: getattr(x, policy)}) for x in (offered, needed)]
        if qos_check_compatible(*both)[0] == QoSCompatibility.ERROR:
            given, wanted = (getattr(x, policy).short_key for x in (offered, needed))
            return (
                f'its {policy} is {given}, this node needs {wanted}: publish with {policy} '
                f'{wanted} (ros2 topic pub --qos-{policy} {wanted})'
            )
    return reason


class Node(rclpy.node.Node):
    """A node that logs each publisher with a QoS that does not match a subscription's."""

    def create_subscription(self, *arguments: object, **options: object) -> Subscription:
        """Subscribe; all arguments are rclpy's."""
        known: set[bytes] = set()

        def on_unmatched(event: object) -> None:
            log_unmatched(self, subscription, known)

        own = {'event_callbacks': SubscriptionEventCallbacks(incompatible_qos=on_unmatched)}
        subscription = super().create_subscription(*arguments, **own | options)
        return subscription


class LifecycleNode(Node, rclpy.lifecycle.LifecycleNode):
    """The same node with the states of a lifecycle."""

    def __init__(self, name: str):
        """Let no transition end the node."""
        super().__init__(name)
        self._refusals = Log(self)
        log_failed_transitions(self)
        for service in self.services:
            if service.srv_type is ChangeState:
                self._change_state, service.callback = service.callback, self._on_change_state

    def _on_change_state(
        self, request: ChangeState.Request, response: ChangeState.Response
    ) -> ChangeState.Response:
        """Refuse a transition that is not allowed now; rclpy would end the node."""
        asked, (state, allowed) = request.transition, transitions_of(self)
        if asked.label in allowed or (not asked.label and asked.id in allowed.values()):
            return self._change_state(request, response)
        listed = ', '.join(f'{label} ({number})' for label, number in allowed.items())
        self._refusals.warning(
            f'transition {shortened(repr(asked.label)) if asked.label else asked.id} refused: '
            f'the controller is {state}; allowed: {listed or "none"}'
        )
        response.success = False
        return response


def quiet_node(node: rclpy.node.Node, name: str) -> Node:
    """Return a node in the namespace of a node, without its parameters, remappings and services.

    Where no executor spins this node, the middleware keeps messages until `taken` takes them.
    """
    own = {'use_global_arguments': False, 'start_parameter_services': False}
    return Node(name, context=node.context, namespace=node.get_namespace(), **own)


def taken(subscription: Subscription) -> bytes | None:
    """Return the next serialised message of a subscription, or None."""
    with subscription.handle:
        message = subscription.handle.take_message(subscription.msg_type, True)
    return message[0] if message else None
