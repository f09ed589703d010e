"""How a node's process ends."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix
from arm_system import ArmSystem
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

# Ctrl-C while an installed script looks for the package that it is of.
INTERRUPTED_SCRIPT = """
import importlib.metadata, os, runpy, signal, sys
importlib.metadata.distribution = lambda name: os.kill(os.getpid(), signal.SIGINT)
runpy.run_path(sys.argv.pop(1), run_name='__main__')
"""


def test_ctrl_c_before_an_executable_has_found_its_package_ends_without_traceback():
    script = str(Path(get_package_prefix('arm_sim'), 'lib/arm_sim/simulator'))
    command = [sys.executable, '-c', INTERRUPTED_SCRIPT, script]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LONG_WAIT, check=False)
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, '')


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


# Time after which ROS removes a process from the graph that has ended without a word [s]: 20.
AT_ONCE = 10.0


@pytest.mark.parametrize('mode', ['lockstep', 'realtime'])
def test_nodes_that_end_leave_the_graph_at_once(mode):
    with ArmSystem(mode) as system:
        system.simulator()
        system.controller('computed_torque')
        system.wait_for_motion_control('computed_torque_controller')
        for process in system.processes.values():
            process.send_signal(signal.SIGINT)
        for process in system.processes.values():
            assert process.wait(LONG_WAIT) == 0
        ended = {'simulator', 'computed_torque_controller'}  # tests of this process have others
        left = lambda: ended & {*system.node.get_node_names()}  # noqa: E731
        system.wait(lambda: not left(), 'end on the graph', AT_ONCE)
