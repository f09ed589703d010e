"""What a task receives: it repeats a request without an answer, and drops invalid messages."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from arm_controllers.ros.serialized_messages import (
    FIELDS,
    JointStateReader,
    JointStateWriter,
)
from arm_dynamics.checks import ArmError
from arm_sim.ros import waiting
from arm_sim.ros.goal_run import GoalRun, joint_states
from arm_sim.ros.loop_messages import COMMAND, STATE, LoopMessages
from arm_sim.ros.waiting import Waiting


def batch(*messages):
    """Return messages of the control loop as a simulator publishes them."""
    sent = []
    publisher = SimpleNamespace(publish=sent.append)
    node = SimpleNamespace(
        create_publisher=lambda *_: publisher, create_timer=lambda *_: None, timers=()
    )
    loop = LoopMessages(node)
    for message in messages:
        loop.add(*message)
    loop.publish()
    return sent[0]


class Client:
    """A service whose first answers are lost."""

    srv_name = 'simulator/pause'

    def __init__(self, lost):
        self.lost, self.asked = lost, 0

    def service_is_ready(self):
        return True

    def call_async(self, request):
        self.asked += 1
        known = self.asked > self.lost
        return SimpleNamespace(done=lambda: known, result=lambda: request, add_done_callback=len)


@pytest.fixture
def wait(monkeypatch):
    monkeypatch.setattr(waiting, '_REPEAT', 0.01)
    monkeypatch.setattr(waiting, 'wait_until', waited)
    found = Waiting(None, None, 30.0)
    found.wait_until = lambda *_: None
    return found


def waited(executor, condition, what, timeout, news=None):
    if not condition():
        raise ArmError(f'no {what} within {timeout:g} s')


def test_a_service_whose_answer_is_lost_is_asked_again(wait):
    client = Client(lost=2)
    assert wait.call(client, 'pause') == 'pause'
    assert client.asked == 3


def test_a_service_that_never_answers_is_told_of_with_the_whole_time(wait):
    wait._timeout = 0.05
    with pytest.raises(ArmError, match=r'no answer from simulator/pause within 0\.05 s'):
        wait.call(Client(lost=10**9), 'pause')


def test_an_invalid_status_under_the_simulators_name_ends_no_task():
    run = object.__new__(GoalRun)
    run._simulator, run._oldest_ms = 'simulator', 0.0
    for values in ([], [KeyValue(key='oldest command [ms]', value='long')]):
        status = DiagnosticStatus(name='simulator', values=values)
        run._on_diagnostics(DiagnosticArray(status=[status]))
    assert run._oldest_ms == 0.0


def test_a_task_collects_states_once_drops_a_batch_that_is_cut_off_and_forgets_before_a_reset():
    run = object.__new__(GoalRun)
    dropped, passed = [], []
    run._log = SimpleNamespace(warning=dropped.append)
    run.states, run._on_messages, run._on_progress = [], passed.append, list
    run._clear()
    writer = JointStateWriter(('joint',), FIELDS)
    states = [writer.serialized(2 * k) for k in range(4)]
    run.on_batch(
        batch((STATE, states[1]), (COMMAND, b'1'), (STATE, states[1]), (STATE, states[2]))
    )
    assert (run.states, run._latest_ns, run._answers) == (states[1:3], 4, 0)
    run.on_batch(batch((STATE, states[3]))[:-1])
    assert (len(dropped), len(run.states), len(passed)) == (1, 2, 1)
    run.on_batch(batch((COMMAND, b'2'), (STATE, states[0]), (COMMAND, b'3'), (COMMAND, b'3')))
    assert (run.states, run._latest_ns, run._answers) == (states[:1], 0, 2)


def test_states_are_read_in_one_pass_as_one_by_one_and_each_stamp_once():
    reader, rng = JointStateReader(('b', 'a'), FIELDS), np.random.default_rng(0)
    raw = []
    for names in (('b', 'a'), ('a', 'b'), ('b', 'a')):
        writer = JointStateWriter(names, FIELDS)
        for k in range(3):
            for field in FIELDS:
                getattr(writer, field)[:] = rng.normal(size=2)
            raw.append(writer.serialized((k + 3 * len(raw)) * 10**9 // 2))
    for some in (raw[:3], raw, raw[3:6]):
        found = joint_states([*some, some[-1]], reader)
        assert len(found.time_ns) == len(some)
        for row, data in enumerate(some):
            reader.open(data)
            assert found.time_ns[row] == reader.time_ns
            for name, values in (('position', found.q), ('effort', found.effort)):
                np.testing.assert_array_equal(values[row], reader.values(name))
