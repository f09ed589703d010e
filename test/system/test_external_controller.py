"""A controller that is not one of this package: what is started for it, and the page's own."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from domains import fresh_domain
from launch.actions import LogInfo
from long_wait import LONG_WAIT
from repository import ROOT

from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.launching import tasks
from arm_sim.launching.arguments import usual_values
from arm_sim.launching.arm import arm_nodes
from arm_sim.ros.simulator_setup import SimulatorParameters, description_of

PAGE = ROOT / 'docs' / 'your_controller.md'
USUAL = usual_values() | {
    'engine': 'mujoco',
    'record': 'false',
}


def started(**given):
    """The processes' names, and the lines for the terminal, of a launch with an external one."""
    found = arm_nodes(USUAL | {'controller': 'external'} | given)
    lines = [each for each in found if isinstance(each, LogInfo)]
    names = [each.node_executable for each in found if each not in lines]
    return names, ''.join(part.text for line in lines for part in line.msg)


@pytest.mark.parametrize(
    ('actuator', 'field'),
    [('', 'position [rad]'), ('torque', 'effort [N.m]'), ('voltage', 'effort [V]')],
)
def test_all_but_a_controller_is_started_and_what_it_waits_for_is_said(actuator, field):
    names, line = started(actuator=actuator, robot='planar_3r')
    assert names == ['simulator', 'inverse_kinematics']
    assert f"with the state's stamp and {field} of joint_1, joint_2, joint_3" in line


def test_the_robots_file_says_what_drives_it_where_the_argument_does_not(tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text('simulator: {ros__parameters: {actuator: torque}}')
    assert 'effort [N.m] of' in started(config=str(file))[1]


def test_another_actuator_than_a_laws_own_is_refused():
    with pytest.raises(ArmError, match=r"actuator is 'torque'; controller 'servo' has 'servo'"):
        arm_nodes(USUAL | {'actuator': 'torque'})
    assert arm_nodes(USUAL | {'actuator': 'servo'})


@pytest.mark.parametrize(
    ('task', 'given', 'says'),
    [
        ('sinusoid', {'passes': '3'}, "passes is 3; with controller 'external' only 1 is allowed"),
        ('sinusoid', {'model_error': '{payload: 1.0}'}, "controller 'external' has none"),
    ],
)
def test_what_needs_a_known_law_is_refused(task, given, says):
    given = USUAL | {'controller': 'external', 'robot': 'planar_3r'} | given
    with pytest.raises(ArmError, match=says):
        tasks.run_task(given, task)


def test_the_description_that_is_shown_may_be_another_arms_with_the_same_joints():
    p = SimulatorParameters(robot='planar_3r', payload=1.0)
    heavy = with_error(p.model(), ModelError(payload=1.0))
    assert description_of(p, heavy) == heavy.urdf != p.model().urdf
    assert description_of(replace(p, described='planar_3r'), heavy) == p.model().urdf
    with pytest.raises(ArmError, match="described is 'ur5e', with joints shoulder_pan_joint, "):
        description_of(replace(p, described='ur5e'), heavy)


def test_the_pages_controller_follows_a_task_in_lock_step(tmp_path):
    code = re.search(r'```python\n(.*?)```', PAGE.read_text(), re.DOTALL)[1]
    (tmp_path / 'my_controller.py').write_text(code)
    environment = os.environ | {'ROS_DOMAIN_ID': fresh_domain()}
    own = subprocess.Popen([sys.executable, tmp_path / 'my_controller.py'], env=environment)
    arguments = ('robot:=planar_3r', 'controller:=external', 'actuator:=torque')
    command = ['ros2', 'launch', 'arm_sim', 'task.launch.py', *arguments]
    try:
        run = subprocess.run(
            [*command, f'output_dir:={tmp_path}'],
            capture_output=True, text=True, timeout=LONG_WAIT, env=environment,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout + run.stderr
    finally:
        own.kill()
        own.wait()
    report = json.loads((tmp_path / 'report.json').read_text())
    assert report['controller'] == 'external'
    assert report['steps'] == 2000
    # Computed torque by another library than the plant's; without it the arm is off by 200 mm.
    assert report['tracking_error_mm']['rms'] < 2.0
