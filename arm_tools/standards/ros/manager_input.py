"""Input of the simulator from joint_state_broadcaster: the state that a manager has read."""

from collections.abc import Sequence

from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader
from arm_dynamics.checks import ArmError
from arm_sim.ros.simulator_service import RunningSimulator
from arm_tools.standards.manager_pacing import ManagerPacing

TOPIC = '~/read_states'  # the launch file remaps it to the broadcaster's joint_states


class ManagerInput:
    """Gives the pacing what joint_state_broadcaster publishes."""

    def __init__(self, node: Node, pacing: ManagerPacing, joint_names: Sequence[str]):
        """Subscribe."""
        self._pacing = pacing
        self._reader = JointStateReader(joint_names, FIELDS)
        node.create_subscription(JointState, TOPIC, self._on_read, QoSProfile(depth=10), raw=True)

    def _on_read(self, raw: bytes) -> None:
        reader = self._reader
        try:
            reader.open(raw)
            read = [reader.values(name).tobytes() for name in FIELDS]
        except ArmError:  # joints that are not read yet are NaN
            if reader.empty:
                return
            read = []
        self._pacing.read(reader.time_ns, read)


def manager_input(simulator: RunningSimulator) -> ManagerInput | None:
    """Open the input of a simulator in lock-step with a manager."""
    pacing = simulator.clock.pacing
    if not isinstance(pacing, ManagerPacing):
        return None
    return ManagerInput(simulator.node, pacing, simulator.plant.joint_names)
