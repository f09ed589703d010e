"""ROS messages in their serialised form, written and read in place.

The form is CDR (OMG DDS-XTypes, encoding version 1). Four bytes name the encoding. After them
each number is at a multiple of its own size. A text and an array follow their length.
"""

import struct
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from rosidl_parser.definition import AbstractString, BasicType, NamespacedType
from rosidl_parser.definition import Array as FixedArray
from sensor_msgs.msg import JointState

from arm_controllers.ros.ros_types import Message
from arm_dynamics.checks import ArmError

SECOND = 1_000_000_000
STAMP, _LENGTH = struct.Struct('=iI'), struct.Struct('=I')
_BODY = 4  # where the fields begin, behind the encoding [bytes]
STAMP_AT, FRAME_AT = _BODY, 12
NOW = b'now\0'
_FRAME_END = FRAME_AT + _LENGTH.size + len(NOW)
ENCODING = slice(0, 2)  # the third and fourth byte mean nothing
_NATIVE = bytes(serialize_message(JointState()))[ENCODING]
# Bytes of a basic type of `SLOT_TYPES`.
_SIZES = {
    **dict.fromkeys(('boolean', 'octet', 'char', 'int8', 'uint8'), 1),
    **dict.fromkeys(('int16', 'uint16'), 2),
    **dict.fromkeys(('int32', 'uint32', 'float'), 4),
    **dict.fromkeys(('int64', 'uint64', 'double'), 8),
}


def serialized(message: Message) -> bytes:
    """Return a ROS message in CDR: exactly its bytes, with zeros between the fields."""
    return exact(bytes(serialize_message(message)), type(message))


def exact(raw: bytes, message_class: type[Message]) -> bytes:
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
    return raw[ENCODING] == _NATIVE


def stamp_ns(raw: bytes) -> int:
    """Return the stamp [ns] of a serialised message that begins with a header.

    Raises:
        ArmError: the message ends before it, or its nanoseconds are a second or more.
    """
    try:
        seconds, nanoseconds = STAMP.unpack_from(raw, STAMP_AT)
    except struct.error:
        raise ArmError(f'a message of {len(raw)} bytes is cut off in its header') from None
    if nanoseconds >= SECOND:
        raise ArmError(f'a stamp has {nanoseconds} nanoseconds; allowed: less than {SECOND}')
    return seconds * SECOND + nanoseconds


def put_time(memory: memoryview, time_ns: int, at: int) -> None:
    """Write a time [ns] into a native message."""
    STAMP.pack_into(memory, at, *divmod(time_ns, SECOND))


def starting_now(raw: bytes, time_ns: int) -> bytes:
    """Return a serialised message that begins with a header, with a stamp [ns] that it lacked.

    An empty frame becomes NOW, of the same length, by which `starts_now` knows such a message.
    """
    order = '<' if raw[1] & 1 else '>'
    stamp = struct.pack(f'{order}iI', *divmod(time_ns, SECOND))
    frame, empty = raw[FRAME_AT:_FRAME_END], struct.pack(f'{order}Ix', 1)
    if frame.startswith(empty):
        frame = struct.pack(f'{order}I', len(NOW)) + NOW
    return raw[:STAMP_AT] + stamp + frame + raw[_FRAME_END:]


def starts_now(raw: bytes) -> bool:
    """Whether the stamp of a serialised message is that of `starting_now`."""
    return raw[FRAME_AT + _LENGTH.size : _FRAME_END] == NOW


def no_message(raw: bytes, kind: str) -> ArmError:
    """Return the refusal of bytes that cannot be read."""
    return ArmError(f'{len(raw)} bytes that begin with {raw[:4].hex()!r} are no {kind}')


def aligned_copy(raw: bytes) -> NDArray[np.uint8]:
    """Return a copy of a message in which the arrays of numbers are aligned."""
    memory = np.zeros(4 + len(raw), dtype=np.uint8)[4:]  # aligned from the fifth byte on
    memory[:] = np.frombuffer(raw, dtype=np.uint8)
    return memory


class Cursor:
    """Goes through a native message, from behind its stamp; ArmError where that is cut off."""

    def __init__(self, raw: bytes, start: int = FRAME_AT):
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
def _class_of(namespaces: tuple[str, ...], name: str) -> type[Message]:
    return getattr(import_module('.'.join(namespaces)), name)


class Fields(Cursor):
    """The places of the fields of a native message, in the order of its definition.

    Attributes:
        texts: all strings.
        times: where each time or duration begins [bytes].
        numbers: where each array of float64 is, and each run of single float64 [bytes].
        lengths: where the length of each array of float64 is [bytes].
    """

    def __init__(self, raw: bytes, message_class: type[Message]):
        """Find the fields; raise ArmError where the message is cut off."""
        super().__init__(raw, _BODY)
        self.texts: list[str] = []
        self.times: list[int] = []
        self.numbers: list[slice] = []
        self.lengths: list[slice] = []
        self._run = -1  # end of the last single float64
        self._find(message_class)

    def _find(self, message_class: type[Message]) -> None:
        if message_class in (Time, Duration):
            self.times.append(self.part(STAMP.size, 4).start)
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

    def __init__(self, message: Message):
        raw = serialized(message)
        fields, memory = Fields(raw, type(message)), aligned_copy(raw)
        self._memory, self._times = memory.data, fields.times
        self.numbers = [memory[place].view(np.float64) for place in fields.numbers]

    def at_times(self, *times_ns: int) -> bytes:
        """Return the message with these first times [ns], as `Publisher.publish` takes it."""
        for place, time_ns in zip(self._times, times_ns, strict=False):
            put_time(self._memory, time_ns, place)
        return self._memory.tobytes()
