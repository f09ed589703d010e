"""Objects as markers: what the simulator publishes is what the page, window and films read."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from falling_objects import turned_plant
from visualization_msgs.msg import Marker, MarkerArray

from arm_controllers.ros.cdr import serialized
from arm_controllers.ros.object_messages import ObjectMessages, shapes_of
from arm_dynamics.checks import ArmError
from arm_dynamics.object_shapes import ShapePoses


def test_shapes_are_read_as_they_were_published(tmp_path):
    plant = turned_plant(tmp_path)
    raw = ObjectMessages(plant.scene.shapes, plant.scene.objects, 'left/base').at(
        plant.scene.object_poses(), 7
    )
    found = shapes_of(raw)
    poses = ShapePoses(plant.scene.shapes, plant.scene.objects).at(plant.scene.object_poses())
    assert [each._replace(pose=()) for each in found] == [
        each._replace(pose=()) for each in plant.scene.shapes
    ]
    np.testing.assert_array_equal([each.pose for each in found], poses)
    assert shapes_of(ObjectMessages((), (), 'base').at(np.empty((0, 7)), 7)) == []


def test_markers_that_no_object_has_are_left_out():
    names = ('good', 'flat', 'nan', 'text', 'no', 'far')
    markers = [Marker(type=Marker.CUBE, ns=name) for name in names]
    for each in markers:
        each.scale.x = each.scale.y = each.scale.z = 0.1
    markers[1].scale.y = 0.0
    markers[2].pose.position.x = float('nan')
    markers[3].type = Marker.TEXT_VIEW_FACING
    markers[4].pose.orientation.w = 0.0
    markers[5].pose.position.z = 1e300
    assert [each.name for each in shapes_of(serialized(MarkerArray(markers=markers)))] == ['good']
    with pytest.raises(ArmError, match='are no MarkerArray'):
        shapes_of(b'\x00\x01\x00\x00\xff')
