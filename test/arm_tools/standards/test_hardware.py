"""The interfaces of a simulated arm, and which of them a controller requires."""

import subprocess
from pathlib import Path

import pytest

from arm_controllers.parameter_file import read_parameter_file
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.robot import Robot
from arm_tools.standards.hardware import Hardware, HardwareParameters

NAMES = RobotModel.from_urdf(find_urdf('planar_3r')).joint_names
CONTROLLERS = f"""
arm_controller: {{ros__parameters: {{joints: [{NAMES[0]}, {NAMES[1]}]}}}}
servo_controller: {{ros__parameters: {{joints: [{NAMES[2]}]}}}}
"""


def test_each_joint_offers_the_interface_of_its_drive_and_controllers_require_their_joints(
    tmp_path,
):
    file = tmp_path / 'controllers.yaml'
    file.write_text(CONTROLLERS)
    drives = 'torque', 'velocity', 'servo'
    hardware = Hardware(HardwareParameters('planar_3r', actuator=drives, config=str(file)))
    offers = tuple(map('/'.join, zip(NAMES, ('effort', 'velocity', 'position'), strict=True)))
    assert hardware.offers == offers
    assert hardware.required_by('arm_controller') == offers[:2]
    assert hardware.required_by('servo_controller') == offers[2:]
    assert hardware.required_by('another_controller') == offers
    assert hardware.required_by('pd_controller') == tuple(f'{name}/effort' for name in NAMES)


def test_an_arm_beside_a_gripper_controller_is_commanded_without_the_joint_of_the_gripper():
    parameters = HardwareParameters('planar_3r', actuator='servo', joints=NAMES[:2])
    hardware = Hardware(parameters)
    assert hardware.required_by('servo_controller') == hardware.offers[:2]
    assert hardware.required_by('gripper_controller') == hardware.offers[2:]


def test_a_controller_loaded_beside_a_gripper_controller_has_joints_and_gains_of_the_arm(
    monkeypatch,
):
    pytest.importorskip('rclpy')
    from arm_tools.standards.ros.controller_processes import ControllerProcesses

    started = []
    monkeypatch.setattr(subprocess, 'Popen', lambda words, **options: started.append(words))
    robot, names = 'ur5e gripper:=parallel', Robot.load('ur5e').model.joint_names
    ControllerProcesses('/', HardwareParameters(robot, joints=names)).start('pd_controller')
    (words,) = started
    file = words[len(words) - 1 - words[::-1].index('--params-file') + 1]
    own = read_parameter_file(Path(file))['pd_controller']
    assert own['joints'] == list(names)
    assert len(own['kp']) == len(own['kd']) == len(names)
