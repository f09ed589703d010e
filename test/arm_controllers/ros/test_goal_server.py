"""Goals of a controller: which ones are taken, in which order, and how they end."""

import time
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
from following import HOME, NAMES, REST, goal, make

pytest.importorskip('rclpy')

from control_msgs.action import FollowJointTrajectory

from arm_controllers.follower.goal import ResultCode
from arm_controllers.ros import goal_server as module
from arm_controllers.ros.cdr import serialized
from arm_controllers.ros.messages import trajectory_message

PERIOD_NS = 2_000_000


class Endpoints:
    """Endpoints without topics: goals are sent here, results and accepted goals are kept."""

    def __init__(self, node, realtime, on_goal, on_cancel):
        self.send, self.cancel = on_goal, on_cancel
        self.handles, self.results, self.accepted, self.at_once = {}, [], [], False

    def handle(self, identifier):
        return self.handles.get(identifier)

    def publish_goal(self, raw, identifier, start_ns):
        self.accepted.append((identifier, start_ns))

    def send_at_once(self):
        self.at_once = True

    def resolve(self, end):
        self.handles.pop(end.identifier, None)
        self.results.append((end.identifier, end.code, end.message))


class Arm:
    """A UR5e's follower and goal server; `turn` runs what waits in the executor."""

    def __init__(self, monkeypatch, realtime=False):
        self.waiting, self.logged, self.feedback = [], [], []
        log = SimpleNamespace(warning=self.logged.append, info=self.logged.append)
        executor = SimpleNamespace(create_task=self.waiting.append)
        node = SimpleNamespace(get_logger=lambda: log, executor=executor)
        monkeypatch.setattr(module, 'GoalEndpoints', self.open)
        self.follower, self.time_ns = make(), 0
        self.server = module.GoalServer(node, self.follower, PERIOD_NS, 20.0, realtime)
        self.server.activate(0)

    def open(self, *arguments):
        self.ends = Endpoints(*arguments)
        return self.ends

    def send(self, identifier, end=0.1, seconds=1.0, points=1):
        times = seconds * np.arange(1, points + 1) / points
        rows = HOME + end * (1.0 - np.cos(np.pi * times / seconds))[:, np.newaxis] / 2.0
        action = FollowJointTrajectory.Goal()
        action.trajectory = trajectory_message(goal(times, rows, names=NAMES))
        handle = SimpleNamespace(is_cancel_requested=False)
        handle.publish_feedback = lambda message: self.feedback.append(deepcopy(message))
        self.ends.handles[identifier] = handle
        self.ends.send(identifier, serialized(action))

    def cancel(self, identifier):
        handle = self.ends.handles[identifier]
        taken = self.ends.cancel(identifier)
        handle.is_cancel_requested = taken
        return taken

    def turn(self):
        waiting, self.waiting[:] = list(self.waiting), []
        for work in waiting:
            work()

    def cycles(self, count=1, q=HOME):
        for _ in range(count):
            self.time_ns += PERIOD_NS
            reference = self.follower.update(self.time_ns, q, REST)
            self.server.after_cycle(self.time_ns, reference.q, reference.v)

    @property
    def running(self):
        return [each.identifier for each in self.follower.goals]

    @property
    def ended(self):
        """Identifier and message of each goal that has ended, since the last look."""
        ended = [(name, message) for name, _, message in self.ends.results]
        self.ends.results.clear()
        return ended


@pytest.fixture
def start(monkeypatch):
    return lambda **options: Arm(monkeypatch, **options)


def test_in_lock_step_the_first_goal_after_a_cycle_is_taken_at_once_the_others_in_turn(start):
    arm = start()
    arm.cycles()
    arm.send(b'1')
    assert arm.running == [b'1']
    arm.send(b'2')
    assert arm.running == [b'1']
    arm.turn()
    assert arm.running == [b'2']
    assert arm.ends.accepted == [(b'1', PERIOD_NS), (b'2', PERIOD_NS)]
    assert [name for name, _ in arm.ended] == [b'1']
    arm.cycles()
    arm.send(b'3')
    assert arm.running == [b'3']


def test_the_log_says_when_a_goal_of_the_action_is_reached_and_when_it_is_canceled(start):
    arm = start()
    for identifier in (b'1', None):  # None: of the topic
        arm.ends.handles[identifier] = None
        arm.send(identifier, end=0.05, seconds=0.5)  # this arm stands still
        arm.cycles(400)
        assert arm.logged == ['goal reached']
    arm.send(b'2')
    arm.cancel(b'2')
    arm.turn()
    arm.cycles(400)
    assert arm.logged == ['goal reached', 'goal ended: canceled']


def test_in_real_time_a_goal_is_taken_after_the_next_cycle(start):
    arm = start(realtime=True)
    arm.send(b'1')
    assert arm.running == arm.waiting == []
    arm.cycles()
    assert arm.running == [b'1']


def test_in_real_time_a_long_goal_is_checked_over_several_cycles(start):
    arm = start(realtime=True)
    arm.send(b'long', points=400)
    arm.cycles()
    assert arm.running == []
    count, end = 1, time.monotonic() + 60.0
    while not arm.running and time.monotonic() < end:
        time.sleep(PERIOD_NS * 1e-9)  # as in real time: the check has a thread of its own
        arm.cycles()
        count += 1
    assert [name for name, _ in arm.ends.accepted] == [b'long']
    assert count >= 3


def test_a_goal_that_is_being_checked_ends_by_a_cancel_and_by_the_end_of_the_controller(start):
    arm = start(realtime=True)
    for end in ('canceled', 'the controller stops'):
        arm.server.activate(arm.time_ns)
        arm.send(b'long', points=400)
        arm.cycles()
        if end == 'canceled':
            assert arm.cancel(b'long')
            arm.cycles()
        else:
            arm.server.deactivate(end)
        assert arm.ended == [(b'long', end)]
        arm.cycles(3)
        assert arm.running == []


def test_of_a_flood_of_goals_the_ten_newest_are_kept(start):
    arm = start(realtime=True)
    for k in range(13):
        arm.send(k)
    reason = '10 newer goals came before its check'
    assert arm.ended == [(k, reason) for k in range(3)]
    assert arm.server.refused == 3
    arm.cycles(10)
    assert arm.running == [12]


def test_goals_are_refused_with_the_reason_while_the_controller_is_not_active(start):
    arm = start()
    arm.server.deactivate('deactivated')
    arm.send(b'1')
    assert arm.ended == [(b'1', module.NOT_ACTIVE)]
    arm.server.refusal = 'a collision; ~/reset_guard allows goals again'
    arm.send(b'2')
    assert arm.ended == [(b'2', arm.server.refusal)]
    assert not arm.ends.cancel(b'3')
    assert arm.server.problem == f'goal refused: {arm.server.refusal}'


def test_the_reason_of_a_refusal_is_one_short_line_whatever_the_goal_names(start):
    arm = start()
    arm.server.deactivate('deactivated')
    arm.server.refusal = 'a long name\n' + 100_000 * 'x'
    arm.send(b'1')
    ((_, message),) = arm.ended
    assert message.startswith('a long name xxx')
    assert len(message) <= 500


@pytest.mark.parametrize('realtime', [False, True])
def test_a_goal_before_the_first_state_waits_for_it(start, realtime):
    arm = start(realtime=realtime)
    arm.server.deactivate('deactivated')
    arm.server.awaited = True
    arm.send(b'1')
    arm.turn()
    assert (arm.running, arm.ended, arm.waiting) == ([], [], [])
    arm.server.activate(0)
    arm.cycles()
    arm.turn()
    assert arm.running == [b'1']


@pytest.mark.parametrize('realtime', [False, True])
def test_a_goal_that_waits_for_the_first_state_may_be_canceled_or_ends_without_one(
    start, realtime
):
    arm = start(realtime=realtime)
    arm.server.deactivate('deactivated')
    arm.server.awaited = True
    for k in range(12):
        arm.send(k)
    assert [k for k, _ in arm.ended] == [0, 1]
    assert arm.cancel(5)
    arm.turn()
    arm.turn()
    assert arm.ended == ([] if realtime else [(5, 'canceled')])
    arm.server.refusal = 'no state came'
    arm.server.deactivate('no state came')
    assert {message for _, message in arm.ended} == {'no state came'}
    assert not arm.server.awaited


def test_a_deactivation_ends_the_goal_and_those_that_wait(start):
    arm = start()
    arm.cycles()
    arm.send(b'followed')
    arm.send(b'waits')
    arm.server.deactivate('the controller was deactivated')
    assert sorted(arm.ended) == [
        (b'followed', 'the controller was deactivated'),
        (b'waits', module.NOT_ACTIVE),
    ]
    arm.turn()
    assert arm.running == arm.ended == []


def test_a_goal_that_the_follower_refuses_ends_with_its_code_and_the_next_one_is_taken(start):
    arm = start()
    arm.cycles()
    arm.send(b'far', end=9.0)
    arm.cycles()
    arm.send(b'near')
    ((name, code, message),) = arm.ends.results
    assert (name, code) == (b'far', ResultCode.INVALID_GOAL)
    assert message.startswith("joint 'shoulder_pan_joint': ")
    assert arm.logged == [f'goal refused: {message}']
    assert arm.running == [b'near']


def test_a_cancel_waits_until_the_client_has_its_answer_and_brakes_the_arm(start):
    arm = start()
    arm.cycles()
    arm.send(b'1')
    arm.cycles(100)
    assert arm.ends.cancel(b'1')
    arm.turn()
    assert arm.running == [b'1']  # the action does not know of the cancel yet
    arm.ends.handles[b'1'].is_cancel_requested = True
    arm.turn()
    assert arm.running == []
    assert [name for name, _ in arm.ended] == [b'1']
    assert not arm.follower.active_goal


def test_a_goal_that_waits_for_its_check_can_be_canceled(start):
    arm = start()
    arm.cycles()
    arm.send(b'1')
    arm.send(b'2')
    assert arm.cancel(b'2')
    arm.turn()
    assert arm.ended == [(b'2', 'canceled')]
    assert arm.running == [b'1']


def test_feedback_has_the_reference_and_the_error_at_its_rate(start, monkeypatch):
    now = iter(range(1000))
    monkeypatch.setattr(module.time, 'monotonic', lambda: next(now))
    arm = start()
    arm.cycles()
    arm.send(b'1')
    arm.cycles(50)  # 20 Hz of the states' time
    assert [each.header.stamp.nanosec for each in arm.feedback] == [52_000_000, 102_000_000]
    last, reference = arm.feedback[-1], arm.follower.reference
    np.testing.assert_array_equal(last.desired.positions, reference.q)
    np.testing.assert_array_equal(last.desired.velocities, reference.v)
    np.testing.assert_array_equal(last.error.positions, np.zeros(6))
    assert last.joint_names == list(NAMES)
    assert last.desired.time_from_start.nanosec == 100_000_000


def test_results_of_a_node_that_ends_are_sent_at_once_and_are_no_warnings(start):
    arm = start()
    arm.cycles()
    arm.send(b'1')
    arm.server.end()
    arm.server.deactivate('the controller ends')
    assert arm.ends.at_once
    assert arm.ended == [(b'1', 'the controller ends')]
    assert arm.server.problem == ''


def test_in_real_time_goals_are_checked_and_canceled_while_time_is_stopped(start):
    arm = start(realtime=True)
    arm.cycles()
    arm.send(b'1')
    arm.send(b'far', end=9.0)
    arm.server.after_repeat()
    assert arm.running == [b'1']
    arm.server.after_repeat()
    ((name, message),) = arm.ended
    assert (name, message.split(':')[0]) == (b'far', "joint 'shoulder_pan_joint'")
    assert arm.cancel(b'1')
    arm.server.after_repeat()
    assert arm.ended == [(b'1', 'canceled')]
