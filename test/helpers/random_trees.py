"""Shipped arms and random trees, by name."""

import numpy as np

from arm_dynamics import RobotModel
from arm_dynamics.robots import find_urdf

AXES = ('1 0 0', '0 1 0', '0 0 -1', '0.6 0 0.8', '0 -1 0')


def random_tree_urdf(seed, joints=4):
    """Return a branched arm of revolute, continuous and prismatic joints with odd frames."""
    rng = np.random.default_rng(seed)
    text = ['<robot name="random_tree"><link name="base"/>']
    for i in range(joints):
        parent = 'base' if i == 0 else f'l{rng.integers(max(0, i - 2), i)}'
        kind = ('revolute', 'continuous', 'prismatic')[rng.integers(3)]
        xyz, rpy = rng.uniform(-0.5, 0.5, 3), rng.uniform(-2, 2, 3)
        com, turn = rng.uniform(-0.2, 0.2, 3), rng.uniform(-2, 2, 3)
        a, b, c = rng.uniform(0.02, 0.03, 3)
        text.append(
            f'<joint name="j{i}" type="{kind}"><parent link="{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/>'
            f'<axis xyz="{AXES[rng.integers(len(AXES))]}"/>'
            '<limit lower="-2" upper="2" effort="100" velocity="10"/></joint>'
            f'<link name="l{i}"><inertial><mass value="{rng.uniform(0.5, 3)}"/>'
            f'<origin xyz="{com[0]} {com[1]} {com[2]}" rpy="{turn[0]} {turn[1]} {turn[2]}"/>'
            f'<inertia ixx="{a}" iyy="{b}" izz="{c}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
    return ''.join([*text, '</robot>'])


def model_of(name):
    if name.startswith('tree'):
        return RobotModel.from_urdf(random_tree_urdf(int(name[4:])), gravity=(1.0, -2.0, -9.0))
    return RobotModel.from_urdf(find_urdf(name))
