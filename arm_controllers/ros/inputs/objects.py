"""The objects around an arm, for a follower that keeps clear of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rclpy.node import Node
from visualization_msgs.msg import MarkerArray

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.ros.log import Log
from arm_controllers.ros.object_messages import TOPIC, shapes_of
from arm_controllers.ros.qos import STATE_QOS
from arm_dynamics.checks import ArmError
from arm_dynamics.object_shapes import ObjectShape

_PERIOD_NS = 100_000_000  # shortest time between two checks against objects that move [ns]
_LARGEST = 500_000  # mesh in real time [bytes]: its convex hull holds the cycle, up to 0.05 s


class ObjectsInput:
    """Keeps the objects of a follower's check up to date; has goals checked again."""

    def __init__(self, node: Node, follower: TrajectoryFollower, realtime: bool):
        """Subscribe; `realtime`: goals are checked in slices, one in a control cycle."""
        self._node, self._follower, self._realtime = node, follower, realtime
        self._log = Log(node, 1.0)
        self._newest, self._seen, self._moved, self._next_ns = b'', False, False, 0
        self._slices: Iterator[None] | None = None
        self._fault = ''
        self._input = node.create_subscription(
            MarkerArray, TOPIC, self._on_objects, STATE_QOS, raw=True
        )
        assert follower.check is not None  # else there is nothing to listen for
        self._check = follower.check
        self._least = self._check.least
        self._check.look = self._look

    def close(self) -> None:
        """Unsubscribe."""
        self._node.destroy_subscription(self._input)

    def after_cycle(self, time_ns: int) -> None:
        """Do the work after a control cycle at a stamp [ns]: the next slice of a check."""
        if self._slices is None:
            if time_ns < self._next_ns and time_ns >= self._next_ns - _PERIOD_NS:
                return
            self._next_ns = time_ns + _PERIOD_NS
            self._read()
            if self._check.least != self._least:
                self._least, self._moved = self._check.least, True
            if not self._moved:
                return
            self._moved, self._slices = False, self._follower.check_again()
        for _ in self._slices:
            if self._realtime:
                return
        self._slices = None

    def _on_objects(self, raw: bytes) -> None:
        self._newest = raw

    def _look(self) -> None:
        """Take the newest objects before a goal is checked.

        Raises:
            ArmError: a node publishes objects, and no message has come yet; a mesh is too large.
        """
        self._read()
        if self._fault:
            raise ArmError(self._fault)
        if not self._seen and self._node.count_publishers(TOPIC):
            raise ArmError(f'no message on {TOPIC} has come yet: send the goal again')

    def _read(self) -> None:
        raw, self._newest = self._newest, b''
        if raw:
            try:
                shapes = shapes_of(raw)
            except ArmError as error:
                self._log.warning(f'objects dropped: {error}')
                return
            self._seen, self._fault = True, too_large(shapes) if self._realtime else ''
            if self._fault:
                self._log.warning(f'objects dropped, goals are refused: {self._fault}')
            else:
                self._moved |= self._check.update(shapes)


def too_large(shapes: Sequence[ObjectShape]) -> str:
    """Return why the mesh of a shape is too large for a control cycle; '': none is."""
    for each in shapes:
        path = Path(each.file)
        if each.kind == 'mesh' and path.is_file() and (size := path.stat().st_size) > _LARGEST:
            return (
                f'object {each.name!r}: mesh {path} has {size / 1e6:.3g} MB; '
                f'allowed in real time: {_LARGEST / 1e6:g} MB; use fewer triangles, or a box'
            )
    return ''
