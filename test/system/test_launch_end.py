"""A launch ends though one of its actions never does, and signals its processes at once."""

import re
import signal
import subprocess
import time

import pytest
from long_wait import LONG_WAIT

LAUNCH = """
from launch import Action, LaunchDescription
from launch.actions import ExecuteProcess
from arm_sim.launching.shutdown import shutdown_guard


class Stuck(Action):
    def execute(self, context):
        self.future = context.asyncio_loop.create_future()

    def get_asyncio_future(self):
        return self.future


def generate_launch_description():
    process = ExecuteProcess(cmd=['sh', '-c', 'echo started; exec sleep 1000'], output='screen')
    return LaunchDescription([shutdown_guard(1.0), Stuck(), process])
"""


def interrupted(file):
    """Return the exit code of `ros2 launch` on SIGINT without a terminal, and what it printed."""
    with subprocess.Popen(
        ['ros2', 'launch', str(file)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as launch:
        printed = ''
        while '] started' not in printed:
            printed += launch.stdout.readline()
        launch.send_signal(signal.SIGINT)
        printed += launch.communicate(timeout=LONG_WAIT)[0]
    return launch.returncode, printed


def test_ctrl_c_ends_a_launch_that_waits_for_what_never_comes(tmp_path):
    file = tmp_path / 'stuck.launch.py'
    file.write_text(LAUNCH)
    code, printed = interrupted(file)
    assert code == 1
    assert 'all processes have ended, launch itself has not' in printed


NOTED = """
from launch import LaunchDescription
from launch.actions import ExecuteProcess
from arm_sim.launching.shutdown import shutdown_guard

CODE = '''
import re
import signal
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(
        number, lambda number, frame: print('first', signal.Signals(number).name, flush=True)
    )
print('started', flush=True)
signal.pause()
'''


def generate_launch_description():
    patient = {'sigterm_timeout': '100', 'sigkill_timeout': '100'}
    process = ExecuteProcess(cmd=['python3', '-c', CODE], output='screen', **patient)
    return LaunchDescription([shutdown_guard(), process])
"""


def test_sigint_that_only_launch_gets_reaches_its_processes(tmp_path):
    file = tmp_path / 'noted.launch.py'
    file.write_text(NOTED)
    code, printed = interrupted(file)
    assert code == 0
    assert '] first SIGINT' in printed


ONLOOKER = """
from launch import LaunchDescription
from launch.actions import ExecuteProcess
from arm_sim.launching.processes import exit_options


def generate_launch_description():
    # Until launch has asked for the end of the other one: so long it is there.
    script = 'while [ ! -s {file} ] || kill -0 $(cat {file}) 2>/dev/null; do sleep 0.1; done'
    onlooker = ['sh', '-c', 'echo $$ > {file}; {end}']
    return LaunchDescription([
        ExecuteProcess(cmd=onlooker, **exit_options('viewer', False, True)),
        ExecuteProcess(cmd=['sh', '-c', script + '; sleep 2'], **exit_options('cube_task', True)),
    ])
"""


@pytest.mark.parametrize(
    ('end', 'code', 'message'),
    [
        ('kill -9 $$', 0, 'viewer ended with signal 9; the arm goes on'),
        ('exit 0', 0, 'process[sh-2] was required'),
        ('exit 3', 0, 'viewer ended with exit code 3; the arm goes on'),
    ],
)
def test_the_end_of_an_optional_process_never_ends_the_arm(tmp_path, end, code, message):
    file = tmp_path / 'seen.launch.py'
    file.write_text(ONLOOKER.replace('{file}', str(tmp_path / 'begun')).replace('{end}', end))
    done = subprocess.run(
        ['ros2', 'launch', str(file)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert (done.returncode, message in done.stdout) == (code, True), done.stdout


def test_a_recorder_that_is_ended_before_it_is_ready_is_a_line(tmp_path):
    file = tmp_path / 'starting.launch.py'
    text = ONLOOKER.replace('; {end}', '; exec sleep 1000').replace("'viewer'", "'recorder'")
    text = text.replace(' || kill -0 $(cat {file}) 2>/dev/null', '')
    file.write_text(text.replace('{file}', str(tmp_path / 'begun')))
    command = ['ros2', 'launch', str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 'recorder was ended before it was ready, and has done nothing' in done.stdout


def test_sigint_ends_a_launch_whose_shell_ignored_sigint(tmp_path):
    log = tmp_path / 'log.txt'
    shell = 'trap "" INT; exec ros2 launch arm_sim arm.launch.py robot:=planar_3r'
    with (
        log.open('w') as output,
        subprocess.Popen(['sh', '-c', shell], stdout=output, stderr=output) as launch,
    ):
        end = time.monotonic() + LONG_WAIT
        while 'model and plant agree' not in log.read_text():
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        launch.send_signal(signal.SIGINT)
        code = launch.wait(timeout=LONG_WAIT)
    assert (code, 'Traceback' in log.read_text()) == (0, False), log.read_text()


REFUSED = """
from launch import LaunchDescription
from launch.actions import ExecuteProcess
from arm_sim.launching.processes import exit_options


def generate_launch_description():
    starting = ['sh', '-c', 'exec sleep 1000']  # ends by SIGINT, as a Python that starts
    refusing = ['sh', '-c', 'sleep 1; echo the reason; exit 1']
    return LaunchDescription([
        ExecuteProcess(cmd=starting, **exit_options('sh', False)),
        ExecuteProcess(cmd=refusing, **exit_options('sh', False)),
    ])
"""


def test_a_node_that_refuses_to_start_leaves_no_error_line_but_its_own(tmp_path):
    file = tmp_path / 'refused.launch.py'
    file.write_text(REFUSED)
    command = ['ros2', 'launch', str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    printed = done.stdout + done.stderr
    assert (done.returncode, '[sh-2] the reason' in printed) == (1, True), printed
    assert '[INFO] [launch]: sh ended with exit code 1' in printed
    assert 'ERROR' not in printed, printed
    assert 'sleep' not in printed  # command lines


def test_a_node_that_crashes_is_an_error_with_its_command_line(tmp_path):
    file = tmp_path / 'crashed.launch.py'
    file.write_text(REFUSED.replace('exit 1', 'kill -SEGV $$'))
    command = ['ros2', 'launch', str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    printed = done.stdout + done.stderr
    assert done.returncode == 1
    assert re.search(
        r'\[ERROR\] \[sh-2\]: process has died \[pid \d+, exit code -11, cmd', printed
    )


STARTING = """
from launch import LaunchDescription
from launch.actions import AppendEnvironmentVariable
from arm_sim.launching.processes import node_process


def generate_launch_description():
    early = AppendEnvironmentVariable('PYTHONPATH', {folder!r}, prepend=True)
    return LaunchDescription([early, node_process('simulator', [], '')])
"""


def test_ctrl_c_while_the_python_of_a_node_starts_is_quiet(tmp_path):
    early = 'import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n'
    (tmp_path / 'sitecustomize.py').write_text(early)
    file = tmp_path / 'starting.launch.py'
    file.write_text(STARTING.format(folder=str(tmp_path)))
    done = subprocess.run(
        ['ros2', 'launch', str(file)], capture_output=True, text=True, timeout=LONG_WAIT
    )
    printed = done.stdout + done.stderr
    assert ('exit code -2' in printed, 'KeyboardInterrupt' in printed) == (True, False), printed
