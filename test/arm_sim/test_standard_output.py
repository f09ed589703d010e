"""Commands whose output nobody reads, or nothing holds: they go on, with their own exit code."""

import os
import subprocess
import sys

import pytest

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


def test_output_that_is_lost_is_said_and_no_success(tmp_path):
    code = LOUD.replace('return 3', 'return 0')
    with open('/dev/full', 'w') as full:
        line = 'loud: what it printed was lost: No space left on device\n'
        assert ran(code, tmp_path, full) == (1, line)


def test_code_that_closes_stdout_does_not_close_it_for_the_command(tmp_path):
    code = "begun('law', lambda: (sys.stdout.close(), print('a table'))[0] or 0)"
    with open(tmp_path / 'said.txt', 'w') as said:
        assert ran(code, tmp_path, said) == (0, '')
    assert (tmp_path / 'said.txt').read_text() == 'a table\n'


def test_a_closed_stdout_does_not_become_the_file_that_is_opened_next(tmp_path):
    code = "begun('write', lambda: print('text') or 10 * open('data', 'w').fileno())"
    number, said = ran(code, tmp_path, None, lambda: os.close(1))
    assert said == ''
    assert number >= 30
