"""What a task hears: an answer that is lost is asked for again, nonsense is dropped."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from arm_controllers.ros.serialized_messages import (
    FIELDS,
    JointStateReader,
    JointStateWriter,
)
from arm_dynamics.checks import ArmError
from arm_sim.recording.ros.recordings import file_time_ns
from arm_sim.ros import waiting
from arm_sim.ros.goal_run import GoalRun
from arm_sim.ros.waiting import Waiting


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
    monkeypatch.setattr(waiting, '_AGAIN', 0.01)
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


def test_what_others_say_under_the_simulators_name_and_states_of_no_time_end_no_task():
    run = object.__new__(GoalRun)
    dropped, told = [], []
    run._simulator, run._oldest_ms, run.states, run._latest_ns = 'simulator', 0.0, [], -1
    run._log = SimpleNamespace(warning=dropped.append)
    for values in ([], [KeyValue(key='oldest command [ms]', value='long')]):
        status = DiagnosticStatus(name='simulator', values=values)
        run._on_diagnostics(DiagnosticArray(status=[status]))
    assert run._oldest_ms == 0.0

    def tell(data):
        told.append(data)
        file_time_ns(data)

    run._reader, run._tell_state = JointStateReader(('joint',), ('position',)), tell
    writer = JointStateWriter(('joint',), FIELDS)
    run._on_state(bytes(writer.serialized(-1)))
    assert (len(told), len(dropped), run.states) == (1, 1, [])
    run._on_state(bytes(writer.serialized(2)))
    assert (len(run.states), run._latest_ns) == (1, 2)
