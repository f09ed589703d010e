"""Submissions: the same law gets the same grade, and a hostile one gets one clear line."""

import pytest

import arm_sim
from arm_lab.commands import grade as command

LIMITS = """
robot: planar_3r
tasks: {step: {duration: 0.9}}
variants: {exact: {}}
limits: {all: {tracking_max_mm: 1000.0}}
"""
LAW = """
import os, sys
from dataclasses import dataclass

from arm_controllers.laws import Law

{before}

class Mine(Law):
    @dataclass(frozen=True)
    class Parameters:
        kp: float = 400.0

    def __call__(self, state, measured, reference, dt):
        {inside}
        return self.model.inverse_dynamics(measured.q, measured.v, 0.0 * measured.q), state
"""
HOSTILE = {
    'loop': ('', 'while True: pass', 'more than 4 s of CPU time'),
    'memory': ('', 'bytearray(10**11)', 'MemoryError: a law may allocate 4 GB'),
    'leaves': ('', 'sys.exit(0)', 'the law ended its process: sys.exit(0)'),
    'exits': ('', 'os._exit(0)', 'ended with exit code 0'),
    'breaks': ('1 / 0', '', 'ZeroDivisionError: division by zero'),
    'writes': ('print("spam " * 10**6)', 'print(dt)', ''),
}


@pytest.mark.slow
def test_a_law_gets_the_same_grade_twice_and_a_hostile_one_a_line(tmp_path, capfd):
    (tmp_path / 'limits.yaml').write_text(LIMITS)
    files = []
    for name, (before, inside, _) in {'a': ('', '', ''), **HOSTILE, 'b': ('', '', '')}.items():
        files.append(tmp_path / f'{name}.py')
        files[-1].write_text(LAW.format(before=before, inside=inside or 'pass'))
    found = arm_sim.grade(
        [str(each) for each in files], limits=tmp_path / 'limits.yaml', seconds=4, workers=1
    ).found
    first, *others, last = found
    assert first[1:] == last[1:] == (1, 1, first.checksum, '')
    for each, (name, (_, _, line)) in zip(others, HOSTILE.items(), strict=True):
        assert each.submission.endswith(f'{name}.py')
        assert each.held == (not line)
        assert line in each.reason
        assert '\n' not in each.reason
        assert len(each.reason) < 400
    said = capfd.readouterr()
    assert 'spam' not in said.out + said.err  # it is in the law's own log


def test_a_command_without_submissions_is_refused(tmp_path, capsys):
    assert command.main(['--output-dir', str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith('grade: submissions is empty')
