"""The serialised messages of a recording: MCAP, also one that was cut off, or rosbag2."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from mcap.exceptions import EndOfFile
from mcap.records import Channel, Message, Metadata, Schema
from mcap.stream_reader import StreamReader

from arm_dynamics.checks import ArmError, one_line

# Of the metadata 'arm_sim': time between the recorded states of an arm at rest [s].
REST_PERIOD = 'rest_period_s'


class Recorded(NamedTuple):
    """A message: its topic, its type such as 'sensor_msgs/msg/JointState', time [ns], CDR data."""

    topic: str
    kind: str
    time_ns: int
    data: bytes


@contextmanager
def reading(path: Path | str) -> Iterator[Path]:
    """Give the path of a recording; turn what fails while it is read into one ArmError."""
    try:
        yield Path(path).expanduser()
    except ArmError as error:
        raise ArmError(f'recording {str(path)!r}: {error}') from None
    except Exception as error:  # a damaged file makes the libraries raise errors of any kind
        raise ArmError(f'recording {str(path)!r} cannot be read: {one_line(error)}') from None


def messages_of(path: Path, facts: dict[str, dict[str, str]] | None = None) -> Iterator[Recorded]:
    """Yield the messages of a file or of a rosbag2 folder in the order of the file.

    An MCAP file may end anywhere, as after a crash: its complete messages are read. Metadata of
    MCAP files are added to `facts`.

    Raises errors of any kind where the file is missing or damaged: call within `reading`.
    """
    files = [path]
    if path.is_dir():
        files = sorted(path.glob('*.mcap'), key=_numbered)
        if not files and not (path / 'metadata.yaml').is_file():
            files = sorted(path.glob('*.db3'), key=_numbered)
            if not files:
                raise ArmError('the folder has neither *.mcap nor *.db3')
    for file in files or [path]:
        yield from _of_mcap(file, facts) if file.suffix == '.mcap' else _of_rosbag2(file)


def _numbered(path: Path) -> list[tuple[int, str]]:
    """Return a key that sorts bag_2 before bag_10."""
    parts = re.split(r'(\d+)', path.name)
    return [(int(x), '') if x.isdigit() else (0, x) for x in parts]


def _of_rosbag2(path: Path) -> Iterator[Recorded]:
    """Yield the messages of an SQLite file, or of a folder that its metadata.yaml describes."""
    from rosbags.rosbag2 import Reader  # takes 0.2 s

    with Reader(path) as reader:
        for connection, time_ns, data in reader.messages():
            yield Recorded(connection.topic, connection.msgtype, time_ns, data)


class _Stream:
    """A file that ends where fewer bytes are left than requested; it never allocates more."""

    def __init__(self, file: IO[bytes]):
        self._read, self._left = file.read, os.fstat(file.fileno()).st_size

    def read(self, size: int) -> bytes:
        if size > self._left:
            raise EndOfFile
        self._left -= size
        return self._read(size)


def _of_mcap(path: Path, facts: dict[str, dict[str, str]] | None) -> Iterator[Recorded]:
    """Yield the messages of an MCAP file, which rosbags reads only with its index."""
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
                raise ValueError('not an MCAP file, or an empty one') from None
