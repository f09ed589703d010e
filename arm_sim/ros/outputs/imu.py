"""The topic of the IMU."""

from rclpy.node import Node
from sensor_msgs.msg import Imu

from arm_controllers.ros.in_process import InProcessTransport
from arm_sim.devices.imu import ImuDevice
from arm_sim.ros.numbers_topic import NumbersTopic
from arm_sim.simulation.plant import Plant


class ImuOutput:
    """Publishes orientation, angular velocity and linear acceleration."""

    def __init__(self, node: Node, device: ImuDevice, transport: InProcessTransport):
        self._numbers = NumbersTopic(node, 'imu_sensor_broadcaster/imu', Imu(), device.frame)

    def show(self, plant: Plant, time_ns: int) -> None:
        """Take the reading of the present state."""
        imu = plant.measured.readings['imu']
        self._numbers.fill(time_ns, imu[:4], imu[4:7], imu[7:])

    def publish(self) -> None:
        """Publish the last reading."""
        self._numbers.publish()
