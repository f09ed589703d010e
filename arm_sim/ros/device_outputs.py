"""What the simulator publishes of its devices, under the names of ros2_control's broadcasters.

A file of `arm_sim/ros/outputs/` with the name of a device has its topics, or an entry point of
that name in the group `arm_sim.device_outputs`: a class `Output(node, device, transport)`.
"""

from typing import Protocol

from rclpy.node import Node

from arm_controllers.ros.in_process import InProcessTransport
from arm_dynamics.plugins import PluginRegistry
from arm_sim.simulation.plant import Plant
from arm_sim.simulation.simulation import Simulation


class Output(Protocol):
    """The topics of a device."""

    def show(self, plant: Plant, time_ns: int) -> bytes | None:
        """Take the reading of the present state, whose stamp is `time_ns`.

        A serialised WrenchStamped is returned for tasks and recorders, which do not subscribe.
        """

    def publish(self) -> None:
        """Publish the last reading."""


OUTPUTS = PluginRegistry(
    'device output', 'arm_sim.ros.outputs', 'arm_sim.device_outputs', suffix='Output'
)


class DeviceOutputs:
    """Publishes the readings of each state before the state."""

    def __init__(self, node: Node, simulation: Simulation, transport: InProcessTransport):
        """Open the topics of the devices that the arm has."""
        self._simulation = simulation
        self._outputs: list[Output] = []
        for device in simulation.plant.devices:
            if device.name in OUTPUTS.names():
                self._outputs.append(OUTPUTS.load(device.name)(node, device, transport))

    def show(self) -> list[bytes]:
        """Take the readings of the present state; return serialised wrenches."""
        plant, time_ns = self._simulation.plant, self._simulation.time_ns
        return [raw for output in self._outputs if (raw := output.show(plant, time_ns))]

    def publish(self) -> None:
        """Publish the last readings."""
        for output in self._outputs:
            output.publish()
