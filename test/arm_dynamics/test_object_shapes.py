"""The visible shapes of objects: where MuJoCo has them, however an object is placed."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from falling_objects import turned_plant
from scipy.spatial.transform import Rotation

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ShapePoses
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant


def test_shapes_are_where_mujoco_has_them(tmp_path):
    plant = turned_plant(tmp_path)
    kinds = {
        name: [x.kind for x in plant.scene.shapes if x.name == name]
        for name in plant.scene.objects
    }
    assert kinds == {'rod': ['cylinder', 'sphere', 'sphere'], 'cone': ['mesh']}
    poses = dict(
        zip(
            [each.name for each in plant.scene.shapes],
            ShapePoses(plant.scene.shapes, plant.scene.objects).at(plant.scene.object_poses()),
            strict=True,
        )
    )
    # A mesh is drawn as its file has it: at the pose of its object.
    np.testing.assert_allclose(poses['cone'], plant.scene.object_poses()[1], atol=1e-12)
    place, turn = np.split(plant.scene.object_poses()[0], [3])
    end = place + Rotation.from_quat(turn).apply([0.0, 0.0, 0.05])
    np.testing.assert_allclose(poses['rod'][:3], end, atol=1e-12)
    np.testing.assert_allclose(poses['wall'][:3], [1.5, 0.4, 0.3])
    fixed = Rotation.from_euler('xyz', [0.1, 0.2, 0.3])
    assert (Rotation.from_quat(poses['wall'][3:]) * fixed.inv()).magnitude() < 1e-12
    assert 'floor' not in poses


def test_objects_and_arm_go_on_where_others_come_and_go(tmp_path):
    before = turned_plant(tmp_path)
    further = '[{name: new, size: [0.1, 0.1, 0.1], position: [3, 0, 1], mass: 1}]'
    parameters = replace(before.parameters, objects=further)
    plant = MujocoPlant(RobotModel(find_urdf('planar_3r')), parameters)
    plant.continue_from(before)
    np.testing.assert_array_equal(plant.q, before.q)
    np.testing.assert_array_equal(plant.v, before.v)
    for name in before.scene.objects:
        for mine, other in zip(plant.scene.motion(name), before.scene.motion(name), strict=True):
            np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(plant.scene.motion('new')[0], [3, 0, 1, 0, 0, 0, 1])
    again = MujocoPlant(RobotModel(find_urdf('planar_3r')), before.parameters)
    again.continue_from(plant)
    np.testing.assert_array_equal(again.scene.object_poses(), before.scene.object_poses())


def test_a_free_object_goes_where_it_is_put_and_moves_as_requested(tmp_path):
    plant = turned_plant(tmp_path)
    pose = np.array([2.0, 1.0, 5.0, *Rotation.from_euler('xyz', [0.3, -0.4, 1.2]).as_quat()])
    velocity = np.array([0.1, 0.2, 0.3, 1.0, -2.0, 0.5])
    plant.scene.move('rod', pose, velocity)
    found, moving = plant.scene.motion('rod')
    np.testing.assert_allclose(found, pose, atol=1e-12)
    np.testing.assert_allclose(moving, velocity, atol=1e-12)
    np.testing.assert_allclose(
        plant.scene.bounds('rod'), [[-0.025] * 2 + [-0.075], [0.025] * 2 + [0.075]], atol=1e-9
    )
    with pytest.raises(ArmError, match="'wall' is fixed; free objects and those with one"):
        plant.scene.move('wall', pose, velocity)


LID = """<mujoco><worldbody>
<geom name="post" type="cylinder" size="0.05 0.2" pos="2 0 0.2"/>
<body name="lid" pos="2 0 0.5"><joint type="hinge" axis="0 1 0" pos="-0.1 0 0"/>
<geom type="box" size="0.1 0.1 0.01" mass="0.2"/>
<geom type="ellipsoid" size="0.01 0.02 0.03" pos="0.1 0 0.03" euler="0.3 0.2 0" mass="0.1"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize('scene', ['hinged_door', LID])
def test_shapes_of_jointed_objects_are_where_mujoco_has_them(tmp_path, scene):
    if scene == LID:
        (tmp_path / 'lid.xml').write_text(scene)
        scene = str(tmp_path / 'lid.xml')
    further = '[{name: new, size: [0.1, 0.1, 0.1], position: [3, 0, 1], mass: 1}]'
    parameters = MujocoPlant.Parameters(scene=scene, objects=further)
    plant = MujocoPlant(RobotModel(find_urdf('planar_3r')), parameters)
    plant.mj_data.qpos[3] = 0.7
    found = ShapePoses(plant.scene.shapes, plant.scene.objects).at(plant.scene.object_poses())
    m, data = plant.mj_model, plant.mj_data
    geoms = [k for k in range(m.ngeom) if m.geom_user[k].any()]
    parts = [3 if m.geom_type[k] == mujoco.mjtGeom.mjGEOM_CAPSULE else 1 for k in geoms]
    found = found[np.cumsum([0, *parts[:-1]])]  # of a capsule the cylinder
    np.testing.assert_allclose(found[:, :3], data.geom_xpos[geoms], atol=1e-12)
    for pose, matrix in zip(found, data.geom_xmat[geoms], strict=True):
        turn = Rotation.from_quat(pose[3:]).as_matrix()
        np.testing.assert_allclose(turn.ravel(), matrix, atol=1e-12)
    pairs = zip(m.pair_geom1.tolist(), m.pair_geom2.tolist(), strict=True)
    new, others = m.geom('new').id, set(geoms) - {m.geom('new').id}
    assert others <= {geom for pair in pairs if new in pair for geom in pair}
