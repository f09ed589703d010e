"""Names under which two publishers command, and which nodes these may be by the graph."""

from dataclasses import dataclass

from rclpy.node import Node, NodeNameNonExistentError

from arm_controllers.ros.log import Log
from arm_sim.simulation.claims import REJECTION_TIME, Claim, Claims, Endpoint

_CHANGE_STATE = 'lifecycle_msgs/srv/ChangeState'


class SpoofedCommands:
    """Rejects the commands of a name until one of its publishers is gone or none has commanded."""

    def __init__(self, node: Node, claims: Claims, topic: str):
        """`topic`: full name of the commands'."""
        self._node, self._claims, self._topic, self._log = node, claims, topic, Log(node)
        self._spoofed: dict[str, _Spoofed] = {}

    @property
    def rejection(self) -> str:
        """Why the commands of a name are rejected; '' where none are."""
        return next((each.words for each in self._spoofed.values()), '')

    def is_gone(self, claim: Claim) -> bool:
        """Whether the publisher that had a claim is closed, or no second one is there at all."""
        gid, publishers = claim.endpoint.gid, self._publishers()
        return len(publishers) <= 1 or (bool(gid) and gid not in publishers)

    def reject(self, claim: Claim, numbers: str) -> None:
        """Reject the name of a claim: two publishers command under it, by these numbers."""
        source = claim.source
        self._claims.reject(source, f'another publisher commands as {source!r}: the arm brakes')
        self._spoofed[source] = _Spoofed(claim.endpoint, self._publishers(), numbers)

    def look(self) -> None:
        """Find publishers that are gone, and rejections that have ended."""
        for source, spoofed in list(self._spoofed.items()):
            if not spoofed.words:
                self._name(source, spoofed)
            elif source not in self._claims.rejections or spoofed.is_over(self._publishers()):
                self._log.info(f'commands as {source!r} are accepted again')
                self._claims.pardon(source)
                del self._spoofed[source]

    def endpoint(self, source: str) -> Endpoint:
        """Return the publisher of the node with a controller's name, where there is just one."""
        own = [each for each in self._publishers().items() if each[1].endswith(f'/{source}')]
        return Endpoint(own[0][1], own[0][0]) if len(own) == 1 else Endpoint()

    def _publishers(self) -> dict[bytes, str]:
        """Return the node of each publisher of commands, by the publisher's identifier."""
        found = self._node.get_publishers_info_by_topic(self._topic)
        return {
            bytes(each.endpoint_gid): each.node_namespace.rstrip('/') + '/' + each.node_name
            for each in found
        }

    def _name(self, source: str, spoofed: '_Spoofed') -> None:
        """Log which nodes may command as `source`: no controller that waits for its activation."""
        publishers = spoofed.publishers | self._publishers()
        if any('_UNKNOWN_' in node for node in publishers.values()):
            return  # the graph does not know all names yet
        suspects = {
            gid: node
            for gid, node in publishers.items()
            if node.endswith(f'/{source}') or not self._waits(node)
        }
        spoofed.publishers = suspects if len(suspects) > 1 else publishers
        spoofed.words = (
            f'more than one publisher commands as {source!r}: braking, no command is used until '
            f'one is left of {", ".join(sorted(spoofed.publishers.values()))}, or none has '
            f'commanded for {REJECTION_TIME:g} s ({spoofed.numbers})'
        )
        self._log.error(spoofed.words)

    def _waits(self, node: str) -> bool:
        """Whether a node is a controller that can be activated."""
        namespace, name = node.rsplit('/', 1)
        try:
            services = self._node.get_service_names_and_types_by_node(name, namespace or '/')
        except NodeNameNonExistentError:  # it has just gone
            return False
        return any(_CHANGE_STATE in types for _, types in services)


@dataclass
class _Spoofed:
    """A name under which two publishers have commanded.

    Attributes:
        endpoint: what had the claim.
        publishers: the nodes that may have commanded, by their publishers' identifiers.
        numbers: why, by the numbers of messages and states.
        words: for the user; '' before the graph shows the names of all nodes.
    """

    endpoint: Endpoint
    publishers: dict[bytes, str]
    numbers: str
    words: str = ''

    def is_over(self, publishers: dict[bytes, str]) -> bool:
        """Whether only the endpoint that had the claim is left of the suspects."""
        left = self.publishers.keys() & publishers
        return not left or (len(left) == 1 and self.endpoint.gid in (b'', *left))
