"""Subscriptions that several nodes have: to joint states, and to a controller's reports."""

from collections.abc import Callable

from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from arm_controllers.ros.qos import CONTROL_INPUT_QOS, CONTROL_QOS


def subscribe_joint_states(node: Node, topic: str, take: Callable[[bytes], None]) -> Subscription:
    """Call `take` with serialised JointStates, the newest where the node lags behind."""
    return node.create_subscription(JointState, topic, take, CONTROL_INPUT_QOS, raw=True)


def subscribe_controller_state(
    node: Node, controller: str, take: Callable[[JointTrajectoryControllerState], None]
) -> Subscription:
    """Call `take` with the reports of a controller, named in the node's namespace."""
    topic = f'{controller}/controller_state'
    return node.create_subscription(JointTrajectoryControllerState, topic, take, CONTROL_QOS)
