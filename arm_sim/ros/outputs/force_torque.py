"""The topic of the force-torque sensor, and the service that tares it."""

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from std_srvs.srv import Trigger

from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.inputs.wrench import TOPIC
from arm_controllers.ros.services import serve
from arm_sim.devices.force_torque import ForceTorqueDevice
from arm_sim.ros.numbers_topic import NumbersTopic
from arm_sim.simulation.plant import Plant


class ForceTorqueOutput:
    """Publishes wrenches, to nodes of this process directly."""

    def __init__(self, node: Node, device: ForceTorqueDevice, transport: InProcessTransport):
        self._numbers = NumbersTopic(node, TOPIC, WrenchStamped(), device.frame)
        self._near = transport.state_subscribers(node.resolve_topic_name(TOPIC))
        self._device = device
        serve(node, Trigger, 'force_torque_sensor_broadcaster/tare', self._tare)

    def show(self, plant: Plant, time_ns: int) -> bytes:
        """Take the wrench of the present state, and return it serialised."""
        self._device = plant.devices.get('force_torque')
        wrench = plant.measured.wrench
        if wrench is not None:
            self._numbers.fill(time_ns, wrench)
        return self._numbers.raw

    def publish(self) -> None:
        """Publish the last wrench."""
        for take in tuple(self._near):
            take(self._numbers.raw)
        self._numbers.publish(len(self._near))

    def _tare(self, request: Trigger.Request, response: Trigger.Response) -> str:
        self._device.sensor.tare()
        periods = self._device.setup.each[0].tare_periods
        return f'tared by the next {periods} readings'
