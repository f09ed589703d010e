"""Recordings: MCAP files of ROS 2 messages, as PlotJuggler, Foxglove and ros2 bag read."""

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from mcap.writer import Writer

from arm_controllers.ros.serialized_messages import stamp_ns
from arm_sim.output_folder import whole_file


def write_recording(path: Path, channels: Iterable[tuple[str, str, Sequence[bytes]]]) -> None:
    """Write an MCAP file; time is the simulated time of the stamps.

    Each channel is a topic, its type such as 'sensor_msgs/msg/JointState', and its serialised
    messages, which begin with a header, in order.
    """
    with whole_file(path) as stream:
        writer = Writer(stream)
        writer.start(profile='ros2', library='arm_sim')
        for topic, kind, messages in channels:
            schema = writer.register_schema(kind, 'ros2msg', schema_text(kind).encode())
            number = writer.register_channel(topic, 'cdr', schema)
            for sequence, data in enumerate(messages):
                stamp = stamp_ns(data)
                writer.add_message(number, stamp, data, stamp, sequence)
        writer.finish()


def schema_text(kind: str) -> str:
    """Return a message's definition followed by those that it uses, as MCAP's ros2msg wants it."""
    names, texts = [kind.replace('/msg/', '/')], []
    for name in names:  # which grow on the way
        package, message = name.split('/')
        folder = Path(get_package_share_directory(package)) / 'msg'
        texts.append(f'MSG: {name}\n{(folder / f"{message}.msg").read_text()}')
        fields = getattr(import_module(f'{package}.msg'), message).get_fields_and_field_types()
        used = re.findall(r'\w+/\w+', ' '.join(fields.values()))
        names += [each for each in dict.fromkeys(used) if each not in names]
    return ('\n' + '=' * 80 + '\n').join(texts).partition('\n')[2]
