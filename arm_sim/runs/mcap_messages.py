"""The messages of an MCAP file, also of one that is cut off."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from mcap.exceptions import EndOfFile
from mcap.records import Channel, Message, Metadata, Schema
from mcap.stream_reader import StreamReader


class Recorded(NamedTuple):
    """A message: its topic, its type such as 'sensor_msgs/msg/JointState', time [ns], CDR data."""

    topic: str
    kind: str
    time_ns: int
    data: bytes


class _Stream:
    """A file in which less than is asked for is the end."""

    def __init__(self, file: IO[bytes]):
        self._read = file.read

    def read(self, size: int) -> bytes:
        data = self._read(size)
        if len(data) < size:
            raise EndOfFile
        return data


def messages_of(path: Path, facts: dict[str, dict[str, str]] | None = None) -> Iterator[Recorded]:
    """Yield the messages in the order in which they were written; metadata goes into `facts`.

    What a crash has cut off is left out. Raises McapError where the file is none, or damaged.
    """
    schemas: dict[int, str] = {}
    channels: dict[int, tuple[str, str]] = {}
    begun = False
    with path.open('rb') as file:
        stream: Any = _Stream(file)
        try:
            for record in StreamReader(stream, validate_crcs=True).records:
                begun = True
                if isinstance(record, Message):
                    yield Recorded(*channels[record.channel_id], record.log_time, record.data)
                elif isinstance(record, Schema):
                    schemas[record.id] = record.name
                elif isinstance(record, Channel):
                    channels[record.id] = record.topic, schemas.get(record.schema_id, '')
                elif isinstance(record, Metadata) and facts is not None:
                    facts[record.name] = record.metadata
        except EndOfFile:
            if not begun:
                raise
