"""The interfaces of a simulated arm, and which of them a controller requires."""

from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
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
