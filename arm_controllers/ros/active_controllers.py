"""The topic `active_controllers`: which controller commands which joints, by the simulator.

A message is JSON, such as {"claims": {"pd_controller": ["joint_1"]}, "rejected": {}}. It is
latched: a node that starts later receives the newest one.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from rclpy.node import Node
from std_msgs.msg import String

from arm_controllers.ros.log import Log
from arm_controllers.ros.qos import LATCHED_QOS
from arm_dynamics.checks import ArmError

TOPIC = 'active_controllers'


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
