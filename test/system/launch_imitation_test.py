"""A publisher that commands under the active controller's name: found, named, and braked."""

import json
import time

import numpy as np
import pytest
import rclpy
from action_msgs.msg import GoalStatus
from arm_system import HOME, NAMES, goal, lockstep_arm, seconds
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.ros.active_controllers import TOPIC
from arm_controllers.ros.qos import CONTROL_QOS, LATCHED_QOS, RECORD_QOS, STATE_QOS

ACTIVE, WAITING = 'computed_torque_controller', 'pd_controller'
FAR = HOME + np.array([0.5, 0.2, -0.2, 0.1, 0.1, 0.3])
ODD = 3.125  # [N.m], a torque that no law commands here


@pytest.fixture(scope='module', params=['processes', 'composed'])
def arm(request):
    """A torque-driven UR5e, one controller that commands and one that waits for its turn."""
    with lockstep_arm('pd', composed=request.param == 'composed') as system:
        yield system


processes = pytest.mark.parametrize('arm', ['processes'], indirect=True)
composed = pytest.mark.parametrize('arm', ['composed'], indirect=True)


class Spoofer:
    """Answers every state as the active controller does, with a torque of its own."""

    def __init__(self, arm):
        self.node = rclpy.create_node('spoofer', context=arm.context)
        self.arm, self.efforts, self.speaks = arm, {}, False
        self.publisher = self.node.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
        arm.wait(lambda: self.publisher.get_subscription_count() > 0, 'simulator listening')
        self.node.create_subscription(JointState, 'joint_states', self.on_state, STATE_QOS)
        arm.executor.add_node(self.node)

    def on_state(self, state):
        self.efforts[state.header.stamp.sec, state.header.stamp.nanosec] = np.array(state.effort)
        if self.speaks:
            answer = JointState(name=NAMES, effort=[ODD] * 6)
            answer.header.stamp, answer.header.frame_id = state.header.stamp, ACTIVE
            self.publisher.publish(answer)

    def steps(self):
        """Return how many states were reached under the spoofer's torque."""
        return sum(np.array_equal(effort, [ODD] * 6) for effort in self.efforts.values())

    def go(self):
        self.speaks = False  # EventsExecutor still hands over what had come before
        self.arm.executor.remove_node(self.node)
        self.node.destroy_node()


def found_out(arm):
    """Spoof during a goal until the arm brakes for that reason; return the spoofer."""
    before = arm.log('simulator').count('/spoofer')
    arm.diagnostics.clear()  # an earlier spoofer's words do not count
    spoofer = Spoofer(arm)
    _, end = arm.send(ACTIVE, goal([200.0], [FAR]))
    arm.wait(lambda: np.abs(arm.v).max() > 0.0015, 'motion')
    spoofer.speaks = True
    answer = arm.result(end, 'end of the goal')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert f'another publisher commands as {ACTIVE!r}' in answer.result.error_string
    arm.words('simulator', '/spoofer')
    arm.wait(lambda: np.abs(arm.v).max() < 1e-3, 'rest')
    held = arm.q.copy()
    arm.spin(1.0)  # it goes on
    np.testing.assert_allclose(arm.q, held, atol=1e-3)
    assert spoofer.steps() <= 1
    assert f'until one is left of /{ACTIVE}, /spoofer, or none' in arm.log('simulator')
    assert arm.log('simulator').count('/spoofer') == before + 1
    arm.words(ACTIVE, 'silent')
    status, refused = arm.follow(ACTIVE, goal([1.0], [HOME]))
    assert status == GoalStatus.STATUS_ABORTED
    assert f'another publisher commands as {ACTIVE!r}' in refused.error_string
    return spoofer


def assert_goes_on(arm, held):
    arm.words(ACTIVE, 'holding')
    np.testing.assert_allclose(arm.q, held, atol=1e-3)
    status, result = arm.follow(ACTIVE, goal([1.0], [HOME]))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string


def test_a_second_controller_of_the_commanders_name_never_commands_and_disturbs_nothing(arm):
    commands = []
    heard = arm.node.create_subscription(
        JointState, 'joint_commands', lambda m: commands.append(bool(m.name)), CONTROL_QOS
    )
    handle, end = arm.send(ACTIVE, goal([3000.0], [FAR]))
    arm.start(ACTIVE, 'autostart:=true', 'mode:=lockstep', label='second')
    arm.wait(lambda: f'another node named {ACTIVE!r} commands' in arm.log('second'), 'refusal')
    assert arm.stop('second') == 0
    arm.spin(0.5)
    assert not end.done()
    assert all(commands)  # no release message, which would be the first one's
    arm.node.destroy_subscription(heard)
    assert 'more than one publisher' not in arm.log('simulator')
    arm.result(handle.cancel_goal_async(), 'answer to cancel')
    arm.words(ACTIVE, 'holding')
    assert_goes_on(arm, arm.q.copy())


def test_who_listens_to_commands_hears_every_answer_and_disturbs_nothing(arm):
    _, end = arm.send(ACTIVE, goal([2.0], [HOME + 0.1]))
    for _ in range(3):  # in one process: published for a listener, else handed over
        stamps = []
        heard = arm.node.create_subscription(
            JointState,
            'joint_commands',
            lambda m, seen=stamps: seen.append(seconds(m.header.stamp)),
            RECORD_QOS,
        )
        arm.wait(lambda seen=stamps: len(seen) > 100, 'commands')
        arm.node.destroy_subscription(heard)
        np.testing.assert_allclose(np.diff(np.unique(stamps)), 0.002, atol=1e-9)
        arm.spin(0.2)
    assert arm.result(end, 'end of the goal').status == GoalStatus.STATUS_SUCCEEDED
    assert arm.follow(ACTIVE, goal([1.0], [HOME]))[0] == GoalStatus.STATUS_SUCCEEDED
    assert 'more than one publisher' not in arm.log('simulator')


@processes
def test_spoofer_moves_the_arm_by_one_command_at_most_until_it_has_gone(arm):
    spoofer = found_out(arm)
    held = arm.q.copy()
    spoofer.go()
    assert_goes_on(arm, held)


@processes
def test_controller_is_accepted_again_next_to_a_spoofer_that_is_silent_for_ten_seconds(arm):
    spoofer = found_out(arm)
    spoofer.speaks, silent = False, time.monotonic()
    held = arm.q.copy()
    arm.wait(lambda: 'holding' in arm.diagnostics[ACTIVE][1], 'acceptance')
    assert time.monotonic() - silent > 8.0
    assert_goes_on(arm, held)
    spoofer.go()


@composed
def test_spoofer_next_to_a_controller_in_the_simulators_process_moves_and_stops_nothing(arm):
    spoofer = Spoofer(arm)
    _, end = arm.send(ACTIVE, goal([4.0], [HOME + 0.1]))
    spoofer.speaks = True
    arm.words('simulator', f'another publisher commands as {ACTIVE!r}: not used')
    assert arm.result(end, 'end of the goal').status == GoalStatus.STATUS_SUCCEEDED
    assert spoofer.steps() == 0
    spoofer.speaks = False
    spoofer.go()
    assert_goes_on(arm, arm.q.copy())


def test_the_claims_name_the_controller_and_its_joints(arm):
    heard = []
    arm.node.create_subscription(String, TOPIC, heard.append, LATCHED_QOS)
    arm.wait(lambda: heard, 'the topic')
    assert json.loads(heard[-1].data) == {'claims': {ACTIVE: NAMES}, 'rejected': {}}


class Intruder(Spoofer):
    """Answers under a name of its own, and only when time has jumped back."""

    def __init__(self, arm):
        super().__init__(arm)
        self.newest, self.answered = 0.0, 0

    def on_state(self, state):
        now = seconds(state.header.stamp)
        if now < self.newest:
            self.speaks = True
        if self.speaks:
            self.answered += 1
            answer = JointState(name=NAMES, effort=[ODD] * 6)
            answer.header.stamp, answer.header.frame_id = state.header.stamp, 'intruder'
            self.publisher.publish(answer)
        self.newest = now
        self.efforts[now] = np.array(state.effort)


@processes
def test_a_spoofer_with_much_larger_numbers_never_moves_the_arm(arm):
    assert_goes_on(arm, arm.q.copy())
    spoofer, before = Spoofer(arm), arm.log('simulator').count('/spoofer')
    raw = bytes(serialize_message(JointState()))  # of no effect
    for k in range(100_000):  # more messages than the controller has published
        spoofer.publisher.publish(raw)
        if k % 5000 == 0:
            arm.spin(0.01)
    spoofer.speaks = True
    arm.wait(lambda: arm.log('simulator').count('/spoofer') > before, 'rejection')
    arm.spin(1.0)
    assert spoofer.steps() == 0
    spoofer.go()
    assert_goes_on(arm, arm.q.copy())


def test_a_reset_gives_no_other_controller_the_arm(arm):
    assert_goes_on(arm, arm.q.copy())
    intruder = Intruder(arm)
    for _ in range(10):
        arm.spin(0.2)
        intruder.answered, before = 0, len(intruder.efforts)
        assert arm.reset()
        arm.wait(lambda: intruder.answered > 20, 'answers after the reset')
        intruder.speaks = False
        assert intruder.steps() == 0, before
    intruder.go()
    assert_goes_on(arm, arm.q.copy())
