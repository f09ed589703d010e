"""The input stage of a control cycle: which states it hands over, and with what."""

from types import SimpleNamespace

import numpy as np
import pytest
from following import HOME, NAMES, REST, make

pytest.importorskip('rclpy')

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from arm_controllers.cycle_state import CycleState
from arm_controllers.follower.state_sequence import StateOrder
from arm_controllers.ros import running, state_input
from arm_controllers.ros.cdr import serialized
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.messages import set_numbers, set_stamp
from arm_controllers.ros.state_input import StateInput
from arm_dynamics.checks import ArmError

PERIOD_NS = 2_000_000


class NodeOfTopics:
    """A node whose topics nobody else has."""

    def __init__(self):
        self.topics, self.publishers = [], 0

    def create_subscription(self, kind, topic, take, *_, **__):
        self.topics.append(topic)
        return SimpleNamespace(topic_name=topic)

    def get_logger(self):
        return SimpleNamespace(warning=print)

    def destroy_subscription(self, subscription):
        self.topics.remove(subscription.topic_name)

    def count_publishers(self, topic):
        return self.publishers


class User:
    """Answers states: it keeps them."""

    def __init__(self):
        self.state, self.allowed, self.answers, self.again = CycleState.COMMANDING, True, [], 0
        self.asked = []

    def awaits_state(self):
        return self.state in (CycleState.WAITING, CycleState.READY)

    def may_begin(self, sender, time_ns):
        self.asked.append(sender)
        return self.allowed

    def answer(self, time_ns, measured, order):
        copied = [None if each is None else each.copy() for each in measured]
        self.answers.append((time_ns, copied, order))
        self.state = CycleState.COMMANDING

    def answer_again(self):
        self.again += 1


class Setup:
    """A StateInput in this process, to which messages are handed one by one."""

    def __init__(self, needs=(), goal_needs=(), mode='lockstep', **rules):
        self.node, self.user, self.dropped = NodeOfTopics(), User(), []
        self.follower, self.transport = make(**rules), InProcessTransport()
        law = SimpleNamespace(needs=needs, goal_needs=goal_needs)
        parameters = SimpleNamespace(period_ns=PERIOD_NS, mode=mode)
        drop = self.dropped.append
        self.input = StateInput(
            self.node, parameters, law, self.follower, self.transport, self.user, drop
        )

    def state(self, period, sender='arm', q=HOME, effort=None):
        message = JointState(name=list(NAMES))
        message.header.frame_id = sender
        set_numbers(message, position=q, velocity=REST)
        if effort is not None:
            set_numbers(message, effort=effort)
        set_stamp(message.header.stamp, period * PERIOD_NS)
        for take in self.transport.state_subscribers('joint_states'):
            take(serialized(message))
        return len(self.user.answers)

    def wrench(self, period, x):
        message = WrenchStamped()
        message.wrench.force.x = x
        set_stamp(message.header.stamp, period * PERIOD_NS)
        for take in self.transport.state_subscribers('force_torque_sensor_broadcaster/wrench'):
            take(serialized(message))
        return len(self.user.answers)


def test_a_state_is_handed_over_once_with_what_the_law_needs():
    setup = Setup(needs=('effort', 'wrench'))
    effort = np.arange(6.0)
    assert setup.state(0, effort=effort) == 0  # its wrench is not here
    assert setup.wrench(0, 3.0) == 1
    time_ns, (q, v, torque, wrench, readings), order = setup.user.answers[0]
    assert readings == {}
    assert (time_ns, order) == (0, StateOrder.JUMPED)  # the sender is another one
    np.testing.assert_array_equal(q, HOME)
    np.testing.assert_array_equal(v, REST)
    np.testing.assert_array_equal(torque, effort)
    np.testing.assert_array_equal(wrench, [3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert setup.state(1) == 1
    assert setup.wrench(1, 0.0) == 1
    assert '0 effort values for 6 joint names' in str(setup.dropped[-1])


def test_what_a_law_does_not_need_is_not_subscribed_to():
    setup = Setup()
    assert setup.node.topics == ['joint_states']
    setup.state(0, effort=np.ones(6))
    assert setup.user.answers[0][1][2:] == [None, None, {}]
    np.testing.assert_array_equal(setup.input.effort(), np.ones(6))  # for reports
    setup.state(1)
    assert setup.input.effort().size == 0
    setup.state(2, effort=np.full(6, np.nan))
    assert setup.input.effort().size == 0
    assert setup.dropped == []


def test_inputs_follow_what_laws_and_goals_need():
    setup = Setup(clearance=0.01)
    wrench, objects = 'force_torque_sensor_broadcaster/wrench', 'simulator/objects'
    assert sorted(setup.node.topics) == ['joint_states', objects]
    setup.follower.set_parameters(type(setup.follower.parameters)())
    setup.input.listen(SimpleNamespace(needs=(), goal_needs=('wrench',)))
    assert sorted(setup.node.topics) == [wrench, 'joint_states']
    assert setup.state(0) == 1  # no wrench goal
    with pytest.raises(ArmError, match=f"no wrench on {wrench}: set the simulator's force_torque"):
        setup.input.expect_wrench()
    setup.node.publishers = 1
    setup.input.expect_wrench()
    setup.input.close()
    assert setup.node.topics == []
    assert setup.state(1) == 1


def test_a_repeated_state_gets_the_same_answer_and_an_overtaken_one_gets_none():
    setup = Setup()
    for period in (1, 2, 2, 1, 3):
        setup.state(period)
    assert [time_ns // PERIOD_NS for time_ns, _, _ in setup.user.answers] == [1, 2, 3]
    assert setup.user.again == 1
    assert (setup.input.received, setup.input.overtaken) == (4, 1)
    assert setup.input.silence < 60.0


def test_a_repeated_stamp_of_another_sender_is_another_state():
    setup = Setup()
    setup.state(1)
    assert setup.state(1, sender='another arm') == 2
    assert setup.user.answers[1][2] is StateOrder.JUMPED
    assert "'another arm', no longer from 'arm'" in setup.input.sequence.jump


def test_a_state_that_may_not_be_answered_yet_is_taken_again():
    setup = Setup()
    setup.user.state, setup.user.allowed = CycleState.WAITING, False
    assert setup.state(0) == setup.state(1) == 0
    setup.user.allowed = True
    setup.input.take_again()
    assert [time_ns for time_ns, _, _ in setup.user.answers] == [PERIOD_NS]
    assert setup.user.asked == ['arm'] * 3
    setup.input.take_again()  # it was answered
    assert len(setup.user.answers) == 1
    assert setup.user.again == 0


def test_states_without_use_are_not_read():
    setup = Setup()
    for state in (CycleState.INACTIVE, CycleState.REJECTED, CycleState.RELEASING):
        setup.user.state = state
        setup.state(0, q=HOME * np.nan)
    assert setup.dropped == []
    setup.user.state = CycleState.READY
    setup.state(0, q=HOME * np.nan)
    assert len(setup.dropped) == 1
    assert setup.user.answers == []


def test_a_wrench_ends_its_wait_also_where_a_goal_has_ended_meanwhile():
    setup = Setup(goal_needs=('wrench',))
    assert setup.state(0) == 1
    setup.follower.set_wrench(np.array([0.0, 0.0, -5.0, 0.0, 0.0, 0.0]))
    assert setup.state(1) == 1
    setup.follower.activate(0, HOME, REST)
    assert setup.wrench(1, 2.0) == 2
    assert setup.user.answers[1][1][3] is None


@pytest.mark.parametrize(
    ('mode', 'still', 'answers'),
    [('realtime', 0.69, [1, 2, 3]), ('realtime', 0.8, [1, 1, 2]), ('lockstep', 0.8, [1, 2, 3])],
)
def test_old_states_are_left_out_after_the_process_stood_still(monkeypatch, mode, still, answers):
    setup, slept = Setup(mode=mode, time_jump_limit=0.5), []
    clock = SimpleNamespace(monotonic=lambda: still, sleep=slept.append)
    for module in (running, state_input):
        monkeypatch.setattr(module, 'time', clock)
    answered = [setup.state(0)]
    monkeypatch.setattr(running.Dispatch, 'began', 0.0)  # of the executor
    answered += [setup.state(1), setup.state(500)]
    assert answered == answers
    assert slept == [0.3] * (3 - answers[-1])
