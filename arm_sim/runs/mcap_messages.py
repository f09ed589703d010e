"""The messages of an MCAP file, also of one that is cut off, or of a folder of them."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from mcap.exceptions import EndOfFile, McapError
from mcap.records import Channel, Message, Metadata, Schema
from mcap.stream_reader import StreamReader


class Recorded(NamedTuple):
    """A message: its topic, its type such as 'sensor_msgs/msg/JointState', time [ns], CDR data."""

    topic: str
    kind: str
    time_ns: int
    data: bytes


class _Stream:
    """A file in which less than is asked for is the end; no memory is taken for more."""

    def __init__(self, file: IO[bytes]):
        self._read, self._left = file.read, os.fstat(file.fileno()).st_size

    def read(self, size: int) -> bytes:
        if size > self._left:
            raise EndOfFile
        self._left -= size
        return self._read(size)


def messages_of(path: Path, facts: dict[str, dict[str, str]] | None = None) -> Iterator[Recorded]:
    """Yield the messages in the order in which they were written; metadata goes into `facts`.

    What a crash has cut off is left out. Of a folder all `*.mcap` are read, by their names.

    Raises:
        OSError: there is none, or it cannot be read.
        McapError: it is none, or damaged.
    """
    if path.is_dir():
        files = sorted(path.glob('*.mcap'))
        if not files:
            raise OSError('the folder has no *.mcap')
        for each in files:
            yield from messages_of(each, facts)
        return
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
                raise McapError('it is no MCAP file, or an empty one') from None
        except (OSError, McapError):
            raise
        except Exception as error:  # of whatever reads parts of a damaged file
            raise McapError(f'it is damaged: {error or type(error).__name__}') from None
