"""Nodes, commands and calls are found by the names in their own files, without an import."""

import shutil
import subprocess
import sys
from importlib import import_module
from runpy import run_path

import pytest
from repository import ROOT

import arm_sim
from arm_sim.registered import calls, commands, executables, node_of, nodes


def test_setup_reads_the_executables_without_importing_the_package():
    code = f"""import runpy, sys
names = runpy.run_path({str(ROOT / 'arm_sim' / 'registered.py')!r})['executables']()
print(*names, sep='\\n')
sys.exit('numpy' in sys.modules or 'arm_sim' in sys.modules)"""
    found = subprocess.check_output([sys.executable, '-S', '-c', code], text=True)
    assert found.split() == executables()
    assert len({*executables()}) == len(executables())
    assert {'simulator', 'composed', 'pd_controller', 'comparison_task', 'rerun'} <= {
        *executables()
    }


def test_a_command_is_a_module_with_a_main_and_its_calls_are_functions_of_the_package():
    assert commands()['run'] == calls()['run'] == 'arm_lab.commands.run'
    assert calls()['compare'] == calls()['sweep'] == 'arm_lab.commands.compare_controllers'
    assert 'call' not in commands()  # a helper
    assert {*calls()} <= {*dir(arm_sim)}
    for name, module in (commands() | commands('ros')).items():
        assert callable(import_module(module).main), name
    for name in calls():
        assert callable(getattr(arm_sim, name))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = arm_sim.nonsense


def test_controllers_and_tasks_run_the_node_that_is_of_many():
    assert (node_of('pd_controller'), node_of('cube_task')) == ('controller', 'task')
    assert node_of('gripper_controller') == 'gripper_controller' in nodes()
    assert node_of('run') == ''


def test_a_folder_that_git_leaves_of_a_moved_task_has_no_executable(tmp_path):
    package = tmp_path / 'arm_sim'
    (package / 'tasks' / 'moved' / '__pycache__').mkdir(parents=True)
    (package / 'tasks' / 'cube').mkdir()
    for file in ('tasks/cube/__init__.py', 'tasks/push.py'):
        (package / file).touch()
    shutil.copy(ROOT / 'arm_sim' / 'registered.py', package)
    names = run_path(str(package / 'registered.py'))['executables']()
    assert [name for name in names if name.endswith('_task')] == [
        'cube_task', 'push_task', 'comparison_task',
    ]  # fmt: skip
