"""What the simulator publishes of its sensors, under the names of ros2_control's broadcasters."""

import re
from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from arm_controllers.ros.cdr import Template
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.qos import LATCHED_QOS, STATE_QOS
from arm_controllers.ros.services import serve
from arm_controllers.ros.wrench_input import TOPIC
from arm_dynamics.checks import Array
from arm_sim.simulation.simulation import Simulation


class SensorOutput:
    """Publishes the readings of each state before the state; serves the tare."""

    def __init__(self, node: Node, simulation: Simulation, transport: InProcessTransport):
        """Open the topics of the sensors that the arm has."""
        self._simulation, p = simulation, simulation.plant.parameters
        self._wrench: _Output | None = None
        self._imu: _Output | None = None
        self._near: Sequence[Any] = ()
        if p.force_torque_frame:
            self._wrench = _Output(node, TOPIC, WrenchStamped(), p.force_torque_frame)
            self._near = transport.state_subscribers(node.resolve_topic_name(TOPIC))
            serve(node, Trigger, 'force_torque_sensor_broadcaster/tare', self._tare)
        if p.imu_frame:
            from sensor_msgs.msg import Imu  # not every simulator has one

            topic = 'imu_sensor_broadcaster/imu'
            self._imu = _Output(node, topic, Imu(), p.imu_frame)
        self._switches = [_Switch(node, link) for link in p.contact_switches]

    def show(self) -> None:
        """Take the readings of the present state."""
        plant, time_ns = self._simulation.plant, self._simulation.time_ns
        wrench, imu = plant.measured.wrench, plant.imu
        if self._wrench is not None and wrench is not None:
            self._wrench.fill(time_ns, wrench)
        if self._imu is not None and imu is not None:
            self._imu.fill(time_ns, imu[:4], imu[4:7], imu[7:])
        if self._switches:
            for switch, closed in zip(self._switches, plant.touched(), strict=True):
                switch.show(bool(closed))

    def publish(self) -> None:
        """Publish the last readings, wrenches to nodes of this process directly."""
        if self._wrench is not None:
            for take in tuple(self._near):
                take(self._wrench.raw)
            self._wrench.publish(len(self._near))
        if self._imu is not None:
            self._imu.publish()

    def _tare(self, request: Trigger.Request, response: Any) -> str:
        plant = self._simulation.plant
        plant.tare()
        return f'tared by the next {plant.parameters.tare_periods} readings'


class _Output:
    """A topic of messages that differ in stamp and numbers only."""

    def __init__(self, node: Node, topic: str, message: Any, frame: str):
        message.header.frame_id = prefix_of(node) + frame
        self._template, self.raw = Template(message), b''
        self._publisher = node.create_publisher(type(message), topic, STATE_QOS)

    def fill(self, time_ns: int, *vectors: Array) -> None:
        # An Imu has nine covariances after each of its three vectors.
        for numbers, vector in zip(self._template.numbers[::2], vectors, strict=True):
            numbers[:] = vector
        self.raw = self._template.at_times(time_ns)

    def publish(self, besides: int = 0) -> None:
        """Publish the last message if there are more subscribers than `besides`."""
        if self._publisher.get_subscription_count() > besides:
            self._publisher.publish(self.raw)


class _Switch:
    """The topic of a link's contact switch: a latched Bool, published when it changes."""

    def __init__(self, node: Node, link: str):
        name = re.sub(r'\W', '_', link)
        self._publisher = node.create_publisher(Bool, f'contact_switches/{name}', LATCHED_QOS)
        self._closed: bool | None = None

    def show(self, closed: bool) -> None:
        if closed is not self._closed:
            self._closed = closed
            self._publisher.publish(Bool(data=closed))
