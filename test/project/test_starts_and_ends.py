"""The script that counts how launches end: what it counts, on processes of its own."""

import sys

import pytest
from scripts import load_script

LOG = """
[INFO] [simulator-1]: process started with pid [11]
[INFO] [pd_controller-2]: process started with pid [12]
[INFO] [inverse_kinematics-3]: process started with pid [13]
[INFO] [cube_task-4]: process started with pid [14]
[inverse_kinematics-3] Fatal Python error: init_import_site: Failed to import the site module
[ERROR] [inverse_kinematics-3]: process has died [pid 13, exit code 1, cmd 'x'].
[ERROR] [pd_controller-2]: process has died [pid 12, exit code -6, cmd 'x'].
[INFO] [simulator-1]: process has finished cleanly [pid 11]
"""


@pytest.fixture(scope='module')
def script():
    return load_script('benchmarks/starts_and_ends.py')


def test_ends_are_read_from_what_launch_says(script):
    assert script.endings(LOG) == {
        'simulator 0': 1,
        'inverse_kinematics 1 while Python started': 1,
        'pd_controller -6': 1,
        'cube_task unknown': 1,
    }


@pytest.mark.parametrize(
    ('ending', 'fine'),
    [
        ('simulator 0', True),
        ('simulator -2', True),
        ('cube_task 130', True),
        ('simulator 1 while Python started', True),
        ('simulator 130', False),
        ('simulator 1', False),
        ('viewer -11', False),
        ('servo_controller -6', False),
        ('simulator unknown', False),
        ('a process left', False),
    ],
)
def test_what_is_in_order(script, ending, fine):
    assert script.in_order(ending) == fine


def program(end: str) -> list[str]:
    """Return a stand-in for a launch: says that it is ready, waits, and ends by Ctrl-C so."""
    code = f'import signal, time, sys; signal.signal(2, {end}); print("up", flush=True)'
    return [sys.executable, '-c', f'{code}\nwhile True: time.sleep(0.1)']


def test_a_launch_that_ends_and_one_that_hangs_are_distinguished(script):
    code, log = script.once(program('lambda *_: sys.exit(7)'), 'up', 0.1, 30.0, whole_group=True)
    assert (code, log) == ('7', 'up\n')
    code, _ = script.once(program('signal.SIG_IGN'), 'up', 0.1, 0.5, whole_group=False)
    assert code == 'hung'
