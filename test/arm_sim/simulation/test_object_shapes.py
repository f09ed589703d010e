"""The visible shapes of objects: where MuJoCo has them, however an object is placed."""

import numpy as np
from falling_objects import turned_plant
from scipy.spatial.transform import Rotation

from arm_sim.simulation.object_shapes import ShapePoses


def test_shapes_are_where_mujoco_has_them(tmp_path):
    plant = turned_plant(tmp_path)
    kinds = {name: [x.kind for x in plant.shapes if x.name == name] for name in plant.objects}
    assert kinds == {'rod': ['cylinder', 'sphere', 'sphere'], 'cone': ['mesh']}
    poses = dict(
        zip(
            [each.name for each in plant.shapes],
            ShapePoses(plant.shapes, plant.objects).at(plant.object_poses()),
            strict=True,
        )
    )
    # A mesh is drawn as its file has it: at the pose of its object.
    np.testing.assert_allclose(poses['cone'], plant.object_poses()[1], atol=1e-12)
    place, turn = np.split(plant.object_poses()[0], [3])
    end = place + Rotation.from_quat(turn).apply([0.0, 0.0, 0.05])
    np.testing.assert_allclose(poses['rod'][:3], end, atol=1e-12)
    np.testing.assert_allclose(poses['wall'][:3], [1.5, 0.4, 0.3])
    fixed = Rotation.from_euler('xyz', [0.1, 0.2, 0.3])
    assert (Rotation.from_quat(poses['wall'][3:]) * fixed.inv()).magnitude() < 1e-12
    assert 'floor' not in poses
