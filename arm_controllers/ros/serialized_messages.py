"""JointState messages in their serialised form, written and read in place cycle after cycle.

In the control loop's two messages only the stamp and the numbers change. Conversion to Python
objects and back would take longer than the rest of a control cycle (`benchmarks/lockstep.py`). On
the wire the messages are ordinary JointStates.
"""

import struct
from array import array
from collections.abc import Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from arm_controllers.ros.cdr import (
    ENCODING,
    FRAME_AT,
    SECOND,
    STAMP,
    STAMP_AT,
    Fields,
    Template,
    aligned_copy,
    is_native,
    no_message,
    put_time,
    serialized,
    stamp_ns,
)
from arm_dynamics.checks import ArmError, Array, read_only

# No joint has such a position, velocity or torque; and no product of such numbers overflows.
LARGEST = 1e9
FIELDS = ('position', 'velocity', 'effort')


class JointReader:
    """Brings values of JointState messages into the order of our joints, whatever the sender's."""

    def __init__(self, joint_names: Sequence[str]):
        self._names = list(joint_names)
        self._sender_names: list[str] = self._names
        self._order: NDArray[np.intp] | None = None

    def read(self, names: list[str], values: array | Array, field: str) -> Array:
        """Return (n,) values, read-only to the caller; no copy where the order is ours.

        Raises:
            ArmError: names the joint that is missing, named twice, not finite, or too large.
        """
        if names != self._sender_names:
            self._order = self._find_order(names)
            self._sender_names = list(names)
        if len(values) != len(names):
            raise ArmError(f'{len(values)} {field} values for {len(names)} joint names')
        found = np.frombuffer(values)
        if self._order is not None:
            found = found[self._order]
        for bad in np.flatnonzero(~(np.abs(found) < LARGEST)):
            why = f'is not within {LARGEST:g}' if np.isfinite(found[bad]) else 'is not finite'
            raise ArmError(f'joint {self._names[bad]!r}: {field} {found[bad]} {why}')
        return found

    def _find_order(self, names: list[str]) -> NDArray[np.intp] | None:
        if names == self._names:
            return None
        for name in self._names:
            if (times := names.count(name)) != 1:
                there = ', '.join(names) or 'no joint'
                text = f'joint {name!r} is named {times} times, not once, in a message of {there}'
                raise ArmError(text)
        return np.array([names.index(name) for name in self._names])


class JointStateWriter(Template):
    """A JointState that is filled and serialised again and again.

    Attributes:
        position, velocity, effort: (n,) arrays to write into, (0,) where not requested.
    """

    def __init__(self, joint_names: Sequence[str], fields: Sequence[str], frame_id: str = ''):
        """`fields`: which of 'position', 'velocity', 'effort' the message holds."""
        message = JointState(name=list(joint_names))
        message.header.frame_id = frame_id
        for field in fields:
            setattr(message, field, [0.0] * len(joint_names))
        super().__init__(message)
        self.position, self.velocity, self.effort = self.numbers

    def serialized(self, time_ns: int) -> bytes:
        """Return the message with this stamp [ns], as `Publisher.publish` takes it."""
        put_time(self._memory, time_ns, STAMP_AT)
        return self._memory.tobytes()


class _Shape(Fields):
    """A native JointState, and the messages that differ from it in stamp and numbers only.

    Attributes:
        sender, names: frame_id and joint names.
        values: by field, read-only views of the numbers of the message that was read last.
        order: places of a reader's joints among the names; None: they come first.
    """

    order: NDArray[np.intp] | None = None

    def __init__(self, raw: bytes):
        super().__init__(raw, JointState)
        self.sender, *self.names = self.texts
        memory = aligned_copy(raw)
        self.memory = memory.data
        views = (read_only(memory[each].view(np.float64)) for each in self.numbers)
        self.values: dict[str, Array] = dict(zip(FIELDS, views, strict=True))
        # Of the message itself: what pads the names is anything, and the sender's own.
        self.fixed = [ENCODING, slice(FRAME_AT, self.lengths[0].stop), *self.lengths[1:]]
        ends = [0, *(place.stop for place in self.fixed)]
        parts = zip(self.fixed, ends, strict=False)
        form = (f'{place.start - end}x{place.stop - place.start}s' for place, end in parts)
        self._form = struct.Struct('=' + ''.join(form))
        self._fixed = self._form.unpack_from(raw)

    def fits(self, raw: bytes) -> bool:
        """Whether a message differs from this one in stamp and numbers only."""
        return len(raw) == len(self.memory) and self._form.unpack_from(raw) == self._fixed


class JointStateReader:
    """Reads serialised JointStates in the order of our joints, whatever the sender's.

    Attributes:
        time_ns, sender: the opened message's stamp [ns] and frame_id.
        empty: whether it names no joint.
    """

    def __init__(self, joint_names: Sequence[str], fields: Sequence[str]):
        """`fields`: which ones will be read."""
        self._names, self._fields = list(joint_names), tuple(fields)
        self._ordered = JointReader(joint_names)
        self._expected: _Shape | None = None
        self._opened = _Shape(serialized(JointState()))
        self.time_ns, self.sender, self.empty = 0, '', True

    def open(self, raw: bytes) -> None:
        """Take the next message: its stamp and sender at once, its numbers when requested.

        Raises:
            ArmError: that is no JointState, or its stamp is none; the one before stays open.
        """
        if self.opens(raw):
            return
        native = raw if is_native(raw) else _converted(raw)
        time_ns, shape = stamp_ns(native), _Shape(native)
        self._opened, self.time_ns, self.sender = shape, time_ns, shape.sender
        self.empty = not shape.names
        n, count = len(self._names), len(shape.names)
        whole = all(len(shape.values[field]) == count for field in self._fields)
        whole &= all(len(given) in (0, count) for given in shape.values.values())
        if not (native is raw and whole and all(shape.names.count(x) == 1 for x in self._names)):
            return
        # Other joints may come behind ours: those that follow them by <mimic>.
        if shape.names[:n] == self._names:
            shape.names = shape.names[:n]
            shape.values = {field: given[:n] for field, given in shape.values.items()}
        else:
            shape.order = np.array([shape.names.index(name) for name in self._names])
        self._expected = shape

    @property
    def joint_names(self) -> list[str]:
        """The names in the opened message."""
        return self._opened.names

    def opens(self, raw: bytes) -> bool:
        """Take the next message if it differs from the last one in stamp and numbers only."""
        shape = self._expected
        if shape is None or not shape.fits(raw):
            return False
        seconds, nanoseconds = STAMP.unpack_from(raw, STAMP_AT)
        if nanoseconds >= SECOND:
            return False
        time_ns = seconds * SECOND + nanoseconds
        shape.memory[:] = raw
        self._opened, self.time_ns, self.sender, self.empty = shape, time_ns, shape.sender, False
        return True

    def has(self, field: str) -> bool:
        """Whether the opened message has values of a field that was not requested.

        NaN for one of our joints counts as none: joint_state_broadcaster sends it where a joint
        has no such interface.
        """
        values = self._opened.values[field]
        found = dict(zip(self._opened.names, values, strict=False))
        return len(values) > 0 and not any(isnan(found.get(name, 0.0)) for name in self._names)

    def values(self, field: str) -> Array:
        """Return the opened message's (n,) values of a field, until the next one is opened.

        Raises ArmError as `JointReader.read` does.
        """
        shape = self._opened
        values = shape.values[field]
        if shape is self._expected:
            own = values if shape.order is None else values[shape.order]
            if own.dot(own) < LARGEST**2:
                return own
        return self._ordered.read(shape.names, values, field)

    def read_all(self, raw: Sequence[bytes]) -> tuple[NDArray[np.int64], dict[str, Array]]:
        """Return stamps (m,) [ns] and, by field, values (m, n) of messages, in one pass if alike.

        Raises ArmError as `open` and `values` do.
        """
        self.open(raw[-1])
        shape = self._opened
        expected = shape is self._expected and shape.order is None
        if expected and set(map(len, raw)) == {len(raw[-1])}:
            rows = np.frombuffer(b''.join(raw), np.uint8).reshape(len(raw), -1)
            alike = all((rows[:, place] == rows[-1, place]).all() for place in shape.fixed)
            seconds, rest = rows[:, STAMP_AT:FRAME_AT].copy().view(np.int32).astype(np.int64).T
            ends = zip(FIELDS, shape.numbers, strict=True)
            size = 8 * len(self._names)
            places = {name: slice(each.start, each.start + size) for name, each in ends}
            found = {name: rows[:, places[name]].copy().view(float) for name in self._fields}
            within = all((np.abs(values) < LARGEST).all() for values in found.values())
            if alike and within and (rest >= 0).all() and (rest < SECOND).all():
                return seconds * SECOND + rest, found
        times, rows_of = [], {name: list[Array]() for name in self._fields}
        for each in raw:
            self.open(each)
            times.append(self.time_ns)
            for name, values in rows_of.items():
                values.append(self.values(name).copy())
        return np.array(times), {name: np.array(values) for name, values in rows_of.items()}


def _converted(raw: bytes) -> bytes:
    """Return a message of another machine's encoding in ours, by ROS's own conversion."""
    try:
        return bytes(serialize_message(deserialize_message(raw, JointState)))
    except (RuntimeError, MemoryError):
        raise no_message(raw, 'JointState') from None
