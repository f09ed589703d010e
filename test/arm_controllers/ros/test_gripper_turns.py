"""A gripper's controller waits for its turn, and gives way to the one that commands."""

import json
from types import SimpleNamespace

import pytest
from domains import fresh_domain
from nodes_in_process import GRIPPER

rclpy = pytest.importorskip('rclpy')

from std_msgs.msg import String  # noqa: E402

from arm_controllers.ros.gripper_controller_node import GripperControllerNode  # noqa: E402
from arm_controllers.ros.in_process import InProcessTransport  # noqa: E402
from arm_controllers.ros.serialized_messages import JointStateWriter  # noqa: E402

PERIOD_NS = 2_000_000


class RestartedGripper:
    """A gripper's controller whose joint is claimed under its own name."""

    def __init__(self, monkeypatch):
        self.now, self.commands = 0.0, []
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr('arm_controllers.ros.active_controllers.time', clock)
        words = [x for o in (f'robot:={GRIPPER}', 'autostart:=true') for x in ('-p', o)]
        rclpy.init(args=['--ros-args', *words], domain_id=int(fresh_domain()))
        transport = InProcessTransport()
        self.node = GripperControllerNode(transport)
        transport.serve_commands('/joint_commands', lambda raw, n: self.commands.append(raw))
        self.inputs = {each.topic_name: each.callback for each in self.node.subscriptions}
        self.claim('gripper_controller')

    def claim(self, *names):
        claims = {name: [self.node.joint] for name in names}
        text = json.dumps({'claims': claims, 'rejected': {}})
        self.inputs['/active_controllers'](String(data=text))

    def state(self, period, at):
        self.now = at
        state = JointStateWriter([self.node.joint], ('position', 'velocity'), 'simulator')
        state.position[:] = 0.04
        self.node.on_state(state.serialized(period * PERIOD_NS))

    def gave_way(self):
        """Whether it no longer commands where its joint is free."""
        self.claim()
        self.state(9000, self.now)
        return not self.commands


@pytest.fixture
def gripper(monkeypatch):
    made = RestartedGripper(monkeypatch)
    yield made
    monkeypatch.undo()
    made.node.destroy_node()
    rclpy.try_shutdown()


def test_a_restarted_gripper_waits_for_the_claim_of_the_one_that_was_killed(gripper):
    # It commanded at once: another publisher of its name, whose commands are rejected for 10 s.
    for second in range(31):
        gripper.state(5000, second)
    gripper.state(5015, 30.01)
    assert gripper.commands == []
    gripper.claim()
    gripper.state(5016, 30.02)
    assert len(gripper.commands) == 1


def test_a_second_gripper_controller_gives_way_to_the_one_that_commands(gripper, capfd):
    # It took claim and goals away from the first one, every 10 s again.
    for k in range(60):
        gripper.state(5000 + k, 0.1 * k)
    assert gripper.gave_way()
    why = "another node named 'gripper_controller' commands this arm; end one of the two"
    assert capfd.readouterr().err.count(why) == 1


def test_states_that_are_sent_again_soon_are_no_time_that_stands_still(gripper):
    # As to a slow law that lives: the second controller of its name waited for ever.
    for k in range(600):
        gripper.state(5000 + k // 10, 0.01 * k)
    assert gripper.gave_way()
