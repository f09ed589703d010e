"""A task of another package: what it sets and what its report returns is refused in one line."""

from dataclasses import dataclass

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters
from arm_sim.loop.measures import track
from arm_sim.loop.outcome import outcome
from arm_sim.loop.record import Record
from arm_sim.loop.report import Check, all_held, write_json
from arm_sim.robot import Robot
from arm_sim.tasks import Run, Task, TaskReport

NAN = float('nan')


@dataclass(frozen=True)
class NoParameters(Parameters):
    """None."""


class Rest(Task):
    """Rest for a while; `sets` are attributes that `prepare` sets."""

    Parameters = NoParameters
    sets = ()

    def prepare(self):
        self.duration = 1.0
        for name, value in self.sets:
            setattr(self, name, value)


@pytest.fixture(scope='module')
def robot():
    return Robot.load('planar_3r')


def task_with(robot, report=None, **sets):
    kind = type('Rest', (Rest,), {'sets': tuple(sets.items()), '__module__': __name__})
    if report is not None:
        kind.Report = type('RestReport', (TaskReport,), report)
    return kind(robot, NoParameters())


@pytest.mark.parametrize(
    ('attribute', 'value', 'words'),
    [
        ('duration', NAN, 'duration is nan; it must be finite, >= 0.01'),
        ('duration', float('inf'), 'duration is inf; it must be finite'),
        ('duration', 0.001, 'duration is 0.001; it must be finite, >= 0.01'),
        ('duration', '1', "duration is '1'; it must be a number"),
        ('duration', np.ones(1), r'duration is array\(\[1.\]\); it must be a number'),
        ('payload', -1.0, 'payload is -1; it must be finite, >= 0'),
        ('drop_at', NAN, 'drop_at is nan'),
        ('event', 'late', "event is 'late'; it must be a number"),
        ('push', [1, 2], r'push is \[1, 2\]; it must be a Push or None'),
    ],
)
def test_an_attribute_without_a_meaning_is_refused(robot, attribute, value, words):
    with pytest.raises(ArmError, match=f'^task Rest: {words}'):
        task_with(robot, **{attribute: value})


def test_numbers_of_numpy_become_those_that_files_take(robot):
    assert type(task_with(robot, duration=np.float32(0.5)).duration) is float


def outcome_of(task):
    n = 3
    rows = np.zeros((20, n))
    record = Record(0.01 * np.arange(20), rows, rows, rows, rows, rows, np.zeros(n))
    return outcome(task, Run(record, track(task.robot.model, record)))


@pytest.mark.parametrize(
    ('method', 'found', 'words'),
    [
        ('checks', None, 'returns None; it must return a list of Check'),
        ('checks', Check('x', 1.0, 2.0, ''), 'must return a list of Check'),
        ('checks', [('x', 1.0, 2.0, '')], 'must return a list of Check'),
        ('checks', [Check('x', None, 2.0, '')], 'must return a list of Check'),
        ('checks', [Check('x', np.ones(2), 2.0, '')], 'must return a list of Check'),
        ('checks', [Check('x', 1 + 1j, 2.0, '')], 'must return a list of Check'),
        ('checks', [Check('x', 1.0, '2', '')], 'must return a list of Check'),
        ('results', None, 'returns None; it must return a dictionary'),
        ('results', {'x': 1j}, 'must return a dictionary by names, of what JSON takes'),
    ],
)
def test_what_a_report_returns_is_refused_with_what_is_allowed(robot, method, found, words):
    task = task_with(robot, {method: lambda self, given: found})
    with pytest.raises(ArmError, match=rf'RestReport\.\S* returns .*{words}|{words}'):
        outcome_of(task)


def test_limits_of_a_generator_decide_the_verdict(robot):
    broken = Check('x', 3.0, 2.0, 'mm')
    _, checks = outcome_of(
        task_with(robot, {'checks': lambda self, report: (broken for _ in '1')})
    )
    assert all_held(checks) is False
    assert list(checks) == [broken]


def test_arrays_of_a_report_become_lists_of_the_file(robot, tmp_path):
    task = task_with(robot, {'results': lambda self, run: {'mine': np.arange(3)}})
    report, _ = outcome_of(task)
    write_json(tmp_path / 'report.json', report)
    assert '"mine": [\n    0,' in (tmp_path / 'report.json').read_text()
