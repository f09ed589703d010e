"""A service that a task asks: an answer that is lost is asked for again."""

from types import SimpleNamespace

import pytest

from arm_dynamics.checks import ArmError
from arm_sim.ros import goal_run
from arm_sim.ros.goal_run import GoalRun


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
def run(monkeypatch):
    monkeypatch.setattr(goal_run, '_AGAIN', 0.01)
    monkeypatch.setattr(goal_run, 'wait_until', waited)
    found = object.__new__(GoalRun)
    found._executor, found._timeout = None, 30.0
    found.wait_until = lambda *_: None
    return found


def waited(executor, condition, what, timeout, news=None):
    if not condition():
        raise ArmError(f'no {what} within {timeout:g} s')


def test_a_service_whose_answer_is_lost_is_asked_again(run):
    client = Client(lost=2)
    assert run.call(client, 'pause') == 'pause'
    assert client.asked == 3


def test_a_service_that_never_answers_is_told_of_with_the_whole_time(run):
    run._timeout = 0.05
    with pytest.raises(ArmError, match=r'no answer from simulator/pause within 0\.05 s'):
        run.call(Client(lost=10**9), 'pause')
