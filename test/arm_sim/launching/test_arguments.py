"""Arguments of launch files: their order, their descriptions, defaults that suit the file."""

import re

import pytest
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from repository import ROOT
from scripts import load_script

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
