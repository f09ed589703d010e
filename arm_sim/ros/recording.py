"""Recordings: MCAP files of ROS 2 messages, as PlotJuggler, Foxglove and ros2 bag read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from mcap.writer import Writer

_BUILTIN = {'bool', 'byte', 'char', 'string', 'wstring', 'float32', 'float64'}
_BUILTIN |= {f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64)}


@dataclass(frozen=True)
class Channel:
    """One topic of a recording.

    Attributes:
        topic: its name.
        type_name: e.g. 'sensor_msgs/msg/JointState'.
        messages: stamp [ns] and serialized message (CDR), in order.
    """

    topic: str
    type_name: str
    messages: Sequence[tuple[int, bytes]]


def write_recording(path: Path, channels: Sequence[Channel]) -> None:
    """Write an MCAP file; time is the simulated time of the stamps."""
    with path.open('wb') as stream:
        writer = Writer(stream)
        writer.start(profile='ros2', library='arm_sim')
        for channel in channels:
            schema = writer.register_schema(
                channel.type_name, 'ros2msg', schema_text(channel.type_name).encode()
            )
            number = writer.register_channel(channel.topic, 'cdr', schema)
            for sequence, (stamp, data) in enumerate(channel.messages):
                writer.add_message(number, stamp, data, stamp, sequence)
        writer.finish()


def schema_text(type_name: str) -> str:
    """Return a message's definition followed by those that it uses, as MCAP's ros2msg wants it."""
    texts: dict[str, str] = {}
    _collect(type_name, texts)
    first, *rest = texts.items()
    separator = '\n' + '=' * 80 + '\n'
    used = (f'MSG: {name.replace("/msg/", "/")}\n{text}' for name, text in rest)
    return separator.join([first[1], *used])


def _collect(type_name: str, texts: dict[str, str]) -> None:
    package, _, name = type_name.split('/')
    text = (Path(get_package_share_directory(package)) / 'msg' / f'{name}.msg').read_text()
    texts[type_name] = text
    for line in text.splitlines():
        words = line.split('#')[0].split()
        if not words:
            continue
        field = words[0].split('[')[0].split('<')[0]
        if field in _BUILTIN:
            continue
        used = field if '/' in field else f'{package}/{field}'
        used = used.replace('/msg/', '/').replace('/', '/msg/')
        if used not in texts:
            _collect(used, texts)
