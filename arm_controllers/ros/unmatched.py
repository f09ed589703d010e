"""Why a subscription receives nothing from a publisher: one line with both QoS and the remedy."""

from rclpy.node import Node
from rclpy.qos import QoSCompatibility, QoSProfile, qos_check_compatible
from rclpy.subscription import Subscription

from arm_controllers.ros.log import Log

_POLICIES = 'reliability', 'durability', 'liveliness'
_UNKNOWN = '_UNKNOWN_'
_MOST = 20  # publishers that are named for a subscription


def log_unmatched(node: Node, subscription: Subscription, known: set[bytes]) -> None:
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
        other = QoSProfile(depth=1)
        setattr(other, policy, getattr(offered, policy))
        own = QoSProfile(depth=1)
        setattr(own, policy, getattr(needed, policy))
        if qos_check_compatible(other, own)[0] == QoSCompatibility.ERROR:
            given, wanted = (getattr(x, policy).short_key for x in (offered, needed))
            return (
                f'its {policy} is {given}, this node needs {wanted}: publish with {policy} '
                f'{wanted} (ros2 topic pub --qos-{policy} {wanted})'
            )
    return reason
