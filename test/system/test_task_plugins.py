"""A user's package brings a task by an entry point: in the loop, compared, and over topics."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from domains import fresh_domain
from experiment_parts import measures_of
from long_wait import LONG_WAIT
from plugins import TASK, write_plugins

from arm_dynamics.checks import ArmError
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.runs import record_of
from arm_sim import tasks
from arm_sim.tasks import compared_tasks, task_names


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    """Return a folder with the task nod and a broken one, installed for this process."""
    modules = {'nod': TASK, 'broken': 'import no_such_library'}
    entries = {'arm_sim.tasks': {'nod': 'nod:Nod', 'broken': 'broken:Broken'}}
    folder = write_plugins(tmp_path / 'plugins', modules, entries)
    monkeypatch.setattr(sys, 'path', [str(folder), *sys.path])
    _forget()
    yield folder
    _forget()


def _forget():
    tasks.TASKS.refresh()
    for name in [name for name in sys.modules if name.startswith('plugins_of_a_user')]:
        del sys.modules[name]


def outside(folder, *command):
    """Run a command as a user who has installed the folder; return code and what it printed."""
    path = os.pathsep.join([str(folder), os.environ.get('PYTHONPATH', '')])
    environment = os.environ | {'PYTHONPATH': path, 'ROS_DOMAIN_ID': fresh_domain()}
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=LONG_WAIT, env=environment
    )
    return run.returncode, run.stdout + run.stderr


def test_a_plugin_is_a_task_among_the_others_and_a_broken_one_harms_no_other(plugins):
    assert {'nod', 'broken', 'cube'} <= set(task_names())
    assert compared_tasks()[0] == 'sinusoid'
    assert compared_tasks()[-1] == 'nod'
    with pytest.raises(ArmError, match=r"^task 'broken' \(.*\) cannot be imported: Module"):
        measures_of(Experiment('planar_3r', 'broken', 'pd'))


def test_a_plugin_runs_in_the_loop_and_better_laws_do_it_better(plugins):
    record = record_of(Experiment('planar_3r', 'nod', 'computed_torque'))
    assert len(record.t) == 500
    np.testing.assert_allclose(np.ptp(record.q_reference[:, -1]), 0.3, rtol=1e-4)
    rms = [
        measures_of(Experiment('planar_3r', 'nod', law)).tracking_rms_mm
        for law in ('pd', 'computed_torque')
    ]
    assert rms[1] < 0.1 * rms[0]


def test_a_plugin_is_compared(plugins, tmp_path):
    command = [
        sys.executable,
        '-m',
        'arm_sim.executables',
        'compare_controllers',
        '--workers',
        '2',
    ]
    options = ['--robots', 'planar_3r', '--tasks', 'nod', '--laws', 'pd,computed_torque']
    code, printed = outside(plugins, *command, *options, '--output-dir', str(tmp_path / 'out'))
    assert code == 0, printed
    rows = json.loads((tmp_path / 'out' / 'comparison.json').read_text())['rows']
    assert [(row['task'], row['law']) for row in rows] == [
        ('nod', 'pd'),
        ('nod', 'computed_torque'),
    ]


@pytest.mark.parametrize(
    ('arguments', 'code'),
    [
        (['law:=computed_torque'], 0),
        (['controller:=pd', 'start:=rest', 'parameters:={limit: 0.001, duration: 0.4}'], 1),
    ],
)
def test_a_plugin_runs_over_topics(plugins, tmp_path, arguments, code):
    command = ['ros2', 'launch', 'arm_sim', 'task.launch.py', 'task:=nod', 'robot:=planar_3r']
    given = [*arguments, f'output_dir:={tmp_path}/out']
    ended, printed = outside(plugins, *command, *given)
    assert ended == code, printed
    report = json.loads((tmp_path / 'out' / 'report.json').read_text())
    assert report['task'] == 'nod'
    assert report['limits_held'] == (code == 0)
    assert (tmp_path / 'out' / 'tracking.png').stat().st_size > 10_000
    if code == 0:
        rms = measures_of(Experiment('planar_3r', 'nod', 'computed_torque')).tracking_rms_mm
        np.testing.assert_allclose(report['tracking_error_mm']['rms'], rms, rtol=1e-6)


def test_a_plugin_that_takes_a_name_of_every_tasks_node_is_refused(plugins, tmp_path):
    (plugins / 'plugins_of_a_user' / 'nod.py').write_text(
        'from dataclasses import dataclass\nfrom arm_sim.tasks import Task\n'
        '@dataclass(frozen=True)\nclass P:\n    mode: str = "fast"\n'
        'class Nod(Task):\n    Parameters, duration = P, 1.0\n'
        '    def reference(self, t, reference): reference.row[:] = 0.0\n'
    )
    command = ['ros2', 'launch', 'arm_sim', 'task.launch.py', 'task:=nod', 'robot:=planar_3r']
    code, printed = outside(plugins, *command, f'output_dir:={tmp_path}/out')
    assert code == 1
    assert "task 'nod' needs other names for mode" in printed
