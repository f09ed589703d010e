"""Arguments of launch files: their order, their descriptions, defaults that suit the file."""

import re

import pytest
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from repository import ROOT
from scripts import load_script

from arm_dynamics.checks import ArmError
from arm_sim.launching.arguments import usual_values

FILES = sorted(path.name for path in (ROOT / 'launch').glob('*.launch.py'))
GROUPS = [
    'everyday', 'task', 'robot and control', 'physics', 'recording', 'page', 'graph',
]  # fmt: skip


def arguments(file) -> list[DeclareLaunchArgument]:
    description: LaunchDescription = load_script(f'launch/{file}').generate_launch_description()
    return description.get_launch_arguments()


def default(file, name):
    (found,) = (each for each in arguments(file) if each.name == name)
    return found.default_value[0].text


@pytest.mark.parametrize('file', FILES)
def test_arguments_are_shown_by_group_in_whole_phrases(file):
    found = [re.match(r'\[(.*?)\] (.*)', each.description, re.S) for each in arguments(file)]
    assert all(found)
    places = [GROUPS.index(each[1]) for each in found]
    assert places == sorted(places)
    assert all(len(each[2].split()) >= 3 for each in found)


def test_every_launch_file_that_starts_an_engine_with_contacts_takes_a_scene(monkeypatch):
    without = {'drive', 'motion_models', 'pose_hold', 'replay', 'view'}
    have = {file for file in FILES if 'scene' in {each.name for each in arguments(file)}}
    assert {*FILES} - have == {f'{name}.launch.py' for name in without}
    # The comparisons pass the scene on to their command.
    given = usual_values() | {'scene': 'blocks', 'sweep': 'mass_scale', 'values': ''}
    given |= dict.fromkeys(('robots', 'tasks', 'laws', 'task', 'timestep'), 'x') | {'over': 'loop'}
    for file, function in (('compare', 'compare'), ('model_mismatch', 'mismatch')):
        found = getattr(load_script(f'launch/{file}.launch.py'), function)(given)
        (tool,) = (each for each in found if hasattr(each, 'cmd'))
        assert '--scene=blocks' in [part[0].text for part in tool.cmd]


def test_an_arm_that_waits_for_goals_runs_in_real_time_a_task_in_lock_step():
    assert default('arm.launch.py', 'mode') == 'realtime'
    assert {default(f'{file}.launch.py', 'mode') for file in ('cube', 'task', 'sinusoid')} == {
        'lockstep'
    }


@pytest.mark.parametrize(
    ('task', 'mode', 'wanted'),
    [
        ('none', '', 'realtime'),
        ('sinusoid', '', 'lockstep'),
        ('none', 'lockstep', 'lockstep'),
        ('sinusoid', 'realtime', 'realtime'),
    ],
)
def test_a_motion_model_that_waits_for_goals_runs_in_real_time(monkeypatch, task, mode, wanted):
    script = load_script('launch/motion_models.launch.py')
    for name in ('run_arm', 'run_task'):
        monkeypatch.setattr(script, name, lambda given, *_, **__: given['mode'])
    assert script.motion_models({'task': task, 'mode': mode}) == wanted


def test_drive_refuses_a_rate_and_topics_that_no_node_could_have():
    drive = load_script('launch/drive.launch.py').drive
    usual = {
        each.name: default('drive.launch.py', each.name) for each in arguments('drive.launch.py')
    }
    usual |= {'controller': 'servo'}
    for name, value, reason in (
        ('rate', '0', 'rate is 0 Hz; it must be 10 to 100000 Hz'),
        ('rate', '-5', 'rate is -5 Hz; it must be 10 to 100000 Hz'),
        ('states', 'joint states', "states: 'joint states' is no topic"),
        ('states', '', "states: '' is no topic"),
        ('robot_controller', '1st', "robot_controller: '/1st/commands' is no topic"),
    ):
        with pytest.raises(ArmError, match=f'^{re.escape(reason)}'):
            drive(usual | {name: value})
    drive(usual | {'rate': '60', 'robot_controller': '/left/arm'})  # not a whole period [ns]
