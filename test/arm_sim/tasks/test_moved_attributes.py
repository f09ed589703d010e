"""A task that still has its report or its place in comparisons itself is refused in one line."""

import pytest
from plugins import write_plugins

from arm_dynamics import ArmError
from arm_sim.robot import Robot
from arm_sim.tasks import TASKS, Task, TaskEvaluation, TaskReport, make_task, task_class
from arm_sim.tasks.push import Push, PushParameters

IN_REPORT = 'write it in a TaskReport, and Report = that class'


@pytest.mark.parametrize(
    ('name', 'place'),
    [
        ('compared', r'write evaluation = TaskEvaluation(compared=...)'),
        ('ranked_by', r'write evaluation = TaskEvaluation(ranked_by=...)'),
        *((name, IN_REPORT) for name in ('columns', 'picture_name', 'asks_prediction')),
        *((name, IN_REPORT) for name in ('checks', 'results', 'rows', 'draw', 'progress')),
        ('measure', IN_REPORT),
        ('report', 'write `numbers` in a TaskReport, and Report = that class'),
        ('scene', 'set `simulator`, the parameters of the simulator, in `prepare`'),
    ],
)
def test_an_attribute_that_has_moved_is_refused_with_its_new_place(name, place):
    with pytest.raises(ArmError) as refused:
        type('Mine', (Push,), {name: None})
    assert str(refused.value) == f'task Mine has {name}, which has no effect there; {place}'


def test_an_attribute_that_has_moved_is_refused_where_prepare_sets_it():
    class Mine(Push):
        def prepare(self):
            super().prepare()
            self.columns = ('', 'value')

    with pytest.raises(ArmError, match='^task Mine has columns, .*TaskReport'):
        Mine(Robot.load('planar_3r'), PushParameters())


OLD = """
from arm_sim.tasks.push import Push

class Mine(Push):
    def checks(self, report):
        return []
"""


def test_a_task_of_a_plugin_with_checks_of_its_own_is_refused_in_one_line(tmp_path, monkeypatch):
    folder = write_plugins(tmp_path, {'mine': OLD}, {'arm_sim.tasks': {'old_task': 'mine:Mine'}})
    monkeypatch.syspath_prepend(str(folder))
    TASKS.refresh()
    try:
        with pytest.raises(ArmError, match='task Mine has checks, .*TaskReport') as refused:
            task_class('old_task')
    finally:
        monkeypatch.undo()
        TASKS.refresh()
    assert '\n' not in str(refused.value)


def test_a_task_without_a_report_of_its_own_has_that_of_every_task():
    push = make_task('push', Robot.load('planar_3r'))
    assert Task.Report is Push.Report is TaskReport
    assert Task.evaluation == TaskEvaluation()
    assert push.report.task is push
    assert (push.report.robot, push.report.parameters) == (push.robot, push.parameters)
    assert push.report.checks({}) == []
