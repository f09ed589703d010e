"""Simulator and controller of one process next to nodes that subscribe later."""

import pytest
from long_wait import spin_until

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.in_process import InProcessTransport  # noqa: E402
from arm_controllers.ros.messages import to_ns  # noqa: E402
from arm_controllers.ros.qos import RECORD_QOS  # noqa: E402
from arm_controllers.ros.running import make_executor  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402
from arm_sim.ros.simulator_node import SimulatorNode  # noqa: E402


@pytest.fixture
def arm():
    """A simulator that steps with its controller, in one process on one executor."""
    arguments = [
        *as_arguments(files_of('planar_3r')),
        '-p',
        'autostart:=true',
        '-p',
        'actuator:=torque',
    ]
    rclpy.init(args=['--ros-args', *arguments], domain_id=int(fresh_domain()))
    transport, executor = InProcessTransport(), make_executor()
    nodes = [SimulatorNode(transport), ControllerNode('computed_torque', transport)]
    nodes.append(rclpy.create_node('listener'))
    for node in nodes:
        executor.add_node(node)
    spin_until(executor, lambda: nodes[0].simulation.steps > 100)
    yield executor, *nodes
    for node in reversed(nodes):  # the controller releases the arm
        node.destroy_node()
    rclpy.try_shutdown()


def test_a_node_that_subscribes_later_gets_states_and_the_commands_that_answer_them(arm):
    executor, simulator, _, listener = arm
    states, commands = [], []
    for topic, found in (('joint_states', states), ('joint_commands', commands)):
        listener.create_subscription(JointState, topic, found.append, RECORD_QOS)
    spin_until(executor, lambda: len(states) > 10 and len(commands) > 10)
    shown = {to_ns(each.header.stamp) for each in states}
    assert len(shown & {to_ns(each.header.stamp) for each in commands}) > 5
    begin = simulator.simulation.steps
    spin_until(executor, lambda: simulator.simulation.steps > begin + 100)
