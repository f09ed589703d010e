"""The topic `active_controllers`: which controller commands which joints, by the simulator.

A message is JSON, such as {"claims": {"pd_controller": ["joint_1"]}, "rejected": {}}. It is
latched: a node that starts later receives the newest one.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from rclpy.node import Node
from std_msgs.msg import String

from arm_controllers.ros.log import Log
from arm_controllers.ros.qos import LATCHED_QOS
from arm_dynamics.checks import ArmError

TOPIC = 'active_controllers'
# A claim of another controller may be outdated for this time [s], for example while the simulator
# notices that its controller has ended; on a busy machine, where the graph does not show that
# controller's node, or where the claim has this controller's own name, for the second time.
_OUTDATED, _OUTDATED_AT_MOST = 0.8, 5.0


@dataclass(frozen=True)
class ActiveControllers:
    """The controllers of an arm.

    Attributes:
        claims: the joints that each controller commands, by its name.
        rejected: why the simulator accepts no commands from a controller, by its name.
    """

    claims: dict[str, list[str]] = field(default_factory=dict)
    rejected: dict[str, str] = field(default_factory=dict)

    def holder(self, joint_names: Sequence[str]) -> str:
        """Return the controller that commands one of these joints; '' where there is none."""
        return next((name for name, x in self.claims.items() if {*x} & {*joint_names}), '')

    def to_message(self) -> String:
        """Return the message."""
        return String(data=json.dumps(asdict(self)))

    @classmethod
    def from_message(cls, message: String) -> 'ActiveControllers':
        """Return what a message says.

        Raises:
            ArmError: it is not such a message.
        """
        try:
            given = json.loads(message.data)
            claims = {str(name): list(map(str, each)) for name, each in given['claims'].items()}
            rejected = {str(name): str(why) for name, why in given['rejected'].items()}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise ArmError(f'{TOPIC}: not a JSON object of claims and rejected: ignored') from None
        return cls(claims, rejected)


def watch_active_controllers(node: Node, on_change: Callable[[ActiveControllers], None]) -> None:
    """Call `on_change` with each message of the simulator; a wrong message is logged."""
    log = Log(node, 1.0)

    def read(message: String) -> None:
        try:
            newest = ActiveControllers.from_message(message)
        except ArmError as error:
            log.warning(str(error))
            return
        on_change(newest)

    node.create_subscription(String, TOPIC, read, LATCHED_QOS)


def nodes_of_arm(node: Node) -> list[str]:
    """Return the names of all nodes in a node's namespace, which are those of its arm."""
    own = node.get_namespace()
    return [name for name, other in node.get_node_names_and_namespaces() if other == own]


class Turn:
    """Says when a controller may begin to command its joints, or gives way to their holder.

    Attributes:
        claims: the simulator's newest message; None before the first one.
        began: when the controller was activated [s of the wall clock].
    """

    def __init__(
        self,
        node: Node,
        joint_names: Sequence[str],
        reject: Callable[[str], object],
        give_way: Callable[[str], object],
    ):
        """Wait for the joints of the controller of this node.

        `reject` receives why the simulator rejects it, `give_way` why it gets no turn, which is
        logged.
        """
        self._node, self._joint_names = node, joint_names
        self._reject, self._give_way = reject, give_way
        self.claims: ActiveControllers | None = None
        self.began = self._goes_on_since = self._changed = time.monotonic()
        self._time_ns = -1

    def begin(self) -> None:
        """Wait from now on."""
        self.began = self._goes_on_since = self._changed = time.monotonic()

    @property
    def holder(self) -> str:
        """The controller that commands these joints, as far as is known."""
        return self.claims.holder(self._joint_names) if self.claims else ''

    @property
    def rejection(self) -> str:
        """Why the simulator accepts no commands of this controller; '' where it does."""
        return self.claims.rejected.get(self._node.get_name(), '') if self.claims else ''

    def comes(self, sender: str, time_ns: int) -> bool:
        """Whether this controller may begin, by the sender and stamp of a simulator's state.

        A simulator that does not name itself publishes no claims. Time that stands still may wait
        for a holder that was killed: its claim ends then, and this controller begins. A state that
        is sent again soon shows no time that stands still.
        """
        now = time.monotonic()
        if time_ns != self._time_ns:
            self._time_ns, self._changed = time_ns, now
        elif now - self._changed > _OUTDATED:
            self._goes_on_since = now
        if self.claims is None:
            return not sender or now - self.began > _OUTDATED_AT_MOST
        if self.rejection:
            self._reject(self.rejection)
            return False
        holder = self.holder
        if not holder:
            return True
        seen = holder != self._node.get_name() and holder in nodes_of_arm(self._node)
        if now - self._goes_on_since > (_OUTDATED if seen else _OUTDATED_AT_MOST):
            self.give_way(holder)
        return False

    def give_way(self, holder: str) -> None:
        """Log, and hand over, why a holder keeps this controller from its joints."""
        why = self.why_not(holder)
        Log(self._node).error(why)
        self._give_way(why)

    def why_not(self, holder: str) -> str:
        """Return why a holder keeps this controller from its joints."""
        own, names = self._node.get_name(), self._joint_names
        if holder == own:
            return f'another node named {own!r} commands this arm; end one of the two'
        held = self.claims.claims.get(holder, []) if self.claims else []
        shared = [name for name in names if name in held]
        what = ', '.join(shared) if 0 < len(shared) < len(names) else 'this arm'
        return f'{holder!r} commands {what}; deactivate it before {own!r}'
