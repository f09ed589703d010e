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
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
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
BODY = 4  # where the fields begin, behind the encoding [bytes]
_STAMP_AT, _FRAME_AT = BODY, 12
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
    cursor = Cursor(raw, BODY)
    cursor.skip_fields(message_class)
    return cursor.visited()


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


def put_time(memory: memoryview, time_ns: int, at: int = _STAMP_AT) -> None:
    """Write a time [ns] into a native message, where its header has the stamp or elsewhere."""
    _STAMP.pack_into(memory, at, *divmod(time_ns, _SECOND))


def with_stamp(raw: bytes, time_ns: int) -> bytes:
    """Return a serialised message that begins with a header, with another stamp [ns]."""
    order = '<' if raw[1] & 1 else '>'
    stamp = struct.pack(f'{order}iI', *divmod(time_ns, _SECOND))
    return raw[:_STAMP_AT] + stamp + raw[_FRAME_AT:]


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
                told = f'joint {name!r} stands {times} times in a message that names '
                told += f'{", ".join(names) or "no joint"}; it must stand there once'
                raise ArmError(told)
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
        start = self._end + (_STAMP_AT - self._end) % alignment
        self._end, there = start + size, len(self._raw)
        if self._end > there:
            raise ArmError(f'a message of {there} bytes is cut off: {self._end} are not there')
        self._parts.append(slice(start, self._end))
        return self._parts[-1]

    def visited(self) -> bytes:
        """Return the message up to here, with zeros where no field is."""
        clean = bytearray(self._end)
        for part in self._parts:
            clean[part] = self._raw[part]
        return bytes(clean)

    def skip_fields(self, message_class: Any) -> None:
        """Go past the fields of a message."""
        for kind in message_class.SLOT_TYPES:
            self._skip(kind)

    def _skip(self, kind: Any) -> None:
        """Go past a value of one of a message's `SLOT_TYPES`."""
        if isinstance(kind, BasicType):
            self._skip_numbers(kind, 1)
        elif isinstance(kind, AbstractString):
            self.part(self.length())
        elif isinstance(kind, NamespacedType):
            self.skip_fields(getattr(import_module('.'.join(kind.namespaces)), kind.name))
        else:
            count = kind.size if isinstance(kind, FixedArray) else self.length()
            if isinstance(kind.value_type, BasicType):
                self._skip_numbers(kind.value_type, count)
            else:
                for _ in range(count):
                    self._skip(kind.value_type)

    def _skip_numbers(self, kind: BasicType, count: int) -> None:
        size = _SIZES[kind.typename]
        if count:  # an empty array is not aligned
            self.part(count * size, size)

    def length(self) -> int:
        """Return the next number of elements or characters."""
        return _LENGTH.unpack(self._raw[self.part(4, 4)])[0]

    def numbers(self) -> tuple[slice, slice]:
        """Return the place of the length of the next array, and of its numbers."""
        count = self.length()
        return slice(self._end - 4, self._end), self.part(8 * count, 8 if count else 1)

    def time(self) -> int:
        """Return the place of the next time or duration."""
        return self.part(_STAMP.size, 4).start

    def text(self) -> str:
        """Return the next text."""
        return self._raw[self.part(self.length())].split(b'\0')[0].decode(errors='replace')


class Layout(NamedTuple):
    """The layout of a serialised JointState of the native byte order.

    Attributes:
        frame_id, names: as in the message.
        lengths: place of the length of each field [bytes].
        numbers: place of the numbers of each field [bytes].
    """

    frame_id: str
    names: list[str]
    lengths: dict[str, slice]
    numbers: dict[str, slice]

    @classmethod
    def of(cls, raw: bytes) -> 'Layout':
        """Return the layout of a message; raise ArmError where that is cut off."""
        cursor = Cursor(raw)
        frame_id = cursor.text()
        names = [cursor.text() for _ in range(cursor.length())]
        places = {field: cursor.numbers() for field in FIELDS}
        lengths, numbers = ({field: both[k] for field, both in places.items()} for k in (0, 1))
        return cls(frame_id, names, lengths, numbers)

    def memory(self, raw: bytes) -> tuple[memoryview, dict[str, Array]]:
        """Return a copy of the message, and its fields' numbers as arrays in there."""
        memory, places = aligned_copy(raw), self.numbers.items()
        return memory.data, {field: memory[place].view(np.float64) for field, place in places}


class JointStateWriter:
    """A JointState that is filled and serialised again and again.

    Attributes:
        position, velocity, effort: (n,) arrays to write into, (0,) where not asked for.
    """

    def __init__(self, joint_names: Sequence[str], fields: Sequence[str], frame_id: str = ''):
        """`fields`: which of 'position', 'velocity', 'effort' the message holds."""
        message = JointState(name=list(joint_names))
        message.header.frame_id = frame_id
        for field in fields:
            setattr(message, field, [0.0] * len(joint_names))
        template = serialized(message)
        self._memory, views = Layout.of(template).memory(template)
        self.position, self.velocity, self.effort = (views[field] for field in FIELDS)

    def serialized(self, time_ns: int) -> bytes:
        """Return the message with this stamp, as `Publisher.publish` takes it."""
        put_time(self._memory, time_ns)
        return self._memory.tobytes()


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
        self._expected: Layout | None = None
        self._opened: Layout | None = None
        self._numbers: dict[str, Array] = {}
        self.time_ns, self.sender, self.empty = 0, '', True

    def open(self, raw: bytes) -> None:
        """Take the next message: its stamp and sender at once, its numbers when asked for.

        Raises:
            ArmError: that is no JointState, or its stamp is none; the one before stays open.
        """
        if not self.opens(raw):
            self._open_other(raw)

    @property
    def joint_names(self) -> list[str]:
        """The names in the opened message."""
        return self._opened.names

    def opens(self, raw: bytes) -> bool:
        """Take the next message if it differs from the last one in stamp and numbers only."""
        if not self._fits(raw):
            return False
        time_ns = stamp_ns(raw)
        self._memory[:] = raw
        self._opened, self._numbers = self._expected, self._views
        self.time_ns, self.sender, self.empty = time_ns, self._expected.frame_id, False
        return True

    def values(self, field: str) -> Array:
        """Return the opened message's (n,) values of a field, until the next one is opened.

        Raises ArmError as `JointReader.read` does.
        """
        values = self._numbers[field]
        if self._opened is self._expected and values.dot(values) < LARGEST**2:
            return values
        return self._ordered.read(self._opened.names, values, field)

    def read_all(self, raw: Sequence[bytes]) -> tuple[NDArray[np.int64], dict[str, Array]]:
        """Return stamps (m,) [ns] and, by field, values (m, n) of messages, in one pass if alike.

        Raises ArmError as `open` and `values` do.
        """
        self.open(raw[-1])
        if self._opened is self._expected and set(map(len, raw)) == {len(raw[-1])}:
            rows = np.frombuffer(b''.join(raw), np.uint8).reshape(len(raw), -1)
            alike = all((rows[:, place] == rows[-1, place]).all() for place in self._places)
            seconds, rest = rows[:, _STAMP_AT:_FRAME_AT].copy().view(np.int32).astype(np.int64).T
            numbers = self._expected.numbers
            found = {name: rows[:, numbers[name]].copy().view(float) for name in self._fields}
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

    def is_nan(self, field: str) -> bool:
        """Whether the opened message has values of a field, and none is a number."""
        values = self._numbers[field]
        return len(values) > 0 and bool(np.isnan(values).all())

    def _fits(self, raw: bytes) -> bool:
        """Whether the bytes differ from the last whole message in stamp and numbers only."""
        if self._expected is None or len(raw) != len(self._memory):
            return False
        return [raw[place] for place in self._places] == self._fixed

    def _open_other(self, raw: bytes) -> None:
        """Read a message of another shape; if it is as one expects, expect more of them."""
        native = raw if is_native(raw) else _converted(raw)
        time_ns, layout = stamp_ns(native), Layout.of(native)
        memory, numbers = layout.memory(native)
        self._opened, self._numbers = layout, numbers
        self.time_ns, self.sender, self.empty = time_ns, layout.frame_id, not layout.names
        n = len(self._names)
        whole = all(len(numbers[field]) == n for field in self._fields)
        whole &= all(len(given) in (0, n) for given in numbers.values())
        if native is raw and whole and layout.names == self._names:
            self._expected, self._memory, self._views = layout, memory, numbers
            lengths = [layout.lengths[field] for field in FIELDS]
            self._places = [_ENCODING, slice(_FRAME_AT, lengths[0].stop), *lengths[1:]]
            # Of the message itself: what pads the names is anything, and the sender's own.
            self._fixed = [raw[place] for place in self._places]


def _converted(raw: bytes) -> bytes:
    """Return a message of another machine's encoding in ours, by ROS's own conversion."""
    try:
        return bytes(serialize_message(deserialize_message(raw, JointState)))
    except (RuntimeError, MemoryError):
        raise no_message(raw, 'JointState') from None


def no_message(raw: bytes, kind: str) -> ArmError:
    """Return the refusal of bytes that cannot be read."""
    return ArmError(f'{len(raw)} bytes that begin with {raw[:4].hex()!r} are no {kind}')
