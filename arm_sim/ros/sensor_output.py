"""What the simulator publishes of its sensors, under the names of ros2_control's broadcasters."""

from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from std_srvs.srv import Trigger

from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.serialized_messages import Template
from arm_controllers.ros.services import serve
from arm_controllers.ros.wrench_input import TOPIC
from arm_dynamics.checks import ArmError
from arm_sim.simulation.simulation import Simulation


class SensorOutput:
    """Publishes the wrench of each state, before the state; serves the tare."""

    def __init__(self, node: Node, simulation: Simulation, transport: InProcessTransport):
        self._simulation = simulation
        message = WrenchStamped()
        message.header.frame_id = prefix_of(node) + simulation.plant.parameters.force_torque_frame
        self._wrench, self._raw = Template(message), b''
        self._publisher = node.create_publisher(WrenchStamped, TOPIC, STATE_QOS)
        self._near = transport.state_subscribers(node.resolve_topic_name(TOPIC))
        serve(node, Trigger, 'force_torque_sensor_broadcaster/tare', self._tare)

    def show(self) -> None:
        """Take the readings of the present state."""
        self._wrench.numbers[0][:] = self._simulation.plant.measured.wrench
        self._raw = self._wrench.at_times(self._simulation.time_ns)

    def publish(self) -> None:
        """Publish the last readings, to nodes of this process directly."""
        for take in tuple(self._near):
            take(self._raw)
        if self._publisher.get_subscription_count() > len(self._near):
            self._publisher.publish(self._raw)

    def _tare(self, request: Trigger.Request, response: Any) -> None:
        plant = self._simulation.plant
        try:
            plant.tare()
        except ArmError as error:
            response.message = str(error)
            return
        periods = plant.parameters.tare_periods
        response.success, response.message = True, f'tared by the next {periods} readings'
