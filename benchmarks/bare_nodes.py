"""Nodes of benchmarks/lockstep.py that exchange states and commands: bare, usual, typed."""

import time

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState

from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_controllers.ros.messages import set_stamp, to_ns
from arm_controllers.ros.process_settings import pin_to_core
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, CONTROL_QOS, STATE_QOS
from arm_controllers.ros.running import make_executor
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader, JointStateWriter
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.plant import PlantParameters

CORE = 0
JOINTS = 6
JOINT_NAMES = [f'joint_{i}' for i in range(JOINTS)]


class BareSimulator(Node):
    """Answers each command with the next state message, and prints its rate."""

    def __init__(self):
        super().__init__('bare_simulator')
        self.steps = 0
        self.state = JointStateWriter(JOINT_NAMES, FIELDS)
        self.command = JointStateReader(JOINT_NAMES, ('position',))
        self.publisher = self.create_publisher(JointState, 'joint_states', STATE_QOS)
        self.create_subscription(
            JointState, 'joint_commands', self.on_command, CONTROL_INPUT_QOS, raw=True
        )
        self.create_timer(0.2, self.publish)

    def on_command(self, message: bytes) -> None:
        """Count and answer."""
        self.command.open(message)
        if self.command.time_ns == self.steps:
            self.state.position[:] = self.command.values('position')
            self.steps += 1
            self.publish()

    def publish(self) -> None:
        """Send the state."""
        self.publisher.publish(self.state.serialized(self.steps))


class BareController(Node):
    """Answers each state with a command message."""

    def __init__(self):
        super().__init__('bare_controller')
        self.command = JointStateWriter(JOINT_NAMES, ('position',))
        self.state = JointStateReader(JOINT_NAMES, FIELDS[:2])
        self.publisher = self.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
        self.create_subscription(
            JointState, 'joint_states', self.on_state, CONTROL_INPUT_QOS, raw=True
        )

    def on_state(self, message: bytes) -> None:
        """Answer."""
        self.state.open(message)
        self.command.position[:] = self.state.values('position')
        self.command.position += self.state.values('velocity')
        self.publisher.publish(self.command.serialized(self.state.time_ns))


def arm() -> RobotModel:
    """Return the arm of both nodes."""
    return RobotModel.from_urdf(find_urdf('ur5e'), armature=0.1)


class UsualSimulator(Node):
    """A simulator node as it is usually written."""

    def __init__(self):
        super().__init__('usual_simulator')
        self.steps = 0
        parameters = PlantParameters(actuator='torque')
        self.plant = MujocoPlant(arm(), parameters)
        self.publisher = self.create_publisher(JointState, 'joint_states', 10)
        self.create_subscription(JointState, 'joint_commands', self.on_command, 10)
        self.create_timer(0.2, self.publish)

    def on_command(self, message: JointState) -> None:
        """Step and answer."""
        if to_ns(message.header.stamp) == self.steps:
            self.plant.step(np.array(message.effort))
            self.steps += 1
            self.publish()

    def publish(self) -> None:
        """Send the state in a fresh message."""
        message = JointState()
        set_stamp(message.header.stamp, self.steps)
        message.name = list(self.plant.joint_names)
        message.position = self.plant.q.tolist()
        message.velocity = self.plant.v.tolist()
        message.effort = self.plant.effort.tolist()
        self.publisher.publish(message)


class UsualController(Node):
    """A computed-torque node as it is usually written."""

    def __init__(self):
        super().__init__('usual_controller')
        self.model = arm()
        self.law = ComputedTorque(self.model, ComputedTorqueParameters())
        self.reference, self.law_state = Reference(JOINTS), ()
        self.publisher = self.create_publisher(JointState, 'joint_commands', 10)
        self.create_subscription(JointState, 'joint_states', self.on_state, 10)

    def on_state(self, state: JointState) -> None:
        """Answer with a fresh message."""
        measured = Measurement(np.array(state.position), np.array(state.velocity))
        tau, self.law_state = self.law(self.law_state, measured, self.reference, 0.002)
        message = JointState()
        message.header.stamp = state.header.stamp
        message.name = list(state.name)
        message.effort = tau.tolist()
        self.publisher.publish(message)


class TypedSimulator(Node):
    """Answers each command with the next state, a Python message that is used again and again."""

    def __init__(self):
        super().__init__('typed_simulator')
        self.steps = 0
        self.state = JointState(name=JOINT_NAMES)
        self.state.velocity = self.state.effort = [0.0] * JOINTS
        self.publisher = self.create_publisher(JointState, 'joint_states', STATE_QOS)
        self.create_subscription(JointState, 'joint_commands', self.on_command, CONTROL_INPUT_QOS)
        self.create_timer(0.2, self.publish)

    def on_command(self, command: JointState) -> None:
        """Count and answer."""
        if to_ns(command.header.stamp) == self.steps:
            self.state.position = command.position
            self.steps += 1
            self.publish()

    def publish(self) -> None:
        """Send the state."""
        set_stamp(self.state.header.stamp, self.steps)
        self.publisher.publish(self.state)


class TypedController(Node):
    """Answers each state with a Python message that is used again and again."""

    def __init__(self):
        super().__init__('typed_controller')
        self.command = JointState(name=JOINT_NAMES)
        self.publisher = self.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
        self.create_subscription(JointState, 'joint_states', self.on_state, CONTROL_INPUT_QOS)

    def on_state(self, state: JointState) -> None:
        """Answer."""
        self.command.header.stamp, self.command.position = state.header.stamp, state.position
        self.publisher.publish(self.command)


# The nodes of each process of a row.
ROLES = {
    'floor': ((BareSimulator,), (BareController,)),
    'usual': ((UsualSimulator,), (UsualController,)),
    'bare': ((BareSimulator, BareController),),
    'typed': ((TypedSimulator, TypedController),),
}


def run_role(row: str, process: int) -> None:
    """Run the nodes of one process of a row; the first prints its steps every 0.25 s."""
    rclpy.init()
    nodes = [make() for make in ROLES[row][process]]
    executor = SingleThreadedExecutor() if row == 'usual' else make_executor()
    for node in nodes:
        executor.add_node(node)
    if row != 'usual':
        pin_to_core(CORE)
    if process == 0:
        nodes[0].create_timer(0.25, lambda: print(time.monotonic(), nodes[0].steps, flush=True))
    while rclpy.ok():
        executor.spin_until_future_complete(rclpy.task.Future(), timeout_sec=1.0)
