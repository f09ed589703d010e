"""Joint states of any recording: MCAP, also cut off, a rosbag2 folder, `record.npz`, CSV.

A JointState in CDR (OMG DDS-XTypes, encoding version 1) is a header, then names, positions,
velocities and efforts; each number stands at a multiple of its size, four bytes after the start.
"""

import sqlite3
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from mcap.exceptions import McapError

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.identification import Samples
from arm_sim.runs.mcap_messages import messages_of

_TYPE = 'sensor_msgs/msg/JointState'
_COMMANDS = 'joint_commands'  # topics that end so hold no states
_NOT_NPZ = BadZipFile, zlib.error, EOFError, NotImplementedError  # of a damaged .npz
_SOON = 1e-9  # a command with a state's own stamp acts after it [s]


def read_samples(path: Path | str, joint_names: Sequence[str]) -> Samples:
    """Return times, positions and torques of these joints, in their order.

    Raises:
        ArmError: names the file and what it lacks.
    """
    file = Path(path).expanduser()
    with _told_of(path):
        if file.suffix == '.npz':
            samples = _of_npz(file, len(joint_names))
        elif file.suffix == '.csv':
            samples = _of_csv(file, joint_names)
        else:
            samples = _of_messages(list(_messages(file)), joint_names)
        for name, values in vars(samples).items():
            if not np.isfinite(values).all():
                raise ArmError(f'some {name} are not finite')
        return samples


def read_voltages(path: Path | str, joint_names: Sequence[str], times: Array) -> Array:
    """Return the voltages (m, n) that made the torques recorded at times (m,); nan: none before.

    They are the newest commands before each time, `voltage` (m, n) of an .npz file, or the columns
    `<joint>.voltage` of a CSV file.

    Raises:
        ArmError: names the file and what it lacks.
    """
    file, shape = Path(path).expanduser(), (len(times), len(joint_names))
    with _told_of(path):
        if file.suffix == '.npz':
            with np.load(file) as arrays:
                if 'voltage' not in arrays:
                    raise ArmError("has no 'voltage' (m, n)")
                voltage = np.array(arrays['voltage'], dtype=float)
                if voltage.shape != shape:
                    raise ArmError(f'voltage has shape {voltage.shape}; it must be {shape}')
                return voltage
        if file.suffix == '.csv':
            return _columns(file, [f'{name}.voltage' for name in joint_names])
        sent = _of_messages(list(_messages(file, commands=True)), joint_names, 'joint commands')
        if (np.diff(sent.times) < 0.0).any():
            raise ArmError('the stamps of its joint commands go back; record without a reset')
        newest = np.searchsorted(sent.times, times - _SOON) - 1
        return np.where((newest >= 0)[:, np.newaxis], sent.effort[newest], np.nan)


@contextmanager
def _told_of(path: Path | str) -> Iterator[None]:
    """Turn what goes wrong while a recording is read into an ArmError that names it."""
    try:
        yield
    except ArmError as error:
        raise ArmError(f'recording {str(path)!r}: {error}') from None
    except (
        OSError,
        McapError,
        sqlite3.Error,
        ValueError,
        KeyError,
        TypeError,
        *_NOT_NPZ,
    ) as error:
        told = ' '.join(str(error).split()) or type(error).__name__
        raise ArmError(f'recording {str(path)!r} cannot be read: {told}') from None


def _of_npz(file: Path, n: int) -> Samples:
    with np.load(file) as arrays:
        missing = [name for name in ('t', 'q', 'effort') if name not in arrays]
        if missing:
            raise ArmError(f'has no {missing[0]!r}; it must have t (m,), q and effort (m, n)')
        t, q, effort = (np.array(arrays[name], dtype=float) for name in ('t', 'q', 'effort'))
    if t.ndim != 1 or q.shape != (len(t), n) or effort.shape != q.shape:
        raise ArmError(f't, q, effort have shapes {t.shape}, {q.shape}, {effort.shape}')
    return Samples(t, q, effort)


def _of_csv(file: Path, joint_names: Sequence[str]) -> Samples:
    wanted = ['time', *(f'{j}.{x}' for x in ('position', 'effort') for j in joint_names)]
    values = _columns(file, wanted)
    return Samples(values[:, 0], *np.split(values[:, 1:], 2, axis=1))


def _columns(file: Path, wanted: Sequence[str]) -> Array:
    """Return columns of a CSV file, by name."""
    with file.open() as stream:
        header = stream.readline().strip().split(',')
        rows = any(line.strip() for line in stream)
    for name in wanted:
        if name not in header:
            raise ArmError(f'has no column {name!r}; it needs {", ".join(wanted)}')
    columns = [header.index(name) for name in wanted]
    if not rows:
        raise ArmError('has no rows')
    return np.loadtxt(file, delimiter=',', skiprows=1, usecols=columns, ndmin=2)


def _messages(file: Path, commands: bool = False) -> Iterator[bytes]:
    """Yield the serialised joint states of an MCAP file, an SQLite bag, or a bag's folder.

    `commands`: the joint commands in place of the states.
    """
    if file.is_dir():
        parts = sorted([*file.glob('*.mcap'), *file.glob('*.db3')])
        if not parts:
            raise ArmError('the folder has neither *.mcap nor *.db3')
        for part in parts:
            yield from _messages(part, commands)
    elif file.suffix == '.db3':
        if not file.is_file():
            raise ArmError('no such file')
        with sqlite3.connect(f'file:{file}?mode=ro', uri=True) as bag:
            rows = bag.execute(
                'SELECT data, name FROM messages JOIN topics ON topics.id = topic_id '
                'WHERE type = ? ORDER BY timestamp',
                (_TYPE,),
            )
            for data, name in rows:
                if name.endswith(_COMMANDS) == commands:
                    yield bytes(data)
    elif file.suffix == '.mcap':
        for message in messages_of(file):
            if message.kind == _TYPE and message.topic.endswith(_COMMANDS) == commands:
                yield message.data
    else:
        raise ArmError('it must be an .mcap, .db3, .npz or .csv file, or the folder of a bag')


def _of_messages(
    messages: list[bytes], joint_names: Sequence[str], kind: str = 'joint states'
) -> Samples:
    times, q, effort, seen = [], [], [], set()
    layout: _Layout | None = None
    for data in messages:
        if layout is None or not layout.fits(data):
            layout = _Layout(data)
            seen.update(layout.names)
        if not set(joint_names) <= set(layout.names):
            continue  # of another arm, or a gripper
        order = [layout.names.index(name) for name in joint_names]
        position, torque = layout.values(data)
        if not len(torque):
            raise ArmError(f'its {kind} have no effort, which is needed')
        times.append(layout.time(data))
        q.append(position[order] if len(position) else np.full(len(order), np.nan))
        effort.append(torque[order])
    if not times:
        names = ', '.join(sorted(seen)) or 'none'
        raise ArmError(f'no {kind} of {", ".join(joint_names)}; it has {names}')
    return Samples(np.array(times), np.array(q), np.array(effort))


class _Layout:
    """Where things stand in a serialised JointState; the same for all from one sender."""

    def __init__(self, data: bytes):
        try:
            self._order = '<' if data[1] & 1 else '>'
            at = self._skip_text(data, 12)
            (length,) = struct.unpack_from(f'{self._order}I', data, at := _aligned(at, 4))
            at, names = at + 4, []
            for _ in range(length):
                start = _aligned(at, 4)
                at = self._skip_text(data, start)
                names.append(data[start + 4 : at].split(b'\0')[0].decode(errors='replace'))
            self.names, self._head, self._size = names, data[12:at], len(data)
            places = []
            for _ in range(3):
                (length,) = struct.unpack_from(f'{self._order}I', data, at := _aligned(at, 4))
                start = _aligned(at + 4, 8) if length else at + 4
                if length not in (0, len(names)):
                    raise ArmError(f'a joint state has {length} values for {len(names)} joints')
                places.append((start, length))
                at = start + 8 * length
            self._places = places
            if at > len(data):
                raise ArmError(f'a joint state of {len(data)} bytes is cut off')
        except (struct.error, IndexError):
            raise ArmError(f'a joint state of {len(data)} bytes is cut off') from None

    def fits(self, data: bytes) -> bool:
        """Whether a message has the same names at the same places."""
        end = 12 + len(self._head)
        return len(data) == self._size and data[12:end] == self._head

    def time(self, data: bytes) -> float:
        """Return the stamp [s]."""
        seconds, nanoseconds = struct.unpack_from(f'{self._order}iI', data, 4)
        return seconds + 1e-9 * nanoseconds

    def values(self, data: bytes) -> tuple[Array, Array]:
        """Return positions and efforts."""
        kind = f'{self._order}f8'
        first, _, last = (
            np.frombuffer(data, kind, number, start).astype(float)
            for start, number in self._places
        )
        return first, last

    def _skip_text(self, data: bytes, at: int) -> int:
        (length,) = struct.unpack_from(f'{self._order}I', data, at)
        if length > len(data):
            raise IndexError
        return at + 4 + length


def _aligned(at: int, size: int) -> int:
    return at + (4 - at) % size
