"""What the simulator shows: joint_states, /clock, robot_description, and lines for the user."""

from secrets import token_hex

from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.qos import CONTROL_QOS, LATCHED_QOS, STATE_QOS
from arm_controllers.ros.serialized_messages import FIELDS, JointStateWriter
from arm_sim.plants.simulation import Simulation


class StateOutput:
    """Publishes the states of a simulation: the audience of its clock."""

    def __init__(self, node: Node, simulation: Simulation, clock_rate: float):
        """`clock_rate`: of /clock [Hz of simulated time]."""
        self._simulation = simulation
        # Each start of a simulator has a name of its own, which its states bear.
        sender = f'{node.get_name()} {token_hex(4)}'
        self._state = JointStateWriter(simulation.plant.joint_names, FIELDS, sender)
        self._shown = b''
        self._clock = Clock()
        self._clock_every = max(1, round(1e9 / (clock_rate * simulation.period_ns)))
        self._state_publisher = node.create_publisher(JointState, 'joint_states', STATE_QOS)
        self._clock_publisher = node.create_publisher(Clock, '/clock', CONTROL_QOS)
        description = node.create_publisher(String, 'robot_description', LATCHED_QOS)
        description.publish(String(data=simulation.model.urdf))
        self.warn, self.fail = node.get_logger().warning, node.get_logger().error

    def show(self) -> None:
        """Publish the present state."""
        simulation, state = self._simulation, self._state
        plant, time_ns = simulation.plant, simulation.time_ns
        state.position[:], state.velocity[:], state.effort[:] = plant.q, plant.v, plant.effort
        self._shown = state.serialized(time_ns)
        self._state_publisher.publish(self._shown)
        if simulation.steps % self._clock_every == 0 and (
            self._clock_publisher.get_subscription_count()  # else nobody pays for it
        ):
            set_stamp(self._clock.clock, time_ns)
            self._clock_publisher.publish(self._clock)

    def show_again(self) -> None:
        """Publish the last state once more, bit for bit."""
        self._state_publisher.publish(self._shown)
