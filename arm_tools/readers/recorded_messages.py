"""The serialised messages of a recording: MCAP, also one that was cut off, or rosbag2."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

from mcap.exceptions import EndOfFile
from mcap.records import Channel, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import MCAP0_MAGIC

from arm_controllers.parameter_file import read_yaml
from arm_dynamics.checks import ArmError, line_on, one_line, text_of
from arm_tools.readers.other_encodings import plain, reader_of

# Of the metadata 'arm_sim': time between the recorded states of an arm at rest [s].
REST_PERIOD = 'rest_period_s'
_PACKED = '.zstd', '.zst'
_MOST_FACTS = 1_000_000  # characters of metadata.yaml
_SHOWN = 6  # names of a folder's files that a refusal has
_KINDS = '.mcap', '.db3'
_SAVED_BY = {
    '.db3': 'sqlite3 {} .recover | sqlite3 whole.db3',
    '.mcap': 'mcap recover {} -o whole.mcap',
}
_PART = re.compile(r'(.*?)(\d+)[.](?:mcap|db3)')  # what is before the number of a part, and this
_OTHER_KIND = re.compile('not an? (valid )?MCAP')  # begins why another file is none
# A packed file may have RATIO times its size and MORE bytes.
RATIO, MORE = 200, 1 << 30


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
        file = Path(path).expanduser()
        _check_begin(file)
        yield file
    except ArmError as error:
        raise ArmError(f'recording {str(path)!r}: {error}') from None
    except Exception as error:  # a damaged file makes the libraries raise errors of any kind
        why = one_line(error)
        if file.suffix in _SAVED_BY and file.is_file() and not _OTHER_KIND.match(why):
            why += f'; `{_SAVED_BY[file.suffix].format(file.name)}` saves what is there'
        raise ArmError(f'recording {str(path)!r} cannot be read: {why}') from None


def _check_begin(file: Path) -> None:
    """Raise ArmError where a file is no recording, as what a download leaves in place of one."""
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise ArmError('not a regular file, as a pipe, which may never end: write it into a file')
    for part in [file] if file.is_file() else file.glob('data/*/*.parquet'):  # of LeRobot
        with part.open('rb') as opened:
            begin = opened.read(40).lstrip().lower()
        which = '' if part == file else f'{part.name} '
        if begin.startswith(b'version https://git-lfs'):
            raise ArmError(
                f'{which}is a pointer of Git LFS, not the file: git lfs pull fetches it'
            )
        if begin.startswith((b'<!doctype', b'<html')):
            raise ArmError(f'{which}is a page of the web, not the file: download it again')


def messages_of(path: Path, facts: dict[str, dict[str, str]] | None = None) -> Iterator[Recorded]:
    """Yield the messages of a file or of a rosbag2 folder in the order of the file.

    An MCAP file may end anywhere, as after a crash: its complete messages are read. Metadata of
    MCAP files are added to `facts`. Files of a folder are read in the order of their numbers,
    whatever its metadata.yaml says.

    Raises errors of any kind where the file is missing or damaged: call within `reading`.
    """
    for file in files_of(path):
        if not is_of_messages(file):
            raise ArmError(
                'it must be an .mcap or .db3 file, or the folder of a bag, as launch files write '
                'them; rosbags-convert converts a .bag of ROS 1'
            )
        with _unpacked(file) as own:
            yield from _of_mcap(own, facts) if own.suffix == '.mcap' else _of_rosbag2(own)


def is_of_messages(path: Path) -> bool:
    """Return whether a file has messages: MCAP or SQLite, also compressed."""
    return (path.with_suffix('') if path.suffix in _PACKED else path).suffix in _KINDS


def files_of(path: Path) -> list[Path]:
    """Return the files of a folder, each once; a file is its own.

    Raises:
        ArmError: the folder has none.
    """
    if not path.is_dir():
        return [path]
    for kind in _KINDS:
        packed = {x.with_suffix(''): x for s in _PACKED for x in path.glob(f'*{kind}{s}')}
        found = packed | {x: x for x in path.glob(f'*{kind}')}
        if found:
            return [found[x] for x in sorted(found, key=_numbered)]
    from arm_tools.readers.lerobot_reader import INFO  # slow imports

    if (path / INFO).is_file():
        raise ArmError(
            'a LeRobot dataset has no goals and parameters of a run: give the MCAP file '
            'that it was exported from; identify and compare_recordings read the dataset'
        )
    there = sorted(x.name for x in path.iterdir())
    more = f' and {len(there) - _SHOWN} more' * (len(there) > _SHOWN)
    has = f'; it has {", ".join(there[:_SHOWN])}{more}' if there else ' and is empty'
    remedy = ': give one of these' if there else ''
    if sum(x.endswith(('.csv', '.txt', '.dat', '.npy')) for x in there) > 1:
        remedy += ', or call those of positions and of efforts q and tau'
    if sum(x.endswith('.csv') for x in there) > 1:
        remedy += '; those with one header become one table by `cat *.csv > all.csv`'
    if any('.tfrecord' in x for x in there):
        remedy = (
            ', and is a data set of TensorFlow (TFDS, RLDS): load an episode by '
            'tensorflow_datasets and write its arrays t, q and effort into an .npz'
        )
    if any(x.endswith('.bag') for x in there):
        remedy = ': rosbags-convert converts a .bag of ROS 1'
    raise ArmError(f'the folder has neither *.mcap nor *.db3{has}{remedy}')


def stale_index(path: Path) -> list[str]:
    """Return lines on files that are not read, not whole, or not as a metadata.yaml says."""
    cut = [x.name for x in files_of(path) if x.suffix == '.mcap' and not _has_end(x)]
    said = 'files: no end of {}, as of a recorder that was killed or still writes: read up to the '
    lines = [*line_on(cut, f'{said}last whole chunk of messages')]
    lines += [
        f'files: {x.name}-wal has messages that are not read: end the recorder, or type sqlite3 '
        f"{x.name} 'PRAGMA wal_checkpoint'"
        for x in files_of(path)
        if (wal := x.with_name(f'{x.name}-wal')).is_file() and wal.stat().st_size
    ]
    file = path / 'metadata.yaml'
    if not file.is_file():
        return [*lines, *_gaps([x.name for x in files_of(path)])]
    try:
        facts = read_yaml(text_of(file), 'metadata.yaml', _MOST_FACTS)
        paths = facts['rosbag2_bagfile_information']['relative_file_paths']
        named = {Path(x).name for x in paths}
    except (ArmError, KeyError, TypeError):
        return [*lines, 'files: metadata.yaml is damaged; all files of the folder are read']
    there = {x.name for x in files_of(path)}
    both = there | {f'{x}{s}' for x in there for s in _PACKED} | {Path(x).stem for x in there}
    if lost := sorted(named - both):
        lines.append(f'files: {", ".join(lost)} of metadata.yaml are missing')
    more = sorted(x for x in there if not {x, Path(x).stem} & named)
    if more and not lost:
        lines.append(f'files: {", ".join(more)} are not in metadata.yaml, and read too')
    return lines


def _gaps(names: list[str]) -> Iterator[str]:
    """Yield a line on each gap between the numbers of the parts of a recording."""
    parts = [(name, match) for name in names if (match := _PART.match(name))]
    for (name, one), (after, other) in pairwise(parts):
        if one[1] == other[1] and int(other[2]) - int(one[2]) > 1:
            yield f'files: there is none between {name} and {after}; is a part missing?'


def _has_end(file: Path) -> bool:
    with file.open('rb') as opened:
        opened.seek(max(0, file.stat().st_size - len(MCAP0_MAGIC)))
        return opened.read() == MCAP0_MAGIC


@contextmanager
def _unpacked(file: Path) -> Iterator[Path]:
    """Give a file, where it is compressed as a temporary copy."""
    if file.suffix not in _PACKED:
        yield file
        return
    import zstandard  # comes with mcap

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / file.with_suffix('').name
        most = RATIO * file.stat().st_size + MORE
        with zstandard.open(file, 'rb') as packed, copy.open('wb') as whole:
            while part := packed.read(1 << 20):
                if whole.tell() + len(part) > most:
                    raise ArmError(f'unpacks to over {RATIO} times its size: unpack it (zstd -d)')
                whole.write(part)
        yield copy


def _numbered(path: Path) -> list[tuple[int, str]]:
    """Return a key that sorts bag_2 before bag_10."""
    parts = re.split(r'(\d+)', path.name)
    return [(int(x), '') if x.isdigit() else (0, x) for x in parts]


def _of_rosbag2(path: Path) -> Iterator[Recorded]:
    """Yield the messages of an SQLite file."""
    from rosbags.rosbag2 import Reader  # takes 0.2 s

    with Reader(path) as reader:
        for connection, time_ns, data in reader.messages():
            yield Recorded(connection.topic, connection.msgtype, time_ns, plain(bytes(data)))


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
    schemas: dict[int, Schema] = {}
    channels: dict[int, tuple[str, str]] = {}
    readers: dict[int, Callable[[bytes], bytes]] = {}
    begun = False
    with path.open('rb') as file:
        stream: Any = _Stream(file)
        try:
            for record in StreamReader(stream, validate_crcs=True).records:
                begun = True
                if isinstance(record, Message):
                    own = record.channel_id
                    yield Recorded(*channels[own], record.log_time, readers[own](record.data))
                elif isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    schema = schemas.get(record.schema_id)
                    name, described = (schema.name, schema.data) if schema else ('no schema', b'')
                    kind, read = reader_of(name, record.message_encoding, described)
                    readers[record.id] = read
                    channels[record.id] = record.topic, kind
                elif isinstance(record, Metadata) and facts is not None:
                    facts[record.name] = record.metadata
        except EndOfFile:
            if not begun:
                raise ValueError('not an MCAP file, or an empty one') from None
