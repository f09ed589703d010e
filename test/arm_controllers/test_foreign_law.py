"""A law of a user: what it returns, raises and writes is refused in one line that names it."""

import textwrap

import numpy as np
import pytest

import arm_sim
from arm_controllers.law_file import law_of_file
from arm_dynamics.checks import ArmError
from arm_lab.experiments.experiment import Experiment

LAW = """
from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass

import numpy as np

from arm_controllers.laws import Law
from arm_controllers.second_order_gains import acceleration_gains
from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class MineParameters(Parameters):
    kp: PerJoint = parameter((400.0,), 'position gain [1/s^2]', min=0.0)
    kd: PerJoint = parameter((40.0,), 'velocity gain [1/s]', min=0.0)


class Mine(Law):
    Parameters = MineParameters
    designed = acceleration_gains
    {attribute}

    def __call__(self, state, measured, reference, dt):
        p, e = self.parameters, reference.q - measured.q
        tau = self.model.inverse_dynamics(measured.q, measured.v, p.kp * e - p.kd * measured.v)
        {line}
        return {answer}
"""


def loaded(tmp_path, line='', answer='tau, state', attribute=''):
    file = tmp_path / 'mine.py'
    file.write_text(LAW.format(line=line, answer=answer, attribute=textwrap.dedent(attribute)))
    return Experiment('planar_3r', 'push', str(file)).load()


def torques(tmp_path, answer):
    return loaded(tmp_path, answer=answer).run().effort


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    'answer',
    [
        'list(tau), state', 'tuple(tau), state', 'tau.astype(object), state', 'tau, None',
        "tau.astype('>f8'), state", 'tau[::-1][::-1], state', 'np.ma.array(tau), state',
    ],
)  # fmt: skip
def test_every_form_of_the_same_real_numbers_is_the_same_command(answer, tmp_path):
    np.testing.assert_array_equal(
        torques(tmp_path, answer), torques(tmp_path, 'tau.copy(), state')
    )


def test_numbers_of_half_precision_are_commanded_where_their_squares_overflow(tmp_path):
    record = loaded(tmp_path, answer='np.full(3, 300.0, dtype=np.float16), state').run()
    assert record.completed


@pytest.mark.parametrize(
    ('answer', 'words'),
    [
        ('tau + 1j, state', 'command is an array of complex128 of shape'),
        ('tau > 0, state', 'command is an array of bool'),
        ('tau.astype(str), state', 'command is an array of <U32'),
        ('None, state', 'command is None; it must be'),
        ('(x for x in tau), state', 'command is <generator object'),
        ('np.ma.array(tau, mask=[1, 0, 0]), state', 'command has masked numbers'),
        ('tau[:, None], state', r'command has shape \(3, 1\); it must be \(3,\) real numbers'),
        ('np.matrix(tau), state', r'command has shape \(1, 3\)'),
        ('tau[:1], state', r'command has shape \(1,\)'),
        ('1.0, state', r'command has shape \(\)'),
        ('np.append(tau, tau), state', r'command has shape \(6,\)'),
        ('None', 'returns None; it must return command, state'),
        ('tau', 'returns an array of float64 of shape'),
    ],
)
def test_any_other_answer_is_refused_with_its_value_and_what_is_allowed(answer, words, tmp_path):
    with pytest.raises(ArmError, match=rf'^law Mine \(.*mine\.py\).*{words}') as refused:
        loaded(tmp_path, answer=answer).run()
    assert '\n' not in str(refused.value)


@pytest.mark.parametrize(
    ('line', 'words'),
    [
        ("raise KeyError('gone')", r": KeyError: 'gone'$"),
        ("raise RuntimeError('no\\nsensor')", ': RuntimeError: no sensor$'),
        ('assert measured.q[0] > 9', ': AssertionError$'),
        ('sys.exit(0)', r' ends the process by sys\.exit\(0\)$'),
        ('measured.q[:] = 0.0', ': ValueError: assignment destination is read-only$'),
    ],
)
def test_what_a_law_raises_is_named_with_file_and_line(line, words, tmp_path):
    with pytest.raises(ArmError, match=rf'^law Mine \(.*mine\.py, line 29\){words}'):
        loaded(tmp_path, line).run()


@pytest.mark.parametrize('array', ['measured.q', 'measured.v', 'reference.q', 'reference.v'])
def test_a_law_that_writes_past_a_read_only_view_gets_no_result(array, tmp_path):
    line = f'ctypes.memset({array}.ctypes.data, 1, {array}.nbytes)'
    with pytest.raises(ArmError, match='law Mine .* has written into the measurement'):
        loaded(tmp_path, line).run()


@pytest.mark.slow
def test_a_law_changes_neither_the_model_of_the_arm_nor_a_command_that_it_has_given(tmp_path):
    plain = loaded(tmp_path).run()
    lines = """self.model.effort_limit = np.full(3, 1e9)
        kept = self.__dict__.setdefault('kept', [])
        for before in kept:
            before[:] = 99.0
        kept.append(tau)"""
    changed = loaded(tmp_path, lines)
    record = changed.run()
    np.testing.assert_array_equal(record.effort, plain.effort)
    assert changed.robot.model.effort_limit.max() < 1e4


def test_a_law_without_its_memory_is_refused_not_started_again_in_each_period(tmp_path):
    start = 'def start(self, measured, reference): return (np.zeros(3),)'
    with pytest.raises(ArmError, match='its state is None; it must be a tuple of arrays'):
        loaded(tmp_path, answer='tau, None', attribute=start).run()


@pytest.mark.parametrize(
    ('attribute', 'words'),
    [
        ("command_interface = 'torque'", "command_interface is 'torque'; allowed: position"),
        ("needs = 'wrench'", "needs is 'wrench'; it must be a tuple"),
        ("needs = ('wrenches',)", "one of its needs is 'wrenches'; allowed: wrench, effort"),
        ('lookahead = -1', 'lookahead is -1; it must be an integer >= 0'),
        ('Parameters = dict', "Parameters is <class 'dict'>; it must be a dataclass"),
        ('designed = classmethod(lambda *x: {})', r'its `designed` returns \{\}; it must return'),
        ('designed = classmethod(lambda *x: 1 / 0)', 'its `designed` .*ZeroDivisionError'),
    ],
)
def test_an_attribute_without_a_meaning_is_refused(attribute, words, tmp_path):
    with pytest.raises(ArmError, match=f'law Mine.*{words}'):
        loaded(tmp_path, attribute=attribute).run()


def test_a_law_in_a_batch_is_looked_at_as_well(tmp_path):
    file = tmp_path / 'mine.py'
    file.write_text(LAW.format(line='', answer='tau[:1], state', attribute=''))
    with pytest.raises(ArmError, match=r'law Mine .* command has shape \(1, 3\); .*\(4, 3\)'):
        arm_sim.monte_carlo(4, robots=['planar_3r'], tasks=['push'], laws=[str(file)], workers=1)


def test_a_file_that_ends_the_process_is_refused(tmp_path):
    file = tmp_path / 'mine.py'
    file.write_text('import sys\n\nsys.exit(0)\n')
    with pytest.raises(ArmError, match=r'mine\.py, line 3\) ends the process by sys.exit\(0\)$'):
        law_of_file(file)
