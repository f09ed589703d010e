"""Frames of /tf: carried from the base outwards they are Pinocchio's and MuJoCo's."""

import numpy as np
import pytest
from frames_of_links import in_base

from arm_dynamics import RobotModel
from arm_dynamics.kinematics.link_tree import LinkTree
from arm_dynamics.robots import find_urdf, robot_names
from arm_dynamics.surroundings import Surroundings
from arm_tools.view.scene import Scene

# A tool and a camera stand on a slide, which moves on a turntable that has no ends.
BRANCHED = """
<robot name="branched"><link name="floor"/><link name="post"/><link name="table"/>
<link name="slide"/><link name="camera"/><link name="tool"/>
<joint name="stand" type="fixed"><parent link="floor"/><child link="post"/>
 <origin xyz="0.1 0.2 0.3" rpy="0.1 -0.2 0.4"/></joint>
<joint name="turn" type="continuous"><parent link="post"/><child link="table"/>
 <origin xyz="0 0.1 0.2" rpy="0.3 0 0"/><axis xyz="0 0.6 0.8"/>
 <limit effort="1" velocity="1"/></joint>
<joint name="shift" type="prismatic"><parent link="table"/><child link="slide"/>
 <origin xyz="0.3 0 0" rpy="0 0.5 0"/><axis xyz="1 0 0"/>
 <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="mount" type="fixed"><parent link="slide"/><child link="camera"/>
 <origin xyz="0 0 0.1" rpy="0 0 1"/></joint>
<joint name="grip" type="fixed"><parent link="camera"/><child link="tool"/>
 <origin xyz="0.2 0 0" rpy="1 0 0"/></joint></robot>
"""


@pytest.mark.parametrize('robot', [*robot_names(), BRANCHED])
def test_links_put_together_from_the_base_are_pinocchios_frames(robot):
    model = RobotModel(robot if robot == BRANCHED else find_urdf(robot))
    tree = LinkTree(model)
    assert len(tree.moving) == model.nv
    assert {link for _, link in tree.moving + tree.fixed} == set(model.frame_names[1:])
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = model.random_configuration(rng)
        found = in_base(tree, model.base_frame, q)
        for name in model.frame_names:
            pose = model.forward_kinematics(q, name)
            np.testing.assert_allclose(found[name].homogeneous, pose.homogeneous, atol=1e-12)


@pytest.mark.parametrize('robot', robot_names())
def test_links_put_together_from_the_base_are_mujocos_bodies(robot):
    model = RobotModel(find_urdf(robot))
    tree, scene = LinkTree(model), Scene(model, Surroundings())
    rng = np.random.default_rng(6)
    for _ in range(10):
        q = model.random_configuration(rng)
        scene.show(q)
        for name, pose in in_base(tree, model.base_frame, q).items():
            if name == model.base_frame:
                continue
            body = scene.mj_data.body(name)
            np.testing.assert_allclose(pose.translation, body.xpos, atol=1e-9)
            np.testing.assert_allclose(pose.rotation, body.xmat.reshape(3, 3), atol=1e-9)


def test_quaternions_are_of_unit_length_and_come_last_with_w_at_the_end():
    rows = LinkTree(RobotModel(BRANCHED)).fixed_poses()
    np.testing.assert_allclose(np.linalg.norm(rows[:, 3:], axis=1), 1.0, atol=1e-15)
    mount = rows[1]  # turned by 1 rad about z
    np.testing.assert_allclose(mount, [0, 0, 0.1, 0, 0, np.sin(0.5), np.cos(0.5)], atol=1e-15)
