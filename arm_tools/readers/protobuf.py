"""Messages of Protocol Buffers as objects, by the schema that an MCAP file has of them."""

from collections.abc import Callable
from typing import Any

from arm_dynamics.checks import ArmError
from arm_dynamics.optional import optional_module

Fields = dict[str, Any]  # of a message, by name

_LACKING = "a recording in protobuf needs protobuf: pip install 'protobuf>=6.31'"


def protobuf(schema: bytes, kind: str) -> Callable[[bytes], Fields]:
    """Return what decodes messages of a kind, such as 'foxglove.JointState'.

    `schema`: a FileDescriptorSet, as MCAP files have it.

    Raises:
        ArmError: the schema has no such message, or protobuf is not installed.
    """
    of, pools, factory, errors = (
        optional_module(f'google.protobuf.{x}', _LACKING)
        for x in ('descriptor_pb2', 'descriptor_pool', 'message_factory', 'message')
    )
    pool = pools.DescriptorPool()
    try:
        for file in of.FileDescriptorSet.FromString(schema).file:
            pool.AddSerializedFile(file.SerializeToString())
        read = factory.GetMessageClass(pool.FindMessageTypeByName(kind)).FromString
    except (errors.DecodeError, KeyError, TypeError):
        raise ArmError(f'the schema of {kind} in protobuf does not have it') from None

    def decoded(data: bytes) -> Fields:
        try:
            return _object(read(data))
        except errors.DecodeError:
            raise ArmError('a message in protobuf is damaged') from None

    return decoded


def _object(message: Any) -> Fields:
    """Return the values of a message's fields by name; one that may be absent may not be there."""
    found: Fields = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.message_type is None:
            plain = list(value) if field.is_repeated else value
        else:
            plain = [_object(x) for x in value] if field.is_repeated else _object(value)
        if not field.has_presence or message.HasField(field.name):
            found[field.name] = plain
    return found
