"""Commands whose output nobody reads, or nothing holds: they go on, with their own exit code."""

import io
import os
import subprocess
import sys

import pytest

from arm_sim import standard_output

# Begins and ends a command as its executable does.
BEGIN = """
import os, sys
from arm_sim import standard_output

def begun(name, start):
    standard_output.keep()
    os._exit(standard_output.end(name, start()))
"""
LOUD = """
def start():
    for _ in range(20_000):
        print('a law that prints a lot')
    open('result.txt', 'w').write('complete')
    return 3

begun('loud', start)
"""
LAUNCH = """
from launch.logging import get_logger
from arm_sim.launching.shutdown import keep_screen

logger = get_logger('arm')
keep_screen()
for _ in range(3):
    logger.info('a launch prints a lot')
os._exit(standard_output.end('launch', 3))
"""


def ran(code, folder, stdout, before=None):
    """Run Python code; return exit code and what it wrote to stderr."""
    done = subprocess.run(
        [sys.executable, '-c', BEGIN + code],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        preexec_fn=before,
    )
    return done.returncode, done.stderr


def no_reader():
    """Close the reader of stdout."""
    read, write = os.pipe()
    os.close(read)
    os.dup2(write, 1)


@pytest.mark.parametrize('before', [no_reader, lambda: os.close(1)])
def test_a_command_goes_on_where_nobody_reads(before, tmp_path):
    assert ran(LOUD, tmp_path, None, before) == (3, '')
    assert (tmp_path / 'result.txt').read_text() == 'complete'


def test_a_launch_goes_on_where_nobody_reads(tmp_path):
    pytest.importorskip('launch')
    assert ran(LAUNCH, tmp_path, None, no_reader) == (3, '')


def test_a_program_that_a_command_starts_goes_on_where_nobody_reads(tmp_path):
    code = """
import subprocess

def start():
    print('a table', flush=True)
    return 3 + subprocess.run(['echo', 'done']).returncode

begun('start', start)
"""
    assert ran(code, tmp_path, None, no_reader) == (3, '')


def test_output_that_is_lost_is_said_and_no_success(tmp_path):
    code = LOUD.replace('return 3', 'return 0')
    with open('/dev/full', 'w') as full:
        line = 'loud: what it printed was lost: No space left on device\n'
        assert ran(code, tmp_path, full) == (1, line)


def test_code_that_closes_stdout_does_not_close_it_for_the_command(tmp_path):
    code = "begun('law', lambda: (sys.stdout.close(), print(sys.stderr.errors))[0] or 0)"
    with open(tmp_path / 'said.txt', 'w') as said:
        assert ran(code, tmp_path, said) == (0, '')
    assert (tmp_path / 'said.txt').read_text() == 'backslashreplace\n'  # as it was


def test_what_a_notebook_has_for_stdout_is_left(monkeypatch):
    own = io.StringIO()
    monkeypatch.setattr(sys, 'stdout', own)
    monkeypatch.setattr(sys, 'stderr', own)
    standard_output.keep()
    assert sys.stdout is sys.stderr is own


def test_a_closed_stdout_does_not_become_the_file_that_is_opened_next(tmp_path):
    code = "begun('write', lambda: print('text') or 10 * open('data', 'w').fileno())"
    number, said = ran(code, tmp_path, None, lambda: os.close(1))
    assert said == ''
    assert number >= 30


@pytest.mark.parametrize(
    'law',
    [
        'sys.stdout = None',
        'sys.stdout = open(os.devnull, "w")',
        'import io; sys.stdout = io.StringIO(); sys.stdout.close()',
        'sys.stdout.detach()',
        'sys.stdout = object()',
        'sys.stderr = None',
    ],
)
def test_code_that_replaces_stdout_leaves_what_was_printed_and_the_exit_code(law, tmp_path):
    lines = 'def start():', 'sys.first = sys.stdout', "print('a table')", law, 'return 0\n'
    code = '\n    '.join(lines)
    with open(tmp_path / 'said.txt', 'w') as said:
        assert ran(f"{code}begun('law', start)", tmp_path, said) == (0, '')
    assert (tmp_path / 'said.txt').read_text() == 'a table\n'


@pytest.mark.slow
def test_a_stream_that_was_kept_by_others_goes_on_too(tmp_path):
    code = LOUD.replace("print('a law", "print(file=sys.__stdout__, *'a law")
    assert ran(code, tmp_path, None, no_reader) == (3, '')


def test_a_pipe_that_does_not_block_is_waited_for(tmp_path):
    read, write = os.pipe()
    os.set_blocking(write, False)
    code = BEGIN + LOUD
    command = [sys.executable, '-c', code]
    with subprocess.Popen(command, stdout=write, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        os.close(write)
        with open(read) as reader:
            assert reader.read().count('\n') == 20_000
        assert process.stderr.read() == b''
    assert process.returncode == 3


WORKERS = """
import atexit
from arm_lab.experiments.executors import completed, executor

def loud(job):
    for _ in range(20_000):
        print('a law that prints a lot')
    return job

def start():
    with executor(2) as workers:
        answers = [answer for _, answer in completed(workers, loud, range(3))]
    open('result.txt', 'w').write(str(sorted(answers)))

if __name__ == '__main__':
    standard_output.keep()
    atexit.register(lambda: os._exit(standard_output.end('loud', 3)))
    start()
"""


@pytest.mark.parametrize('where', [None, '/dev/full'])
def test_laws_in_worker_processes_go_on_where_nobody_reads(where, tmp_path):
    # A worker's job ended with a traceback.
    (tmp_path / 'command.py').write_text(BEGIN + WORKERS)
    with open(where or os.devnull, 'w') as stdout:
        done = subprocess.run(
            [sys.executable, 'command.py'],
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            preexec_fn=None if where else no_reader,
        )
    assert (done.returncode, done.stderr) == (3, '')
    assert (tmp_path / 'result.txt').read_text() == '[0, 1, 2]'
