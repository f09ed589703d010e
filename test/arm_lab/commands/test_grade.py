"""Submissions: the same law gets the same grade, and a hostile one gets one clear line."""

import random
import subprocess

import numpy as np
import psutil
import pytest

import arm_sim
from arm_lab.command_line import read
from arm_lab.commands import grade as command
from arm_lab.experiments.report import Listing
from arm_lab.judging.law_trials import judge_law
from arm_lab.judging.plan import read_plan

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
    'leaves': ('', 'sys.exit(0)', 'ends the process by sys.exit(0)'),
    'exits': ('', 'os._exit(0)', 'ended with exit code 0'),
    'breaks': ('1 / 0', '', 'ZeroDivisionError: division by zero'),
    'writes': ('print("spam " * 10**6)', 'print(dt)', ''),
    'kills': ('', 'os.kill(os.getppid() or os.getpid(), 9)', 'killed from outside'),
    'paints': ('', 'raise ValueError("\\x1b[31m<script>")', 'ValueError: [31m<script>'),
    'stays': (
        'import subprocess\nsubprocess.Popen(["sleep", "98765"], start_new_session=True)',
        '',
        '',
    ),
    'connects': ('import socket', 'socket.socket(socket.AF_UNIX)', 'PermissionError: [Errno 1]'),
}
APART = {'looks': ('', 'if os.listdir("/run"): raise ValueError("it sees /run")', '')}


@pytest.mark.slow
def test_a_law_gets_the_same_grade_twice_and_a_hostile_one_a_line(tmp_path, capfd):
    (tmp_path / 'limits.yaml').write_text(LIMITS)
    files, hostile = [], HOSTILE | (APART if namespaces() else {})
    for name, (before, inside, _) in {'a': ('', '', ''), **hostile, 'b': ('', '', '')}.items():
        files.append(tmp_path / f'{name}.py')
        files[-1].write_text(LAW.format(before=before, inside=inside or 'pass'))
    found = arm_sim.grade(
        [str(each) for each in files], limits=tmp_path / 'limits.yaml', seconds=4, workers=1
    ).found
    first, *others, last = found
    assert first[1:] == last[1:] == (1, 1, first.checksum, '')
    for each, (name, (_, _, line)) in zip(others, hostile.items(), strict=True):
        assert each.submission.endswith(f'{name}.py')
        # Where Linux gives no namespace of processes the law kills who waits for it, no other.
        unharmed = name == 'kills' and not each.reason
        # A busy machine has not given a law 4 s of CPU time by then.
        late = name == 'loop' and 'no end within' in each.reason
        assert unharmed or each.held == (not line)
        assert unharmed or late or line in each.reason
        assert '\n' not in each.reason
        assert len(each.reason) < 400
    said = capfd.readouterr()
    assert 'spam' not in said.out + said.err  # it is in the law's own log
    running = psutil.process_iter(['cmdline'])
    stayed = [each for each in running if '98765' in (each.info['cmdline'] or ())]
    assert not stayed or not namespaces()


@pytest.mark.slow
def test_a_law_that_draws_without_a_seed_gets_the_same_grade_and_the_same_run_twice(tmp_path):
    (tmp_path / 'limits.yaml').write_text(LIMITS)
    drawn = 'random.random() * np.random.randn(3)'
    law = LAW.format(before='import random\nimport numpy as np', inside='pass')
    law = law.replace('0.0 * measured.q', drawn)
    files = [tmp_path / f'{name}.py' for name in 'ab']
    for file in files:
        file.write_text(law)
    limits = tmp_path / 'limits.yaml'
    one, other = arm_sim.grade([str(x) for x in files], limits=limits, workers=1).found
    assert one.checksum == other.checksum != ''
    given = {'law': str(files[0]), 'natural_frequency': 0.0, 'parameters': {'duration': 0.9}}
    records = []
    for seed in range(2):
        np.random.seed(seed)
        random.seed(seed)
        own = np.random.RandomState(seed).rand(), random.Random(seed).random()
        records.append(arm_sim.run('planar_3r', 'step', **given).record.checksum())
        assert (np.random.rand(), random.random()) == own  # of the user, as before
    assert records[0] == records[1]


def test_ctrl_c_leaves_the_grades_that_were_given(tmp_path, monkeypatch, capsys):
    (tmp_path / 'limits.yaml').write_text(LIMITS)

    def graded(limits, seconds, job):
        if job[0] == 'b.py':
            raise KeyboardInterrupt
        return command.Grade(job[0], 1, 1, 'abc', '')

    monkeypatch.setattr(command, 'graded', graded)
    given = ['--limits', str(tmp_path / 'limits.yaml'), '--output-dir', str(tmp_path)]
    assert command.main([*given, '--workers', '1', 'a.py', 'b.py']) == 130
    assert '1 of 2 submissions on ' in capsys.readouterr().out
    assert '| a.py | 1 of 1 |' in (tmp_path / 'grades.md').read_text()


def test_options_may_follow_the_submissions():
    words = ['a.py', 'b.py', '--output-dir', 'of_a_class', '--seconds', '5']
    options = read(command.Options, 'grade', words)
    assert options.submissions == ('a.py', 'b.py')
    assert (options.output_dir, options.seconds) == ('of_a_class', 5.0)


def test_a_submission_without_disk_gets_a_line(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, 'No space left on device')

    (tmp_path / 'limits.yaml').write_text(LIMITS)
    monkeypatch.setattr(command, 'judge_law', full)
    found = command.graded(str(tmp_path / 'limits.yaml'), 4.0, ('a.py', str(tmp_path / 'a')))
    assert found[1:] == (0, 1, '', f'{tmp_path / "a"}: No space left on device')


def namespaces():
    """Return whether this system gives a user a namespace of processes."""
    command = ['unshare', '-rp', '--fork', 'true']
    return not subprocess.run(command, capture_output=True).returncode


# What is slow to import, and needed by none of the parts of this trial.
SLIM = """
slow = {'cma', 'matplotlib', 'scipy.interpolate', 'scipy.stats'} & {*sys.modules}
if slow:
    raise ImportError(f'without need: {slow}')
"""


@pytest.mark.slow
def test_time_to_import_and_compile_is_not_the_laws(tmp_path):
    (tmp_path / 'limits.yaml').write_text(LIMITS)
    file = tmp_path / 'a.py'
    file.write_text(LAW.format(before=SLIM, inside='pass'))
    given = {'limits': tmp_path / 'limits.yaml', 'seconds': 1, 'workers': 1}
    report = arm_sim.grade([str(file)], output_dir=tmp_path, **given)
    assert report.found[0].held == 1
    plan = read_plan(str(tmp_path / 'limits.yaml'))
    shorter_than_a_start = judge_law(plan, str(file), tmp_path, 0.1)
    assert shorter_than_a_start.held, shorter_than_a_start
    assert not (tmp_path / 'begun').exists()
    file.write_text(LAW.format(before='', inside='while True: pass'))
    (endless,) = judge_law(plan, str(file), tmp_path, 0.1).verdicts
    assert endless.reason.startswith('more than 1 s of CPU time')  # and ten seconds by the clock


def test_a_table_shows_no_html_and_no_controls_of_a_terminal():
    listing = Listing('laws', ('law', 'why'), [('a', 'x|<script>\x1b[31m')], texts=('why',))
    assert '| a | x\\|&lt;script> [31m |' in listing.markdown()


def test_a_command_without_submissions_is_refused(tmp_path, capsys):
    assert command.main(['--output-dir', str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith('grade: submissions is empty')
