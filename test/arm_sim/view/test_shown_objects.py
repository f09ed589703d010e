"""Objects in pictures: at their poses, between two messages, and while they are there."""

import numpy as np

from arm_dynamics.clearance import Surroundings
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.simulation.object_shapes import ObjectShape
from arm_sim.view.scene import Scene
from arm_sim.view.shown_objects import RecordedObjects

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
