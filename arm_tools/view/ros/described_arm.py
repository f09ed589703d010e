"""The arm to show: the model of `robot_description`."""

from collections.abc import Callable

from rclpy.node import Node
from std_msgs.msg import String

from arm_controllers.ros.log import Log
from arm_controllers.ros.qos import LATCHED_QOS
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel


def subscribe_to_arm(
    node: Node, tool_frame: str, log: Log, show: Callable[[RobotModel], None], once: str = ''
) -> None:
    """Call `show` with each new arm of `robot_description`; log an invalid description.

    `once`: what has to be restarted for another arm than the first; '': nothing.
    """
    shown = ''

    def on_description(message: String) -> None:
        nonlocal shown
        if message.data == shown:
            return
        if shown and once:
            log.warning(f'robot_description is another arm now: restart the {once}')
            return
        try:
            model = RobotModel.from_description(message.data, tool_frame or None)
        except ArmError as error:
            log.error(f'robot_description: {error}')
            return
        shown = message.data
        show(model)

    node.create_subscription(String, 'robot_description', on_description, LATCHED_QOS)
