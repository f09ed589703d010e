"""What launch files tell a task's node."""

import pytest

from arm_sim.ros import task_launch
from arm_sim.ros.launch_arguments import _SHARED
from arm_sim.runs.robot import Robot
from arm_sim.tasks import make_task

LIMITS = make_task('cube', Robot.load('ur5e')).parameters.tracking_limit


@pytest.fixture
def told(monkeypatch):
    """Return what a task is told by a way of running it under these arguments."""
    monkeypatch.setattr(task_launch, 'arm_nodes', lambda *given, recorder: [])
    monkeypatch.setattr(task_launch, 'task_node', lambda task, told, space: told[-1])
    usual = {name: value for name, (value, *_) in _SHARED.items()}
    usual |= {'robot': 'ur5e', 'engine': 'mujoco', 'task': 'cube', 'parameters': '{}'}
    usual |= {'timestep': '0.001', 'natural_frequency': '20.0', 'frequency': '0.0'}

    def run(how, **given):
        return how(usual | given)[-1]

    return run


def tracking_limit(told, **given):
    report = {'controller': told['controller'], 'feedforward': told['feedforward']}
    rms = {'rms': 1.0, 'max': 1.0}
    report |= {'mode': 'lockstep', 'path_error_mm': rms, 'tracking_error_mm': rms}
    return make_task('cube', Robot.load('ur5e')).checks(report)[2].limit


def test_a_law_that_is_designed_is_not_judged_by_the_limit_of_the_files_gains(told):
    designed = told(task_launch.run_designed, law='pd', controller='')
    assert designed['feedforward'] == 'pd, designed for 20 rad/s'
    assert tracking_limit(designed) is None
    in_file = told(lambda given: task_launch.run_task(given, 'cube'), controller='pd')
    assert in_file['feedforward'] == ''
    assert tracking_limit(in_file) == LIMITS['pd']


def test_a_servo_has_the_gains_of_the_arm_and_its_limit_whoever_runs_it(told):
    designed = told(task_launch.run_designed, law='servo', controller='')
    assert tracking_limit(designed) == LIMITS['servo_inverse_dynamics']
