"""Objects that get another pose: free ones, and those on a hinge or a slide."""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.plant import PlantParameters

PLANAR = RobotModel.from_urdf(find_urdf('planar_3r'))
SIZE = [0.1, 0.1, 0.1]
SCENE = [
    {'name': 'post', 'size': SIZE, 'position': [5, 0, 1]},
    {'name': 'door', 'size': [0.03, 0.5, 0.7], 'position': [3, 0, 1], 'mass': 3.0,
     'rotation': [0.2, 0.0, 0.3], 'joint': 'hinge', 'axis_position': [0.0, 0.25, 0.0],
     'range': [2.9, 4.0]},
    {'name': 'handle', 'size': SIZE, 'parent': 'door', 'position': [-0.1, 0, 0]},
    {'name': 'drawer', 'size': SIZE, 'position': [3, 2, 1], 'mass': 1.0, 'joint': 'slide',
     'axis': [1, 1, 0], 'rotation': [0.0, 0.0, 0.5]},
]  # fmt: skip


@pytest.fixture
def plant(tmp_path):
    file = tmp_path / 'scene.yaml'
    file.write_text(json.dumps(SCENE))
    return MujocoPlant(PLANAR, PlantParameters('torque', scene=str(file)))


def door_at(angle, speed=0.0):
    """Return pose and velocity of the door's origin at a joint position, by rotations alone."""
    start, hinge = Rotation.from_euler('xyz', [0.2, 0.0, 0.3]), np.array([0.0, 0.25, 0.0])
    axis = start.apply([0.0, 0.0, 1.0])
    turned = Rotation.from_rotvec(angle * axis) * start
    anchor = np.array([3.0, 0.0, 1.0]) + start.apply(hinge)
    place = anchor - turned.apply(hinge)
    moves = np.cross(speed * axis, place - anchor)
    return np.array([*place, *turned.as_quat()]), np.array([*moves, *(speed * axis)])


@pytest.mark.parametrize('angle', [2.9, 3.1, 3.9])
def test_a_door_gets_the_joint_position_and_speed_of_its_pose_and_twist(plant, angle):
    pose, velocity = door_at(angle, 0.7)
    plant.scene.move('door', pose, velocity)
    joint = plant.mj_model.joint('door')
    assert plant.mj_data.qpos[joint.qposadr[0]] == pytest.approx(angle, abs=1e-12)
    assert plant.mj_data.qvel[joint.dofadr[0]] == pytest.approx(0.7, abs=1e-12)
    found, moves = plant.scene.motion('door')
    np.testing.assert_allclose(found[:3], pose[:3], atol=1e-12)
    np.testing.assert_allclose(moves, velocity, atol=1e-12)


def test_a_drawer_gets_the_joint_position_and_speed_of_its_pose_and_twist(plant):
    axis = Rotation.from_euler('z', 0.5).apply([1.0, 1.0, 0.0]) / np.sqrt(2.0)
    pose, _ = plant.scene.motion('drawer')
    pose[:3] += 0.4 * axis
    plant.scene.move('drawer', pose, np.array([*(-0.2 * axis), 0.0, 0.0, 0.0]))
    found, moves = plant.scene.motion('drawer')
    np.testing.assert_allclose(found[:3], pose[:3], atol=1e-12)
    np.testing.assert_allclose(moves[:3], -0.2 * axis, atol=1e-12)


@pytest.mark.parametrize(
    ('name', 'change', 'says'),
    [
        ('door', {0: 0.1}, 'a hinge, which does not allow this pose: it is 100 mm and 0 rad off'),
        ('door', {7: 0.5}, 'a hinge, which does not allow this twist: it is 0.5 m/s and 0 rad/s'),
        ('door', {10: 0.5}, 'a hinge, which does not allow this twist: it is '),
        ('drawer', {2: 0.1}, 'a slide, which does not allow this pose: it is 100 mm and 0 rad'),
        ('handle', {}, "'handle' is carried by 'door'; free objects and those with one joint"),
        ('post', {}, "'post' is fixed; free objects and those with one joint move"),
        ('chair', {}, "'chair' is fixed; free objects and those with one joint move"),
    ],
)
def test_what_a_joint_does_not_allow_is_refused_in_one_line_and_nothing_moves(
    plant, name, change, says
):
    plant.scene.move('door', *door_at(3.0))
    before = plant.mj_data.qpos.copy()
    pose, velocity = plant.scene.motion(name) if name != 'chair' else (np.eye(7)[6], np.zeros(6))
    state = np.array([*pose, *velocity])
    for place, value in change.items():
        state[place] += value
    with pytest.raises(ArmError) as refused:
        plant.scene.move(name, *np.split(state, [7]))
    assert says in str(refused.value)
    assert '\n' not in str(refused.value)
    np.testing.assert_array_equal(plant.mj_data.qpos, before)
    assert not plant.mj_data.qvel.any()


def test_a_joint_beyond_its_range_is_refused(plant):
    with pytest.raises(ArmError, match="joint position of the object 'door' is 4.1"):
        plant.scene.move('door', *door_at(4.1))
