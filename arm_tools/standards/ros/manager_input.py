"""Input of the simulator from joint_state_broadcaster: the state that a manager has read."""

from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader
from arm_dynamics.checks import ArmError
from arm_sim.ros.simulator_service import RunningSimulator
from arm_tools.standards.manager_pacing import ManagerPacing

TOPIC = '~/read_states'  # the launch file remaps it to the broadcaster's joint_states


def manager_input(simulator: RunningSimulator) -> None:
    """Give the pacing of a lock-step with a manager what joint_state_broadcaster publishes."""
    pacing = simulator.clock.pacing
    if not isinstance(pacing, ManagerPacing):
        return
    reader = JointStateReader(simulator.plant.joint_names, FIELDS)

    def on_read(raw: bytes) -> None:
        try:
            reader.open(raw)
            read = [reader.values(name).tobytes() for name in FIELDS]
        except ArmError:  # joints that are not read yet are NaN
            if reader.empty:
                return
            read = []
        pacing.read(reader.time_ns, read)

    qos = QoSProfile(depth=10)
    simulator.node.create_subscription(JointState, TOPIC, on_read, qos, raw=True)
