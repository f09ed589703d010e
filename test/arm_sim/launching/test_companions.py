"""Processes beside an arm's nodes: each is started by its launch argument, and only by that."""

import pytest

from arm_sim.launching.arguments import usual_values
from arm_sim.launching.companions import LaunchedArm, companions

QUIET = usual_values() | {'record': 'false', 'table': '[1.0, 0.0, 0.0, 1.0, 1.0, 0.1]'}
SIMULATOR = {'table': [1.0, 0.0, 0.0, 1.0, 1.0, 0.1]}


def started(**given):
    """Return the executables that are started beside an arm."""
    arm = LaunchedArm(QUIET | given, 'base_link', 'file.yaml', SIMULATOR, recorder=True)
    return [each.node_executable for each in companions(arm)]


@pytest.mark.parametrize(
    'given',
    [
        {'viewer': 'true'},
        {'record': 'bag'},
        {'tip_servo': 'true'},
        {'linear_move': 'true', 'plan_motion': 'true'},
    ],
)
def test_an_argument_starts_the_process_of_its_own_file_and_no_other(given):
    names = ['recorder' if name == 'record' else name for name in given]
    assert started(**given) == names
    assert started() == []


def test_a_task_records_itself_and_goals_go_to_the_node_that_takes_them():
    arm = LaunchedArm(QUIET | {'record': 'true'}, 'base_link', '', SIMULATOR, recorder=False)
    assert companions(arm) == []
    assert arm.server == 'servo_controller'
    none = LaunchedArm(QUIET | {'controller': 'none'}, 'base_link', '', SIMULATOR, recorder=False)
    assert none.server == 'simulator'
