"""JointState messages in their serialised form, written and read in place cycle after cycle.

In the control loop's two messages only the stamp and the numbers change. Conversion to Python
objects and back would take longer than the rest of a control cycle (`benchmarks/lockstep.py`). On
the wire the messages are ordinary JointStates.

The form is CDR (OMG DDS-XTypes, encoding version 1). Four bytes name the encoding. After them
each number is at a multiple of its own size. A text and an array follow their length.
"""

import struct
from array import array
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from math import isnan
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message, serialize_message
from rosidl_parser.definition import AbstractString, BasicType, NamespacedType
from rosidl_parser.definition import Array as FixedArray
from sensor_msgs.msg import JointState

from arm_dynamics.checks import ArmError, Array

# No joint has such a position, velocity or torque; and no product of such numbers overflows.
LARGEST = 1e9
FIELDS = ('position', 'velocity', 'effort')
_SECOND = 1_000_000_000
_STAMP, _LENGTH = struct.Struct('=iI'), struct.Struct('=I')
_BODY = 4  # where the fields begin, behind the encoding [bytes]
_STAMP_AT, _FRAME_AT = _BODY, 12
NOW = b'now\0'
_FRAME_END = _FRAME_AT + _LENGTH.size + len(NOW)
_ENCODING = slice(0, 2)  # the third and fourth byte mean nothing
_NATIVE = bytes(serialize_message(JointState()))[_ENCODING]
# Bytes of a basic type of `SLOT_TYPES`.
_SIZES = {
    **dict.fromkeys(('boolean', 'octet', 'char', 'int8', 'uint8'), 1),
    **dict.fromkeys(('int16', 'uint16'), 2),
    **dict.fromkeys(('int32', 'uint32', 'float'), 4),
    **dict.fromkeys(('int64', 'uint64', 'double'), 8),
}


def serialized(message: Any) -> bytes:
    """Return a ROS message in CDR: exactly its bytes, with zeros between the fields."""
    return exact(bytes(serialize_message(message)), type(message))


def exact(raw: bytes, message_class: Any) -> bytes:
    """Return a serialised message of the native byte order without any uninitialised memory.

    Fast DDS's rmw_serialize returns an upper bound of the length, which counts an alignment of
    each empty array, and writes neither the rest nor the gaps between fields: both hold what the
    memory held before.

    Raises:
        ArmError: the message is cut off.
    """
    return Fields(raw, message_class).visited()


def is_native(raw: bytes) -> bool:
    """Whether a message is encoded as this machine does it."""
    return raw[_ENCODING] == _NATIVE


def stamp_ns(raw: bytes) -> int:
    """Return the stamp [ns] of a serialised message that begins with a header.

    Raises:
        ArmError: the message ends before it, or its nanoseconds are a second or more.
    """
    try:
        seconds, nanoseconds = _STAMP.unpack_from(raw, _STAMP_AT)
    except struct.error:
        raise ArmError(f'a message of {len(raw)} bytes is cut off in its header') from None
    if nanoseconds >= _SECOND:
        raise ArmError(f'a stamp has {nanoseconds} nanoseconds; allowed: less than {_SECOND}')
    return seconds * _SECOND + nanoseconds


def put_time(memory: memoryview, time_ns: int, at: int) -> None:
    """Write a time [ns] into a native message."""
    _STAMP.pack_into(memory, at, *divmod(time_ns, _SECOND))


def starting_now(raw: bytes, time_ns: int) -> bytes:
    """Return a serialised message that begins with a header, with a stamp [ns] that it lacked.

    An empty frame becomes NOW, of the same length, by which `starts_now` knows such a message.
    """
    order = '<' if raw[1] & 1 else '>'
    stamp = struct.pack(f'{order}iI', *divmod(time_ns, _SECOND))
    frame, empty = raw[_FRAME_AT:_FRAME_END], struct.pack(f'{order}Ix', 1)
    if frame.startswith(empty):
        frame = struct.pack(f'{order}I', len(NOW)) + NOW
    return raw[:_STAMP_AT] + stamp + frame + raw[_FRAME_END:]


def starts_now(raw: bytes) -> bool:
    """Whether the stamp of a serialised message is that of `starting_now`."""
    return raw[_FRAME_AT + _LENGTH.size : _FRAME_END] == NOW


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


def aligned_copy(raw: bytes) -> NDArray[np.uint8]:
    """Return a copy of a message in which the arrays of numbers are aligned."""
    memory = np.zeros(4 + len(raw), dtype=np.uint8)[4:]  # aligned from the fifth byte on
    memory[:] = np.frombuffer(raw, dtype=np.uint8)
    return memory


class Cursor:
    """Goes through a native message, from behind its stamp; ArmError where that is cut off."""

    def __init__(self, raw: bytes, start: int = _FRAME_AT):
        self._raw, self._end = raw, start
        self._parts = [slice(0, start)]

    def part(self, size: int, alignment: int = 1) -> slice:
        """Return where the next `size` bytes are."""
        start = self._end + (_BODY - self._end) % alignment
        self._end, there = start + size, len(self._raw)
        if self._end > there:
            raise ArmError(f'a message of {there} bytes is cut off: {self._end} are not there')
        self._parts.append(slice(start, self._end))
        return self._parts[-1]

    def length(self) -> int:
        """Return the next number of elements or characters."""
        return _LENGTH.unpack(self._raw[self.part(4, 4)])[0]

    def text(self) -> str:
        """Return the next text."""
        return self._raw[self.part(self.length())].split(b'\0')[0].decode(errors='replace')

    def visited(self) -> bytes:
        """Return the message up to here, with zeros where no field is."""
        clean = bytearray(self._end)
        for part in self._parts:
            clean[part] = self._raw[part]
        return bytes(clean)


@cache
def _class_of(namespaces: tuple[str, ...], name: str) -> Any:
    return getattr(import_module('.'.join(namespaces)), name)


class Fields(Cursor):
    """The places of the fields of a native message, in the order of its definition.

    Attributes:
        texts: all strings.
        times: where each time or duration begins [bytes].
        numbers: where each array of float64 is, and each run of single float64 [bytes].
        lengths: where the length of each array of float64 is [bytes].
    """

    def __init__(self, raw: bytes, message_class: Any):
        """Find the fields; raise ArmError where the message is cut off."""
        super().__init__(raw, _BODY)
        self.texts: list[str] = []
        self.times: list[int] = []
        self.numbers: list[slice] = []
        self.lengths: list[slice] = []
        self._run = -1  # end of the last single float64
        self._find(message_class)

    def _find(self, message_class: Any) -> None:
        if message_class in (Time, Duration):
            self.times.append(self.part(_STAMP.size, 4).start)
            return
        for kind in message_class.SLOT_TYPES:
            self._find_value(kind)

    def _find_value(self, kind: Any) -> None:
        """Go past a value of one of a message's `SLOT_TYPES`."""
        if isinstance(kind, BasicType):
            place = self.part(_SIZES[kind.typename], _SIZES[kind.typename])
            if kind.typename == 'double':
                first = self.numbers.pop().start if self._run == place.start else place.start
                self.numbers.append(slice(first, place.stop))
                self._run = place.stop
        elif isinstance(kind, AbstractString):
            self.texts.append(self.text())
        elif isinstance(kind, NamespacedType):
            self._find(_class_of(tuple(kind.namespaces), kind.name))
        else:
            fixed, value = isinstance(kind, FixedArray), kind.value_type
            count = kind.size if fixed else self.length()
            if not isinstance(value, BasicType):
                for _ in range(count):
                    self._find_value(value)
                return
            if value.typename == 'double':
                self.lengths.append(slice(self._end - 4, self._end))
            size = _SIZES[value.typename]
            place = self.part(count * size, size if count else 1)  # an empty array is not aligned
            if value.typename == 'double':
                self.numbers.append(place)


class Template:
    """A message that is serialised once; its times and numbers are then written in place.

    Attributes:
        numbers: the arrays of float64 of the message, and its runs of single float64.
    """

    def __init__(self, message: Any):
        raw = serialized(message)
        fields, memory = Fields(raw, type(message)), aligned_copy(raw)
        self._memory, self._times = memory.data, fields.times
        self.numbers = [memory[place].view(np.float64) for place in fields.numbers]

    def at_times(self, *times_ns: int) -> bytes:
        """Return the message with these first times [ns], as `Publisher.publish` takes it."""
        for place, time_ns in zip(self._times, times_ns, strict=False):
            put_time(self._memory, time_ns, place)
        return self._memory.tobytes()


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
        put_time(self._memory, time_ns, _STAMP_AT)
        return self._memory.tobytes()


class _Shape(Fields):
    """A native JointState, and the messages that differ from it in stamp and numbers only.

    Attributes:
        sender, names: frame_id and joint names.
        values: by field, views of the numbers of the message that was read last.
        order: places of a reader's joints among the names; None: they come first.
    """

    order: NDArray[np.intp] | None = None

    def __init__(self, raw: bytes):
        super().__init__(raw, JointState)
        self.sender, *self.names = self.texts
        memory = aligned_copy(raw)
        self.memory, views = memory.data, (memory[each].view(np.float64) for each in self.numbers)
        self.values: dict[str, Array] = dict(zip(FIELDS, views, strict=True))
        # Of the message itself: what pads the names is anything, and the sender's own.
        self.fixed = [_ENCODING, slice(_FRAME_AT, self.lengths[0].stop), *self.lengths[1:]]
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
        seconds, nanoseconds = _STAMP.unpack_from(raw, _STAMP_AT)
        if nanoseconds >= _SECOND:
            return False
        time_ns = seconds * _SECOND + nanoseconds
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
            seconds, rest = rows[:, _STAMP_AT:_FRAME_AT].copy().view(np.int32).astype(np.int64).T
            ends = zip(FIELDS, shape.numbers, strict=True)
            size = 8 * len(self._names)
            places = {name: slice(each.start, each.start + size) for name, each in ends}
            found = {name: rows[:, places[name]].copy().view(float) for name in self._fields}
            within = all((np.abs(values) < LARGEST).all() for values in found.values())
            if alike and within and (rest >= 0).all() and (rest < _SECOND).all():
                return seconds * _SECOND + rest, found
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


def no_message(raw: bytes, kind: str) -> ArmError:
    """Return the refusal of bytes that cannot be read."""
    return ArmError(f'{len(raw)} bytes that begin with {raw[:4].hex()!r} are no {kind}')
