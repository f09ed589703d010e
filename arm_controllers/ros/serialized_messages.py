"""JointState messages in their serialised form, written and read in place cycle after cycle.

In the control loop's two messages only the stamp and the numbers change. To make a Python message
of each, and bytes again of the answer, would take longer than all the rest of a control cycle
(`benchmarks/lockstep.py`). On the wire they are JointStates like any other.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from arm_controllers.ros.messages import JointReader, to_ns
from arm_dynamics.checks import all_finite

Array = NDArray[np.float64]

FIELDS = ('position', 'velocity', 'effort')
# In CDR four bytes that tell the byte order come first; then the stamp, frame_id, names, numbers.
_ORDER = slice(0, 4)
_STAMP = struct.Struct('=iI')
_STAMP_AT, _FRAME_AT = 4, 12


@dataclass(frozen=True)
class _Layout:
    """Where a serialised JointState holds what, for given frame_id, names and lengths.

    Attributes:
        frame_id: of such messages.
        template: such a message.
        offsets: of each field that is not empty [bytes].
        counts: where each such field's length stands.
    """

    frame_id: str
    template: bytes
    offsets: dict[str, int]
    counts: tuple[slice, ...]

    @classmethod
    def of(cls, frame_id: str, names: Sequence[str], fields: Sequence[str]) -> '_Layout':
        """Return the layout with one number per joint in each of the `fields`."""
        message = JointState(name=list(names))
        message.header.frame_id = frame_id
        marks = {field: -1.5e300 / 2**i for i, field in enumerate(fields)}
        for field, mark in marks.items():
            setattr(message, field, [mark] * len(names))
        template = bytes(serialize_message(message))
        offsets = {field: template.index(struct.pack('=d', mark)) for field, mark in marks.items()}
        count = struct.pack('=I', len(names))
        counts = []
        for offset in offsets.values():  # the length, perhaps four bytes of padding, the numbers
            at = offset - 4 if template[offset - 4 : offset] == count else offset - 8
            counts.append(slice(at, at + 4))
        return cls(frame_id, template, offsets, tuple(counts))

    def first(self) -> int:
        """Return where the first number stands [bytes]."""
        return min(self.offsets.values())

    def memory(self, n: int) -> tuple[memoryview, dict[str, Array]]:
        """Return room for such a message, and its fields' (n,) numbers as arrays in there."""
        # CDR counts its alignment from the fifth byte on.
        memory = np.zeros(4 + len(self.template), dtype=np.uint8)[4:]
        memory[:] = np.frombuffer(self.template, dtype=np.uint8)
        views = {
            field: memory[offset : offset + 8 * n].view(np.float64)
            for field, offset in self.offsets.items()
        }
        return memory.data, views


class JointStateWriter:
    """A JointState that is filled and serialised again and again.

    Attributes:
        position, velocity, effort: (n,) arrays to write into, or None where not asked for.
    """

    def __init__(self, joint_names: Sequence[str], fields: Sequence[str], frame_id: str = ''):
        """`fields`: which of 'position', 'velocity', 'effort' the message holds."""
        layout = _Layout.of(frame_id, joint_names, fields)
        self._memory, views = layout.memory(len(joint_names))
        for field in FIELDS:
            setattr(self, field, views.get(field))
        for view in views.values():
            view[:] = 0.0

    position: Array
    velocity: Array
    effort: Array

    def serialized(self, time_ns: int) -> bytes:
        """Return the message with this stamp, as `Publisher.publish` takes it."""
        _STAMP.pack_into(self._memory, _STAMP_AT, *divmod(time_ns, 1_000_000_000))
        return self._memory.tobytes()


class JointStateReader:
    """Reads serialised JointStates in the order of our joints, whatever the sender's.

    Attributes:
        time_ns: the opened message's stamp [ns].
        sender: its frame_id.
        empty: whether it names no joint.
    """

    def __init__(self, joint_names: Sequence[str], fields: Sequence[str]):
        """`fields`: which ones will be read."""
        self._names, self._fields = list(joint_names), tuple(fields)
        self._typed = JointReader(joint_names)
        self._zeros = np.zeros(len(self._names))
        self._layout: _Layout | None = None
        self._message: JointState | None = None
        self._raw = b''
        self.time_ns, self.sender, self.empty = 0, '', True

    def open(self, raw: bytes) -> None:
        """Take the next message: its stamp and sender at once, its numbers when asked for."""
        self._raw = raw
        if not self._fits(raw):
            self._open_other(raw)
            return
        self._message = None
        self._memory[:] = raw
        seconds, nanoseconds = _STAMP.unpack_from(raw, _STAMP_AT)
        self.time_ns = seconds * 1_000_000_000 + nanoseconds
        self.sender, self.empty = self._layout.frame_id, False

    def values(self, field: str) -> Array:
        """Return the opened message's (n,) values of a field, until the next one is opened.

        Raises:
            ArmError: a joint is missing or named twice, the lengths differ, or a value is not
                finite; names the joint.
        """
        if self._message is not None:
            return self._typed.read(self._message.name, getattr(self._message, field), field)
        values = self._views[field]
        if not all_finite(values, self._zeros):
            return self._typed.read(self._names, values.data, field)
        return values

    def message(self) -> JointState:
        """Return the opened message."""
        return self._message or deserialize_message(self._raw, JointState)

    def _fits(self, raw: bytes) -> bool:
        """Whether the bytes differ from the last whole message in stamp and numbers only."""
        if self._layout is None or len(raw) != len(self._layout.template):
            return False
        return [raw[place] for place in self._places] == self._fixed

    def _open_other(self, raw: bytes) -> None:
        """Read a message of another shape; if it is as one expects, expect more of them."""
        self._message = message = deserialize_message(raw, JointState)
        self.time_ns = to_ns(message.header.stamp)
        self.sender = message.header.frame_id
        self.empty = not message.name
        given = [field for field in FIELDS if len(getattr(message, field))]
        whole = all(len(getattr(message, field)) == len(self._names) for field in given)
        if list(message.name) == self._names and whole and set(self._fields) <= set(given):
            layout = _Layout.of(self.sender, self._names, given)
            if raw[_ORDER] != layout.template[_ORDER]:
                return  # another machine's byte order
            self._places = [_ORDER, slice(_FRAME_AT, layout.first()), *layout.counts]
            # Of the message itself: what pads the names is anything, and the sender's own.
            self._fixed = [raw[place] for place in self._places]
            self._memory, self._views = layout.memory(len(self._names))
            self._layout = layout
