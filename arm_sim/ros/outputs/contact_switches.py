"""The topics of contact switches: a latched Bool for each link, published when it changes."""

import re

from rclpy.node import Node
from std_msgs.msg import Bool

from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.qos import LATCHED_QOS
from arm_sim.devices.contact_switches import ContactSwitchesDevice
from arm_sim.simulation.plant import Plant


class ContactSwitchesOutput:
    """Publishes the switches that have opened or closed."""

    def __init__(self, node: Node, device: ContactSwitchesDevice, transport: InProcessTransport):
        names = [re.sub(r'\W', '_', link) for link in device.links]
        self._publishers = [
            node.create_publisher(Bool, f'contact_switches/{name}', LATCHED_QOS) for name in names
        ]
        self._closed: list[bool | None] = [None] * len(names)

    def show(self, plant: Plant, time_ns: int) -> None:
        """Publish what has changed; a change has no stamp."""
        now = plant.measured.readings['contact_switches'] > 0.0
        for k, closed in enumerate(now.tolist()):
            if closed is not self._closed[k]:
                self._closed[k] = closed
                self._publishers[k].publish(Bool(data=closed))

    def publish(self) -> None:
        """Publish nothing: `show` has published what has changed."""
