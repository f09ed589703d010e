"""Messages of Protocol Buffers as objects, by the schema that an MCAP file has of them.

The encoding is that of https://protobuf.dev/programming-guides/encoding: each field is a key,
eight times its number plus a wire type, and a value: 0 a varint, 1 eight bytes, 2 a length and as
many bytes, 5 four bytes. A schema is a FileDescriptorSet, which is such a message itself.
"""

import struct
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, NamedTuple

from arm_dynamics.checks import ArmError

_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5  # wire types
_REPEATED = 3  # label of a field
_TEXT, _MESSAGE = 9, 11  # types of fields
_FIXED = {1: '<d', 2: '<f', 6: '<Q', 7: '<I', 15: '<i', 16: '<q'}
_SIZES = {_EIGHT: 8, _FOUR: 4}
# Numbers of fields of a schema: files, their package and messages; of a message name and fields;
# of a field name, number, label, type, the name of the type, and whether it may be absent.
_FILE, _PACKAGE, _MESSAGES = 1, 2, 4
_NAME, _FIELDS = 1, 2
_NUMBER, _LABEL, _TYPE, _TYPE_NAME, _OPTIONAL = 3, 4, 5, 6, 17


class _Field(NamedTuple):
    """A field.

    Attributes:
        name, kind: its name, its type.
        absent: its value where it is not written: of numbers 0, of many none.
        of: the message that it is.
    """

    name: str
    kind: int
    absent: Any
    of: str


def protobuf(schema: bytes, kind: str) -> Callable[[bytes], dict[str, Any]]:
    """Return what decodes messages of a kind, such as 'foxglove.JointState'.

    Raises:
        ArmError: the schema has no such message.
    """
    kinds: dict[str, dict[int, _Field]] = {}
    for file in (x for number, x in _parts(schema) if number == _FILE):
        parts = list(_parts(file))
        package = next((x.decode() for number, x in parts if number == _PACKAGE), '')
        for message in (x for number, x in parts if number == _MESSAGES):
            own = list(_parts(message))
            name = next(x.decode() for number, x in own if number == _NAME)
            fields = [_field(x) for number, x in own if number == _FIELDS]
            kinds[f'{package}.{name}'.lstrip('.')] = dict(fields)
    if kind not in kinds:
        raise ArmError(f'the schema of {kind} in protobuf does not have it')
    return lambda data: _object(data, kind, kinds)


def _field(data: bytes) -> tuple[int, _Field]:
    found: dict[int, Any] = dict(_parts(data))
    of = found.get(_TYPE_NAME, b'').decode().lstrip('.')
    kind = found.get(_TYPE, 0)
    absent: Any = None
    if found.get(_LABEL) == _REPEATED:
        absent = []
    elif kind in _FIXED and not found.get(_OPTIONAL):
        absent = 0.0
    return found[_NUMBER], _Field(found[_NAME].decode(), kind, absent, of)


def _object(data: bytes, kind: str, kinds: dict[str, dict[int, _Field]]) -> dict[str, Any]:
    """Return the values of a message's fields by name; an optional one may not be there."""
    fields = kinds.get(kind, {})
    found = {x.name: copy(x.absent) for x in fields.values() if x.absent is not None}
    for number, value in _parts(data):
        if (field := fields.get(number)) is None:
            continue
        values: list[Any] = [value]
        if field.kind == _MESSAGE:
            values = [_object(value, field.of, kinds)]
        elif field.kind == _TEXT:
            values = [value.decode()]
        elif layout := _FIXED.get(field.kind):
            values = [x for (x,) in struct.iter_unpack(layout, value)]
        if field.absent == []:
            found[field.name] += values
        else:
            found[field.name] = values[-1]
    return found


def _parts(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each field: an integer of a varint, else bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        size = _SIZES.get(wire)
        if wire == _BYTES:
            size, at = _varint(data, at)
        if size is None or at + size > len(data):
            raise ArmError('a message in protobuf is damaged')
        yield number, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer, whose bytes have 7 bits and a last one below 128, and what is behind."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
    raise ArmError('a message in protobuf is damaged')
