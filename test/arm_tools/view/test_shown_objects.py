"""Objects in pictures: at their poses, between two messages, and while they are there."""

import mujoco
import numpy as np
import pytest

from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.robots import find_urdf
from arm_dynamics.surroundings import Surroundings
from arm_tools.view.scene import Scene
from arm_tools.view.shown_objects import RecordedObjects

# Two triangles in a plane.
FLAT = (
    'solid a\n'
    + 2
    * (
        'facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n'
        'endfacet\n'
    )
    + 'endsolid a\n'
)
RED = (1.0, 0.0, 0.0, 1.0)


def shape(name, x, turn=(0.0, 0.0, 0.0, 1.0), kind='box'):
    return ObjectShape(name, kind, (0.1, 0.2, 0.3), RED, '', (x, 0.0, 0.0, *turn))


def test_recorded_objects_move_between_messages_and_are_there_while_they_are_named():
    half = (0.0, 0.0, 0.0, -1.0)  # the same rotation
    rows = [[shape('a', 0.0)], [shape('b', 5.0), shape('a', 1.0, half)], [shape('b', 5.0)]]
    found = RecordedObjects([0.0, 1.0, 2.0], rows)
    assert [each.name for each in found.shapes] == ['a', 'b']
    np.testing.assert_allclose(found.at(0.25)[0], [0.25, 0, 0, 0, 0, 0, 1], atol=1e-12)
    assert np.isnan(found.at(0.25)[1]).all()
    assert found.at(1.0)[1, 0] == 5.0
    assert np.isnan(found.at(7.0)[0]).all()
    assert RecordedObjects((), ()).at(0.0).shape == (0, 7)


@pytest.mark.parametrize('text', ['no mesh', 'solid a\nendsolid a', FLAT])
def test_an_object_whose_mesh_cannot_be_shown_is_a_box(tmp_path, text):
    file = tmp_path / 'part.stl'
    file.write_text(text)
    shapes = [shape('part', 1.0, kind='mesh')._replace(file=str(file)), shape('box', 2.0)]
    m = Scene(RobotModel(find_urdf('planar_3r')), Surroundings(), shapes).mj_model
    assert m.geom_type[-2:].tolist() == [mujoco.mjtGeom.mjGEOM_BOX] * 2
    np.testing.assert_allclose(m.geom_size[-1], [0.05, 0.1, 0.15])


def test_a_scene_shows_objects_at_their_poses_and_hides_those_that_are_gone():
    kinds = ('box', 'sphere', 'cylinder', 'mesh')
    shapes = [shape(kind, 0.5 * k, kind=kind) for k, kind in enumerate(kinds)]
    scene = Scene(RobotModel(find_urdf('planar_3r')), Surroundings(), shapes)
    poses = np.array([each.pose for each in shapes])
    poses[:, 2], poses[1] = 0.7, np.nan
    scene.place(poses)
    scene.show(np.zeros(3))
    m, here = scene.mj_model, scene.mj_data.xpos[scene.first_object :]
    np.testing.assert_allclose(here[[0, 2, 3]], poses[[0, 2, 3], :3])
    alpha = m.geom_rgba[m.geom_bodyid >= scene.first_object, 3]
    np.testing.assert_array_equal(alpha, [1.0, 0.0, 1.0, 1.0])
