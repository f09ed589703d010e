"""What the simulator shows: joint_states, /clock, robot_description, lines for the user.

One simulator shows an arm: a second one finds the first at its start, and gives way.
"""

import os
import socket
import time
from secrets import token_hex

import rclpy
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, CONTROL_QOS, LATCHED_QOS, STATE_QOS
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader, JointStateWriter
from arm_dynamics.checks import ArmError
from arm_sim.executables import LAUNCH
from arm_sim.plants.simulation import Simulation

_LONGEST_WAIT = 2.0  # for a state of another simulator that the graph still shows [s]


class StateOutput:
    """Publishes the states of a simulation: the audience of its clock."""

    def __init__(self, node: Node, simulation: Simulation, clock_rate: float):
        """`clock_rate`: of /clock [Hz of simulated time]."""
        self._simulation = simulation
        # Each start of a simulator has a name of its own, which its states bear.
        launch = f' of launch {os.environ[LAUNCH]}' if LAUNCH in os.environ else ''
        where = f'process {os.getpid()}{launch} on {socket.gethostname()}'
        sender = f'{node.get_name()} {token_hex(4)}, {where}'
        self._state = JointStateWriter(simulation.plant.joint_names, FIELDS, sender)
        self._shown = b''
        self._clock = Clock()
        self.set_clock_rate(clock_rate)
        self._state_publisher = node.create_publisher(JointState, 'joint_states', STATE_QOS)
        self._clock_publisher = node.create_publisher(Clock, '/clock', CONTROL_QOS)
        description = node.create_publisher(String, 'robot_description', LATCHED_QOS)
        description.publish(String(data=simulation.model.urdf))
        log = Log(node)
        self.warn, self.fail = log.warning, log.error

    def set_clock_rate(self, rate: float) -> None:
        """Publish /clock so often [Hz of simulated time], and no more often than states."""
        self._clock_every = max(1, round(1e9 / (rate * self._simulation.period_ns)))

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


class OtherSimulator:
    """Listens for states until `refuse`, which is called before this node shows its first."""

    def __init__(self, node: Node):
        """Begin to listen."""
        self._node, self._state = node, b''
        self._input = node.create_subscription(
            JointState, 'joint_states', self._on_state, CONTROL_INPUT_QOS, raw=True
        )

    def _on_state(self, raw: bytes) -> None:
        self._state = raw

    def refuse(self) -> None:
        """Raise ArmError where another node of this name shows states; listen no longer."""
        node, end = self._node, time.monotonic() + _LONGEST_WAIT
        own = node.get_name(), node.get_namespace()
        while node.get_node_names_and_namespaces().count(own) > 1 and not self._state:
            if time.monotonic() > end:  # killed not long ago
                break
            rclpy.spin_once(node, timeout_sec=0.05)
        node.destroy_subscription(self._input)
        if self._state:
            reader = JointStateReader((), ())
            reader.open(self._state)
            raise ArmError(
                f'the arm is simulated already, by {reader.sender!r}: end that, or take another '
                'ROS_DOMAIN_ID'
            )
