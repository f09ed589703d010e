"""How a node's process ends."""

import subprocess
import sys

import pytest
from long_wait import LONG_WAIT

INTERRUPTED = """
import os, signal, sys
from arm_controllers.ros.running import run_node
def make():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt as error:
        raise ImportError('initialization failed') from error
sys.exit(run_node('node', make))
"""


def test_ctrl_c_during_the_import_of_a_c_extension_ends_without_traceback():
    ended = subprocess.run(
        [sys.executable, '-c', INTERRUPTED], capture_output=True, text=True, timeout=LONG_WAIT
    )
    assert (ended.returncode, ended.stderr) == (0, '')


@pytest.mark.parametrize('name', ['simulator', 'pd_controller', 'inverse_kinematics', 'cube_task'])
@pytest.mark.parametrize(
    ('limit', 'missing'),
    [
        ('-n 16', "256 open files, and 'ulimit -n' allows 16"),
        ('-v 2000000', "4000000 kB of address space, and 'ulimit -v' allows 2000000"),
    ],
)
def test_a_limit_too_low_for_a_node_gets_one_line_from_the_node(name, limit, missing):
    node = f'{sys.executable} -m arm_sim.executables {name}'
    command = ['bash', '-c', f'ulimit {limit}; exec {node}']
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LONG_WAIT, check=False)
    line = f'{name}: a node needs {missing}: raise the limit\n'
    assert (ended.stdout, ended.stderr, ended.returncode) == ('', line, 1)
