"""The gripper controller's node: goals of its action, their results, and refusals."""

import json
import struct
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import GripperCommand, ParallelGripperCommand
from domains import fresh_domain
from long_wait import spin_until
from nodes_in_process import GRIPPER, Started
from raw_requests import RawRequests
from rclpy.action import ActionClient
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.ros.gripper_controller_node import GripperControllerNode
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.messages import to_ns
from arm_controllers.ros.qos import CONTROL_QOS
from arm_controllers.ros.running import make_executor
from arm_controllers.ros.serialized_messages import JointStateWriter

KINDS = {'parallel_gripper_command': ParallelGripperCommand, 'gripper_command': GripperCommand}
JOINT, STEP_NS = 'left_finger_joint', 2_000_000
NAN, INF = float('nan'), float('inf')
CANCELED, ABORTED = GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED
SUCCEEDED = GoalStatus.STATUS_SUCCEEDED
CLAIMS = '/active_controllers'
SEND_GOAL = 'gripper_controller/gripper_cmd/_action/send_goal'


class Client:
    """A client of the gripper's action, and a simulator that publishes what a test wants."""

    def __init__(self, started, kind):
        self.started, self.node, self.kind = started, started.node, kind
        self.time_ns, self.commands = 0, []
        self.client = rclpy.create_node('client')
        self.action = ActionClient(self.client, kind, 'gripper_controller/gripper_cmd')
        self.client.create_subscription(
            JointState, 'joint_commands', self.commands.append, CONTROL_QOS
        )
        self.executor = make_executor()
        self.executor.add_node(self.node)
        self.executor.add_node(self.client)
        self.state = JointStateWriter([JOINT], ('position', 'velocity'))
        self.wait(self.action.server_is_ready)
        self.wait(lambda: self.client.count_publishers('joint_commands'))

    def wait(self, condition):
        spin_until(self.executor, condition)

    def show(self, position, velocity=0.0, steps=1):
        """Publish states at rest or in motion, one control period after the other."""
        for _ in range(steps):
            self.time_ns += STEP_NS
            self.state.position[:], self.state.velocity[:] = position, velocity
            self.node.on_state(self.state.serialized(self.time_ns))

    def goal(self, position, effort=20.0, start_ns=0):
        goal = self.kind.Goal()
        if self.kind is GripperCommand:
            goal.command.position, goal.command.max_effort = position, effort
        else:
            goal.command.position, goal.command.effort = [position], [effort]
            goal.command.header.stamp.nanosec = start_ns
        return goal

    def request(self, goal):
        sent = self.action.send_goal_async(goal)
        self.wait(sent.done)
        return sent.result()

    def accepted(self, *values, **stamps):
        """Send a goal that is accepted; return its handle and the future of its result."""
        handle = self.request(self.goal(*values, **stamps))
        assert handle.accepted
        return SimpleNamespace(handle=handle, end=handle.get_result_async())

    def cancel(self, sent):
        future = sent.handle.cancel_goal_async()
        self.wait(future.done)
        return future.result().goals_canceling

    def result(self, sent):
        self.wait(sent.end.done)
        return sent.end.result().status, sent.end.result().result

    def last_effort(self):
        """Return the effort that answers the last state."""
        self.wait(lambda: self.commands and to_ns(self.commands[-1].header.stamp) == self.time_ns)
        return self.commands[-1].effort[0]

    def end_node(self):
        self.executor.remove_node(self.node)
        self.node.destroy_node()
        del self.started.node

    def close(self):
        self.executor.shutdown()
        self.client.destroy_node()


@pytest.fixture(scope='module', params=KINDS)
def gripper(request):
    """Give a client of a gripper controller with this action."""
    options = (f'robot:={GRIPPER}', f'action:={request.param}', 'autostart:=true')
    options += ('allow_stalling:=true', 'stall_timeout:=0.1', 'goal_tolerance:=0.001')
    started = Started('gripper_controller', *(x for o in options for x in ('-p', o)))
    with started:
        client = Client(started, KINDS[request.param])
        client.show(0.04)
        yield client
        client.close()


PARALLEL = pytest.mark.parametrize(
    'gripper', ['parallel_gripper_command'], indirect=True, scope='module'
)


def position_of(result):
    return result.state.position[0] if hasattr(result, 'state') else result.position


def test_in_the_process_of_the_simulator_states_and_commands_are_handed_over():
    transport, commands = InProcessTransport(), []  # the first test: no other node is here
    arguments = [x for o in (f'robot:={GRIPPER}', 'autostart:=true') for x in ('-p', o)]
    rclpy.init(args=['--ros-args', *arguments], domain_id=int(fresh_domain()))
    try:
        node = GripperControllerNode(transport)
        transport.serve_commands('/joint_commands', lambda raw, count: commands.append(raw))
        takes = transport.state_subscribers('/joint_states')
        state = JointStateWriter([JOINT], ('position', 'velocity'))
        state.position[:], state.velocity[:] = 0.04, 0.0
        for take in tuple(takes):
            take(state.serialized(STEP_NS))
        command = deserialize_message(commands[-1], JointState)
        assert (command.name, to_ns(command.header.stamp)) == ([JOINT], STEP_NS)
        node.destroy_node()
        assert not takes
    finally:
        rclpy.try_shutdown()


def test_a_goal_stalls_on_an_object(gripper):
    sent = gripper.accepted(0.0)
    gripper.show(0.02, steps=100)
    status, result = gripper.result(sent)
    assert status == SUCCEEDED
    assert result.stalled
    assert not result.reached_goal
    assert position_of(result) == 0.02
    effort = result.state.effort[0] if hasattr(result, 'state') else result.effort
    assert abs(effort + 20.0) < 0.2


def test_a_goal_ends_where_no_state_comes_any_more(gripper, capfd):
    gripper.show(0.03)
    sent = gripper.accepted(0.0)
    gripper.show(0.03)
    second = next(each for each in gripper.node.timers if each.timer_period_ns == 10**9)
    for _ in range(10):
        second.callback()
    assert not sent.end.done()
    second.callback()
    assert gripper.result(sent)[0] == ABORTED
    assert 'goals ended: no state for 11 s: ' in capfd.readouterr().err
    gripper.show(0.03)  # the simulator is back
    again = gripper.accepted(0.02)
    gripper.show(0.03)
    second.callback()
    gripper.show(0.0201, steps=5)
    assert gripper.result(again)[0] == SUCCEEDED


def test_while_time_is_stopped_goals_wait_with_a_line_and_end_by_a_cancel(gripper, capfd):
    gripper.show(0.03)
    second = next(each for each in gripper.node.timers if each.timer_period_ns == 10**9)

    def pause(seconds):
        for _ in range(seconds):  # the newest state comes again
            gripper.time_ns -= STEP_NS
            gripper.show(0.03)
            second.callback()

    pause(12)
    sent = gripper.accepted(0.0)
    pause(8)
    assert 'goals wait' not in capfd.readouterr().err
    pause(10)
    assert not sent.end.done()
    at = f'goals wait: time is stopped at {gripper.time_ns * 1e-9:.3f} s: '
    assert capfd.readouterr().err.count(at) == 1
    assert gripper.cancel(sent)
    gripper.time_ns -= STEP_NS
    gripper.show(0.03)
    assert gripper.result(sent)[0] == CANCELED
    assert 'goals ended' not in capfd.readouterr().err  # by the cancel, not for want of a state


def test_a_canceled_goal_ends_and_the_gripper_holds_where_it_is(gripper):
    gripper.show(0.03)
    sent = gripper.accepted(0.0)
    gripper.show(0.03, -0.05, steps=10)
    assert gripper.cancel(sent)
    gripper.show(0.02)
    status, result = gripper.result(sent)
    assert (status, position_of(result)) == (CANCELED, 0.02)
    gripper.show(0.02, steps=200)
    assert abs(gripper.last_effort()) < 1e-9
    gripper.show(0.019, steps=3)
    assert gripper.last_effort() > 1.0  # back to 0.02
    gripper.show(0.021, steps=3)
    assert gripper.last_effort() < -1.0


def test_a_new_goal_ends_the_running_one_and_is_reached(gripper):
    first = gripper.accepted(0.0)
    gripper.show(0.03, steps=10)
    second = gripper.accepted(0.042)
    status, result = gripper.result(first)
    assert status == ABORTED
    assert not result.reached_goal
    assert not result.stalled
    gripper.show(0.03, steps=5)
    assert gripper.last_effort() > 1.0  # it opens
    gripper.show(0.0415, 0.05)
    status, result = gripper.result(second)
    assert status == SUCCEEDED
    assert result.reached_goal


def test_a_refused_goal_changes_nothing_of_the_running_one(gripper, capfd):
    sent = gripper.accepted(0.01)
    gripper.show(0.03, steps=10)
    refused = [
        (NAN, 20.0), (INF, 20.0), (-INF, 20.0), (0.1, 20.0), (-0.01, 20.0), (1e300, 20.0),
        (0.0, NAN), (0.0, INF), (0.0, -1.0),
    ]  # fmt: skip
    for position, effort in refused:
        assert not gripper.request(gripper.goal(position, effort)).accepted
    lines = capfd.readouterr().err
    assert f"position of the goal of joint '{JOINT}' is nan; it must be finite" in lines
    gripper.show(0.0105)
    status, result = gripper.result(sent)
    assert status == SUCCEEDED
    assert result.reached_goal


def test_a_state_that_is_no_number_is_dropped(gripper):
    sent = gripper.accepted(0.01)
    gripper.show(0.02, steps=5)
    seen = gripper.last_effort()
    gripper.show(NAN)
    gripper.show(0.02, INF)
    gripper.node.on_state(b'\0\1\0\0' + b'\xff' * 60)
    gripper.show(0.02)
    assert abs(gripper.last_effort() - seen) < 20.0
    gripper.show(0.0105)
    assert gripper.result(sent)[0] == SUCCEEDED


def test_bytes_that_are_no_goal_change_nothing(gripper):
    sender = RawRequests(gripper.client, f'/{SEND_GOAL}', gripper.kind.Impl.SendGoalService)
    gripper.wait(sender.matched)
    good = bytes(serialize_message(sender.request(goal=gripper.goal(0.01))))
    rng = np.random.default_rng(0)
    hostile = [good[:10], good[:-4], good[:4], b'\0', b'\x99\x99\0\0' + good[4:]]
    hostile += [good[:4] + b'\xff' * 200, good[:4] + rng.bytes(200)]
    hostile += [good[:k] + struct.pack('<I', 2**16) + good[k + 4 :] for k in range(20, 60, 4)]
    for raw in hostile:
        sender.send(raw)
    sent = gripper.accepted(0.01)
    gripper.show(0.02, steps=5)
    gripper.show(0.0105)
    assert gripper.result(sent)[0] == SUCCEEDED


@PARALLEL
@pytest.mark.parametrize(
    ('field', 'value', 'message'),
    [
        ('name', [''], "name is ['']; allowed: ['left_finger_joint'] or none"),
        ('name', ['x' * 100_000], "name is ['xxx"),
        ('name', [JOINT, JOINT], 'name is ['),
        ('position', [], 'position has 0 values; allowed: 1'),
        ('position', [0.01, 0.01], 'position has 2 values; allowed: 1'),
        ('effort', [1.0] * 5, 'effort has 5 values; allowed: 1 or none'),
        ('velocity', [1.0, 1.0], 'velocity has 2 values; allowed: 1 or none'),
        ('velocity', [-0.1], f"max_velocity of the goal of joint '{JOINT}' is -0.1; it must be"),
        ('velocity', [NAN], f"max_velocity of the goal of joint '{JOINT}' is nan; it must be"),
    ],
)
def test_a_goal_with_other_joints_or_counts_is_refused(gripper, capfd, field, value, message):
    goal = gripper.goal(0.01)
    setattr(goal.command, field, value)
    lines = []

    def refused():
        assert not gripper.request(goal).accepted
        lines.extend(x for x in capfd.readouterr().err.splitlines() if 'goal refused' in x)
        return lines  # of many in a second some are left out

    gripper.wait(refused)
    assert message in lines[0]
    assert len(lines[0]) < 700


@PARALLEL
def test_a_waiting_goal_begins_at_its_stamp_or_is_canceled(gripper):
    now = gripper.time_ns
    running = gripper.accepted(0.0)
    first, second = (gripper.accepted(0.03, start_ns=now + ns) for ns in (20 * STEP_NS, 10**8))
    assert gripper.cancel(first)
    gripper.show(0.02, -0.05)
    status, result = gripper.result(first)
    assert (status, result.state.position[0]) == (CANCELED, 0.02)
    gripper.show(0.02, -0.05, steps=40)
    assert not running.end.done()
    gripper.show(0.02, -0.05, steps=20)
    assert gripper.result(running)[0] == ABORTED
    gripper.show(0.0301, -0.05)
    assert gripper.result(second)[0] == SUCCEEDED


@PARALLEL
def test_deactivation_aborts_all_goals_and_the_next_activation_holds(gripper):
    running = gripper.accepted(0.0)
    waiting = gripper.accepted(0.03, start_ns=900_000_000)
    gripper.show(0.03, -0.05, steps=5)
    gripper.node.trigger_deactivate()
    for sent in (running, waiting):
        status, result = gripper.result(sent)
        assert status == ABORTED
        assert not result.reached_goal
        assert result.state.position[0] == 0.03
    gripper.wait(lambda: gripper.commands and not gripper.commands[-1].name)  # its release
    assert not gripper.request(gripper.goal(0.0)).accepted
    count = len(gripper.commands)
    gripper.show(0.025, steps=2)
    gripper.node.trigger_activate()
    gripper.show(0.025, steps=2)
    assert abs(gripper.last_effort()) < 1e-9
    assert all(not each.name for each in gripper.commands[count:-2])


@PARALLEL
def test_a_refused_goal_has_the_reason_of_the_simulator(gripper, capfd):
    (claims,) = (x.callback for x in gripper.node.subscriptions if x.topic_name == CLAIMS)

    def refusal():
        lines = []

        def refused():
            assert not gripper.request(gripper.goal(0.0)).accepted
            lines.extend(x for x in capfd.readouterr().err.splitlines() if 'goal refused' in x)
            return lines  # of many in a second some are left out

        gripper.wait(refused)
        return lines[-1]

    why = 'start the simulator with actuator torque'
    claims(String(data=json.dumps({'claims': {}, 'rejected': {'gripper_controller': why}})))
    assert f'goal refused: {why}' in refusal()
    claims(String(data=json.dumps({'claims': {}, 'rejected': {}})))
    gripper.node.trigger_deactivate()
    assert 'goal refused: the controller is not active' in refusal()
    gripper.node.trigger_activate()
    gripper.show(0.02, steps=2)


@PARALLEL
def test_a_goal_before_the_first_state_waits_for_it(gripper):
    gripper.node.trigger_deactivate()
    gripper.node.trigger_activate()  # as at the start
    sent = gripper.accepted(0.01)
    gripper.show(0.02)
    assert not sent.end.done()
    gripper.show(0.0101)
    status, result = gripper.result(sent)
    assert (status, result.reached_goal) == (SUCCEEDED, True)


@PARALLEL
def test_a_goal_that_no_state_comes_for_ends(gripper, monkeypatch):
    gripper.node.trigger_deactivate()
    gripper.node.trigger_activate()
    sent = gripper.accepted(0.01)
    monkeypatch.setattr('arm_controllers.ros.gripper_controller_node.LONGEST_WAIT', 0.0)
    assert gripper.result(sent)[0] == ABORTED
    gripper.show(0.02)


@PARALLEL
def test_a_stamp_of_the_wall_clock_is_named_and_does_not_wait_for_years(gripper, capfd):
    goal = gripper.goal(0.01)
    goal.command.header.stamp.sec = 1_790_000_000
    lines = []

    def refused():
        end = gripper.request(goal).get_result_async()
        assert gripper.result(SimpleNamespace(end=end))[0] == ABORTED
        lines.extend(x for x in capfd.readouterr().err.splitlines() if 'goal refused' in x)
        return lines  # of many in a second some are left out

    gripper.wait(refused)
    assert 'stamp is 1790000000.000 s' in lines[0]
    assert 'set use_sim_time to true in the client, or leave the stamp at zero' in lines[0]


@PARALLEL
def test_a_reset_ends_the_goal(gripper):
    sent = gripper.accepted(0.0)
    gripper.show(0.03, -0.05, steps=5)
    gripper.time_ns = 0
    gripper.show(0.04)
    assert gripper.result(sent)[0] == ABORTED
    assert abs(gripper.last_effort()) < 1e-9


@PARALLEL
def test_goals_end_with_the_node(gripper):  # the last test of this gripper
    heard = []
    sent = gripper.action.send_goal_async(gripper.goal(0.0), heard.append)
    gripper.wait(sent.done)
    end = sent.result().get_result_async()
    gripper.show(0.03, -0.05, steps=20)
    gripper.wait(lambda: heard)  # the server has the request of the result, too
    gripper.end_node()
    gripper.wait(end.done)
    assert end.result().status == ABORTED
