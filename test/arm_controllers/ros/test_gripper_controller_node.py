"""The gripper controller's node: goals of its action, their results, and refusals."""

import pytest
import rclpy
from control_msgs.action import GripperCommand
from nodes_in_process import Started
from rclpy.action import ActionClient

from arm_controllers.ros.running import make_executor
from arm_controllers.ros.serialized_messages import JointStateWriter

ROBOT = 'robot:=ur5e gripper:=parallel'
OPTIONS = ('action:=gripper_command', 'autostart:=true', 'allow_stalling:=true')


@pytest.fixture(scope='module')
def gripper():
    arguments = [word for each in (ROBOT, *OPTIONS) for word in ('-p', each)]
    with Started('gripper_controller', *arguments) as node:
        other = rclpy.create_node('client')
        client = ActionClient(other, GripperCommand, 'gripper_controller/gripper_cmd')
        executor = make_executor()
        executor.add_node(node)
        executor.add_node(other)
        state = JointStateWriter([node.joint], ('position', 'velocity'), 'simulator')

        def show(time_ns, position):
            state.position[:], state.velocity[:] = position, 0.0
            node.on_state(state.serialized(time_ns))

        def wait(future):
            executor.spin_until_future_complete(future, timeout_sec=30.0)
            return future.result()

        def send(position, effort=20.0):
            goal = GripperCommand.Goal()
            goal.command.position, goal.command.max_effort = position, effort
            return wait(client.send_goal_async(goal))

        assert client.wait_for_server(timeout_sec=30.0)
        show(0, 0.04)
        yield send, show, wait
        other.destroy_node()


def test_a_goal_stalls_on_an_object_and_a_goal_beyond_the_limits_is_refused(gripper):
    send, show, wait = gripper
    assert not send(0.1).accepted
    handle = send(0.0)
    assert handle.accepted
    for k in range(1, 700):  # the fingers do not move
        show(2_000_000 * k, 0.02)
    result = wait(handle.get_result_async()).result
    assert result.stalled
    assert not result.reached_goal
    assert result.position == 0.02
    assert abs(result.effort + 20.0) < 0.2
