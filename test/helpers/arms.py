"""Arms for tests: the shipped ones, awkward ones, and those of PyPI's `example-robot-data`."""

import re
import site
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from arm_dynamics import RobotModel
from arm_dynamics.robots import find_urdf, robot_names


def revolute(name: str, origin: str, axis: str, kind: str = 'revolute') -> str:
    """Return a moving joint and the link behind it, with an inertia turned against its axes."""
    return f"""
  <joint name="{name}" type="{kind}">
    <parent link="{{parent}}"/><child link="{name}_link"/>
    <origin {origin}/><axis xyz="{axis}"/>
    <limit lower="-2.5" upper="2.2" effort="50" velocity="3"/>
  </joint>
  <link name="{name}_link">
    <inertial>
      <origin xyz="0.03 -0.02 0.1" rpy="0.3 -0.4 0.5"/><mass value="1.7"/>
      <inertia ixx="0.02" iyy="0.03" izz="0.035" ixy="0.001" ixz="-0.002" iyz="0.0015"/>
    </inertial>
  </link>"""


def chain(name: str, joints: list[str], tool: str = 'xyz="0.1 0 0.05" rpy="0.4 0.2 0.1"') -> str:
    """Return a URDF of joints in a row, with a massive tool behind a fixed joint."""
    parent, body = 'base', ''
    for joint in joints:
        body += joint.format(parent=parent)
        parent = joint.split('"')[1] + '_link'
    return f"""<robot name="{name}"><link name="base"/>{body}
  <joint name="tool_mount" type="fixed">
    <parent link="{parent}"/><child link="tool"/><origin {tool}/>
  </joint>
  <link name="tool">
    <inertial>
      <origin xyz="0 0.02 0.03" rpy="-0.2 0.1 0.3"/><mass value="0.6"/>
      <inertia ixx="0.002" iyy="0.003" izz="0.0035" ixy="0.0001" ixz="0.0002" iyz="0"/>
    </inertial>
  </link>
</robot>"""


_AWKWARD = {
    'one joint': chain(
        'one_joint', [revolute('a', 'xyz="0 0 0.3" rpy="0.3 0.1 0.2"', '0.6 0 0.8', 'continuous')]
    ),
    'planar 3R': chain(
        'planar_3r',
        [
            revolute('a', 'xyz="0 0 0"', '0 0 1'),
            revolute('b', 'xyz="1 0 0"', '0 0 1'),
            revolute('c', 'xyz="1 0 0"', '0 0 1'),
        ],
        tool='xyz="0.5 0 0"',
    ),
    'with slides': chain(
        'with_slides',
        [
            revolute('lift', 'xyz="0 0 0.3" rpy="0.1 0 0"', '0 0 1', 'prismatic'),
            revolute('turn', 'xyz="0 0.1 0.2" rpy="0 0.3 0"', '0 1 0'),
            revolute('reach', 'xyz="0.1 0 0.1" rpy="0.2 0 0.4"', '0.6 0 0.8', 'prismatic'),
            revolute('roll', 'xyz="0 0 0.2" rpy="1.0 0.2 0"', '0.36 0.48 0.8'),
        ],
    ),
    'endless and skew': chain(
        'endless_and_skew',
        [
            revolute('a', 'xyz="0 0 0.3" rpy="0.3 0.1 0.2"', '0 0 -1', 'continuous'),
            revolute('b', 'xyz="0.2 0 0.1" rpy="0 0.7 0"', '0.36 -0.48 0.8', 'continuous'),
            revolute('c', 'xyz="0 0.3 0.1" rpy="0.5 0 0.3"', '0 1 0'),
            revolute('d', 'xyz="0.1 0 0.2" rpy="0 -0.6 0.2"', '1 0 0', 'continuous'),
            revolute('e', 'xyz="0 0.1 0.2" rpy="0.2 0.4 0"', '-0.6 0.8 0'),
            revolute('f', 'xyz="0.05 0 0.1" rpy="0.9 0 0"', '0 0 1'),
        ],
    ),
}
# One joint of each kind, a rotated inertial, and a mass behind a fixed joint.
MIXED = """
<robot name="mixed">
  <link name="base"/>
  <link name="turret"><inertial><origin xyz="0.1 0 0.2" rpy="0.3 0.2 0.1"/><mass value="2"/>
    <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0.02" izz="0.15"/></inertial></link>
  <link name="slide"><inertial><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.03"/></inertial></link>
  <link name="wrist"><inertial><origin xyz="0 0.05 0"/><mass value="0.5"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="tool"><inertial><mass value="0.2"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="turret"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="extend" type="prismatic"><parent link="turret"/><child link="slide"/>
    <origin xyz="0 0 0.4" rpy="0 1.2 0"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.5" effort="80" velocity="1"/></joint>
  <joint name="bend" type="revolute"><parent link="slide"/><child link="wrist"/>
    <origin xyz="0.1 0 0"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-2" upper="1.5" effort="10" velocity="3"/>
    <dynamics damping="0.4" friction="0.1"/></joint>
  <joint name="mount" type="fixed"><parent link="wrist"/><child link="tool"/>
    <origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/></joint>
</robot>
"""
ARM = chain(
    'arm',
    [
        revolute('a', 'xyz="0 0 0.3" rpy="0.2 0.1 0"', '0 0.6 0.8'),
        revolute('b', 'xyz="0 0.2 0" rpy="0.4 -0.2 0.3"', '0.6 0 0.8', 'prismatic'),
        revolute('c', 'xyz="0.1 0.2 0" rpy="0 0.3 0.6"', '1 0 0'),
    ],
)
_EXAMPLES = {
    'Panda': ('panda_description/urdf/panda.urdf', 'panda_link8'),
    'xArm7': ('xarm_description/urdf/xarm7.urdf', None),
    'Z1': ('z1_description/urdf/z1.urdf', None),
    'SO-100': ('so_arm_description/urdf/so100.urdf', None),
    'SO-101': ('so_arm_description/urdf/so101.urdf', None),
    'Kinova': ('kinova_description/robots/kinova.urdf', None),
    'Talos arm': ('talos_data/robots/talos_left_arm.urdf', None),
    'UR3': ('ur_description/urdf/ur3_robot.urdf', None),
    'UR5': ('ur_description/urdf/ur5_joint_limited_robot.urdf', None),
    'UR5 gripper': ('ur_description/urdf/ur5_gripper.urdf', None),
    'UR10': ('ur_description/urdf/ur10_robot.urdf', None),
    'TwoDofs': ('asr_twodof_description/urdf/TwoDofs.urdf', None),
    'pendulum': ('double_pendulum_description/urdf/double_pendulum_continuous.urdf', None),
}
SHIPPED = tuple(robot_names())
ARMS = (*SHIPPED, *_AWKWARD, *_EXAMPLES)


@cache
def load_arm(name: str) -> RobotModel:
    """Return an arm of `ARMS`."""
    if name in SHIPPED:
        return RobotModel.from_urdf(find_urdf(name))
    if name in _AWKWARD:
        return RobotModel.from_urdf(_AWKWARD[name])
    path, tip = _EXAMPLES[name]
    text = (examples() / path).read_text()
    return RobotModel.from_urdf(re.sub('<mimic [^>]*>', '', text), tip)  # Panda's other finger


@cache
def examples() -> Path:
    """Return the folder of example-robot-data: PyPI's wheel, or a ROS installation's package."""
    prefixes = [Path(folder) / 'cmeel.prefix' for folder in [*site.getsitepackages(), *sys.path]]
    prefixes += [Path(folder).parents[2] for folder in sys.path if 'site-packages' in folder]
    for prefix in prefixes:
        robots = prefix / 'share' / 'example-robot-data' / 'robots'
        if robots.is_dir():
            return robots
    raise FileNotFoundError('example-robot-data is not installed: pip install example-robot-data')


def without_shapes(urdf: str) -> str:
    """Return a URDF without visual and collision shapes, for which meshes would be needed."""
    tree = ElementTree.fromstring(urdf)
    for link in tree.iter('link'):
        for shape in [*link.findall('visual'), *link.findall('collision')]:
            link.remove(shape)
    return ElementTree.tostring(tree, encoding='unicode')


def turned_about_base_axis(pose, angles):
    """Return a pose, turned about the base frame's z axis by angles (n,) [rad]: (n, 4, 4)."""
    turns = [pin.SE3(pin.exp3(np.array([0.0, 0.0, angle])), np.zeros(3)) for angle in angles]
    return np.array([(turn * pin.SE3(pose)).homogeneous for turn in turns])
