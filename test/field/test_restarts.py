"""Restarts: controllers that are killed, their claims, and the first goal after that."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from domains import fresh_domain
from following import HOME, NAMES, REST, goal
from long_wait import spin_until

rclpy = pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from arm_controllers.cycle_state import CycleState  # noqa: E402
from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.messages import set_stamp, trajectory_message  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402

OWN = 'computed_torque_controller'
PERIOD_NS = 2_000_000


class Restarted:
    """A controller whose arm is claimed under its own name, as after the death of another one."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr('arm_controllers.ros.active_controllers.time', clock)
        words = ['--ros-args', *as_arguments(files_of('ur5e')), '-p', f'{OWN}:mode:=lockstep']
        rclpy.init(args=words, domain_id=int(fresh_domain()))
        self.node, self.executor = ControllerNode('computed_torque'), SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.node.trigger_configure()
        self.node.trigger_activate()
        self.inputs = {each.topic_name: each.callback for each in self.node.subscriptions}
        self.claim(OWN)
        goal_in_1_s = serialize_message(trajectory_message(goal([1.0], [HOME + 0.1])))
        self.inputs[f'/{OWN}/joint_trajectory'](bytes(goal_in_1_s))

    def claim(self, *names):
        claims = {name: list(NAMES) for name in names}
        text = json.dumps({'claims': claims, 'rejected': {}})
        self.inputs['/active_controllers'](String(data=text))

    def state(self, period, at):
        """Receive the state of a period at a time [s] of the wall clock."""
        self.now = at
        message = JointState(name=list(NAMES), position=list(HOME), velocity=list(REST))
        message.effort, message.header.frame_id = [0.0] * 6, 'simulator'
        set_stamp(message.header.stamp, period * PERIOD_NS)
        self.inputs['/joint_states'](bytes(serialize_message(message)))


@pytest.fixture
def restarted(monkeypatch):
    made = Restarted(monkeypatch)
    yield made
    monkeypatch.undo()
    made.node.destroy_node()
    made.executor.shutdown()
    rclpy.try_shutdown()


def test_a_restarted_controller_aborts_its_first_goal(restarted):
    """PR2/pr2_controllers#294. The goal waits until the arm is free.

    In lock-step time stands still for 30 s of the wall clock for the controller that was killed,
    and its claim ends then, before or after the first state that follows.
    """
    arm = restarted
    for second in range(31):
        arm.state(5000, second)
    arm.state(5015, 30.01)
    assert arm.node.cycle.state is CycleState.WAITING
    assert arm.node.cycle.goals.refused == 0
    arm.claim()
    follower = arm.node.cycle.follower
    spin_until(arm.executor, lambda: follower.goals)
    np.testing.assert_allclose(follower.peek(5015 * PERIOD_NS + 2_000_000_000).q, HOME + 0.1)


def test_a_goal_is_accepted_and_never_followed(restarted):
    """ros-industrial/industrial_core#187. It ends with the reason: end one of the two.

    Where time goes on, the other node of this name lives: after 5 s this one gives way.
    """
    arm = restarted
    for k in range(60):
        arm.state(5000 + k, 0.1 * k)
    assert arm.node.cycle.state is CycleState.INACTIVE
    why = f"another node named '{OWN}' commands this arm; end one of the two"
    assert arm.node.cycle.goals.problem == f'goal refused: {why}'
    assert arm.node.cycle.goals.refused == 1
