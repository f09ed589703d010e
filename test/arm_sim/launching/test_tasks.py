"""Parameters that launch files give a task's node."""

import re
from importlib.util import module_from_spec, spec_from_file_location

import pytest
from launch import LaunchContext
from repository import ROOT

from arm_dynamics.checks import ArmError
from arm_sim.launching import tasks
from arm_sim.launching.arguments import usual_values
from arm_sim.robot import Robot
from arm_sim.tasks import make_task
from arm_tools.view.ros import view_launch

LIMITS = make_task('cube', Robot.load('ur5e')).parameters.tracking_limit


@pytest.fixture
def reported(monkeypatch):
    """Return the parameters of a task by a way of running it under these arguments."""
    monkeypatch.setattr(tasks, 'arm_nodes', lambda *given, **others: [])
    monkeypatch.setattr(tasks, 'task_node', lambda task, reported, space: reported[-1])
    usual = usual_values()
    usual |= {'robot': 'ur5e', 'engine': 'mujoco', 'task': 'cube', 'parameters': '{}'}
    usual |= {'timestep': '0.001', 'natural_frequency': '20.0', 'frequency': '0.0'}

    def run(how, **given):
        return how(usual | given)[-1]

    return run


def tracking_limit(reported, **given):
    report = {'controller': reported['controller'], 'feedforward': reported['feedforward']}
    rms = {'rms': 1.0, 'max': 1.0}
    report |= {'mode': 'lockstep', 'path_error_mm': rms, 'tracking_error_mm': rms}
    return make_task('cube', Robot.load('ur5e')).report.checks(report)[2].limit


@pytest.mark.slow
def test_a_law_that_is_designed_is_not_judged_by_the_limit_of_the_files_gains(reported):
    designed = reported(tasks.run_designed, law='pd', controller='')
    assert designed['feedforward'] == 'pd, designed for 20 rad/s'
    assert tracking_limit(designed) is None
    in_file = reported(lambda given: tasks.run_task(given, 'cube'), controller='pd')
    assert in_file['feedforward'] == ''
    assert tracking_limit(in_file) == LIMITS['pd']


@pytest.mark.slow
def test_a_task_knows_how_arm_and_model_differ_for_its_title(reported):
    given = {'law': 'pd', 'controller': '', 'plant_error': '{payload: 1.0}', 'model_error': '{}'}
    errors = reported(tasks.run_designed, **given)['errors']
    assert errors.value == 'plant_error {payload: 1.0}'
    assert 'errors' not in reported(tasks.run_designed, law='pd', controller='')


def test_a_servo_has_the_gains_of_the_arm_and_its_limit_in_every_launch_file(reported):
    designed = reported(tasks.run_designed, law='servo', controller='')
    assert tracking_limit(designed) == LIMITS['servo_inverse_dynamics']


def test_a_task_that_begins_in_motion_begins_at_rest_in_real_time(reported):
    def sinusoid(given):
        return tasks.run_task(given, 'sinusoid')

    assert reported(sinusoid, controller='pd')['start'] == 'moving'
    assert reported(sinusoid, controller='pd', mode='realtime')['start'] == 'rest'
    with pytest.raises(ArmError, match='start is moving and mode is realtime.*start:=rest'):
        reported(sinusoid, controller='pd', mode='realtime', start='moving')


@pytest.mark.parametrize(
    ('task', 'law', 'own'),
    [
        ('push', 'computed_torque', False),
        ('push', 'external', True),
        ('pick_and_place', 'computed_torque', True),
    ],
)
def test_a_gripper_that_the_arms_law_does_not_hold_has_a_controller_of_its_own(
    task, law, own, monkeypatch, reported
):
    found = []
    nodes = lambda *_, gripper_controller, **__: found.append(gripper_controller) or []  # noqa: E731
    monkeypatch.setattr(tasks, 'arm_nodes', nodes)
    given = {'robot': 'ur5e gripper:=parallel', 'controller': law}
    reported(lambda given: tasks.run_task(given, task), **given)
    assert found == [own]


@pytest.mark.parametrize(
    ('file', 'given', 'says'),
    [
        ('arm', {'table': '[', 'contacts': 'true'}, "table is '[': not YAML"),
        ('arm', {'view': 'true', 'view_port': ''}, "view_port is ''; it must be a number"),
        ('arm', {'xacro_args': 'a:="'}, "xacro_args is 'a:=\"': No closing quotation"),
        ('replay', {'speed': 'fast'}, "speed is 'fast'; it must be a number"),
        ('task', {'parameters': '{1: 2}'}, 'parameters has the name 1; it must be a text'),
        ('ros2_control', {'controllers': '/none'}, "'/none': cannot be read: "),
    ],
)
def test_an_argument_that_cannot_be_is_refused_in_a_line_that_names_it(
    file, given, says, monkeypatch
):
    monkeypatch.setattr(view_launch, 'has_viser', lambda: True)
    monkeypatch.setenv('ROS_DOMAIN_ID', '')  # as where it is not set
    path = ROOT / 'launch' / f'{file}.launch.py'
    spec = spec_from_file_location(file, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    *arguments, _, start = module.generate_launch_description().entities
    context = LaunchContext()
    for each in arguments:
        each.execute(context)
    context.launch_configurations.update(given)
    with pytest.raises(ArmError, match=re.escape(says)) as reported:
        start.execute(context)
    assert '\n' not in str(reported.value)
