"""The objects around an arm as visualization_msgs/MarkerArray: names, shapes, colours, poses.

A message has all shapes of all objects. The namespace of a marker is the name of its object.
"""

from collections.abc import Sequence
from urllib.parse import quote, unquote

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from arm_controllers.ros.cdr import Template, stamp_ns
from arm_controllers.ros.messages import deserialized
from arm_dynamics.checks import Array
from arm_dynamics.object_shapes import ObjectShape, ShapePoses

TOPIC = 'simulator/objects'
KIND = 'visualization_msgs/msg/MarkerArray'
_FILE = 'file://'
_COUNT = 4  # bytes of the number of markers
_KINDS = {
    'box': Marker.CUBE,
    'sphere': Marker.SPHERE,
    'cylinder': Marker.CYLINDER,
    'mesh': Marker.MESH_RESOURCE,
}
_MOST, _LARGEST = 1000, 1e4  # markers that are shown; largest size or position [m]


class ObjectMessages(Template):
    """A MarkerArray that is serialised once; stamps and poses are then written in place.

    Without shapes the message removes all markers.
    """

    def __init__(self, shapes: Sequence[ObjectShape], moving: Sequence[str], frame: str):
        """`moving`: names of the objects with a pose; `frame`: name of the base frame."""
        self._poses = ShapePoses(shapes, moving)
        markers = [_marker(k, each, frame) for k, each in enumerate(shapes)]
        none = Marker(action=Marker.DELETEALL)
        none.header.frame_id = frame
        super().__init__(MarkerArray(markers=markers or [none]))

    def at(self, objects: Array, time_ns: int) -> bytes:
        """Return the message of a stamp [ns] and poses (m, 7) of the objects that move."""
        poses = self._poses.at(objects)
        for numbers, pose in zip(self.numbers, poses, strict=False):
            numbers[:7] = pose  # the size follows
        return self.at_times(*[time_ns, 0, 0] * len(self.numbers))  # lifetime, texture's stamp


def _marker(number: int, shape: ObjectShape, frame: str) -> Marker:
    marker = Marker(ns=shape.name, id=number, type=_KINDS[shape.kind], action=Marker.ADD)
    marker.header.frame_id = frame
    scale, colour = marker.scale, marker.color
    scale.x, scale.y, scale.z = map(float, shape.size)
    colour.r, colour.g, colour.b, colour.a = map(float, shape.colour)
    if shape.file:
        marker.mesh_resource = _FILE + quote(shape.file)
    return marker


def first_stamp_ns(raw: bytes) -> int:
    """Return the stamp [ns] of the first marker of a serialised MarkerArray.

    Raises:
        ArmError: there is none.
    """
    return stamp_ns(raw[_COUNT:])


def shapes_of(raw: bytes) -> list[ObjectShape]:
    """Return the shapes of a serialised MarkerArray, each with its pose in the base frame.

    Left out are markers of other kinds, and those with numbers that no shape has.

    Raises:
        ArmError: the bytes are no MarkerArray.
    """
    kinds = {number: kind for kind, number in _KINDS.items()}
    found = []
    for each in deserialized(raw, MarkerArray).markers[:_MOST]:
        size = each.scale.x, each.scale.y, each.scale.z
        place, turn = each.pose.position, each.pose.orientation
        pose = place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w
        colour = each.color.r, each.color.g, each.color.b, each.color.a
        numbers = [*size, *pose, *colour]
        file = each.mesh_resource.removeprefix(_FILE)
        known = each.action == Marker.ADD and each.type in kinds
        near = bool((np.abs(numbers) < _LARGEST).all())  # false for nan
        if known and near and min(size) > 0.0 and any(pose[3:]):
            found.append(ObjectShape(each.ns, kinds[each.type], size, colour, unquote(file), pose))
    return found
