"""An MCAP file of ROS 2 messages, written as they arrive; alone, or in a rosbag2 folder.

The file has the profile `ros2`: CDR messages with their definitions as schemas. The file is
readable up to the last chunk, however the process ends.
"""

import json
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import yaml
from mcap.writer import MCAP0_MAGIC, Writer

# A crash loses at most this much of a recording: less than a second of a 500 Hz arm [bytes].
_CHUNK = 200_000
# End of the data, footer without an index, magic: what a file of whole records lacks to be MCAP.
_END = b'\x0f' + struct.pack('<QI', 4, 0)
_END += b'\x02' + struct.pack('<QQQI', 20, 0, 0, 0) + MCAP0_MAGIC
_INFINITE = {'sec': 9223372036, 'nsec': 854775807}


class _Channel(NamedTuple):
    number: int
    kind: str
    qos: list[dict[str, object]]


class _Unbuffered:
    """A file that holds each chunk as soon as the chunk is written."""

    def __init__(self, path: Path):
        self._file = path.open('wb', buffering=0)
        self.tell, self.close = self._file.tell, self._file.close
        self._whole = 0  # bytes of whole records

    def write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
        self._whole += len(data)

    def cut(self) -> None:
        """Leave out a record that was written in part, and end the file."""
        self._file.truncate(self._whole)
        self._file.seek(self._whole)
        self._file.write(_END)


class McapFile:
    """A recording that grows message by message; after an OSError the file is unchanged.

    Attributes:
        path: of the file, or of the folder of a bag.
        counts: number of written messages by topic, of each that has a channel.
    """

    def __init__(self, path: Path, bag: bool = False):
        """Begin the file, or the folder with the file, in place of an earlier one."""
        self.path, self._bag = path, bag
        self._file = path / f'{path.name}_0.mcap' if bag else path
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._stream = _Unbuffered(self._file)
        self._writer = Writer(self._stream, chunk_size=_CHUNK)  # type: ignore[arg-type]
        self._writer.start(profile='ros2', library='arm_sim')
        self._channels: dict[str, _Channel] = {}
        self._schemas: dict[str, int] = {}
        self.counts: dict[str, int] = {}
        self._first_ns, self._last_ns = 2**63, 0

    def open_channel(self, topic: str, kind: str, schema: str, latched: bool = False) -> None:
        """Accept messages of this topic from now on.

        Args:
            topic: with all its namespaces.
            kind: the type, such as 'sensor_msgs/msg/JointState'.
            schema: definition of the type and of those that it uses, in MCAP's ros2msg format.
            latched: whether a player publishes the last message again to late subscribers.
        """
        if kind not in self._schemas:
            self._schemas[kind] = self._writer.register_schema(kind, 'ros2msg', schema.encode())
        qos = [_qos(latched)]
        metadata = {'offered_qos_profiles': yaml.safe_dump(qos, sort_keys=False)}
        number = self._writer.register_channel(topic, 'cdr', self._schemas[kind], metadata)
        self._channels[topic] = _Channel(number, kind, qos)
        self.counts[topic] = 0

    def write(self, topic: str, data: bytes, time_ns: int) -> None:
        """Add a serialised message at this time [ns]."""
        number = self.counts[topic] = self.counts[topic] + 1
        self._writer.add_message(self._channels[topic].number, time_ns, data, time_ns, number)
        self._first_ns, self._last_ns = min(self._first_ns, time_ns), max(self._last_ns, time_ns)

    def add_metadata(self, name: str, facts: Mapping[str, str]) -> None:
        """Add facts under a name."""
        self._writer.add_metadata(name, dict(facts))

    def close(self) -> None:
        """End the file with its index, a bag with its metadata.yaml."""
        try:
            self._writer.finish()
            self._file.stat()  # an OSError where it has been deleted
            if self._bag:
                plain = json.loads(json.dumps(self._bag_facts()))  # shares no part: no anchors
                text = yaml.safe_dump(plain, sort_keys=False)
                (self.path / 'metadata.yaml').write_text(text)
        finally:
            self._stream.close()

    def abandon(self) -> None:
        """Close the file without an index, as after an OSError; every MCAP reader reads it."""
        with suppress(OSError):
            self._stream.cut()
        with suppress(OSError):
            self._stream.close()

    def _bag_facts(self) -> dict[str, object]:
        """Return the metadata of rosbag2 in format 9, that of Jazzy."""
        total, name = sum(self.counts.values()), self._file.name
        start = self._first_ns if total else 0
        span = {
            'starting_time': {'nanoseconds_since_epoch': start},
            'duration': {'nanoseconds': self._last_ns - start},
            'message_count': total,
        }
        topics = [
            {
                'topic_metadata': {
                    'name': topic,
                    'type': channel.kind,
                    'serialization_format': 'cdr',
                    'offered_qos_profiles': channel.qos,
                    'type_description_hash': '',
                },
                'message_count': self.counts[topic],
            }
            for topic, channel in self._channels.items()
        ]
        facts = {
            'version': 9,
            'storage_identifier': 'mcap',
            **span,
            'topics_with_message_count': topics,
            'compression_format': '',
            'compression_mode': '',
            'relative_file_paths': [name],
            'files': [{'path': name, **span}],
            'custom_data': None,
            'ros_distro': 'jazzy',
        }
        return {'rosbag2_bagfile_information': facts}


def _qos(latched: bool) -> dict[str, object]:
    """Return a quality of service as rosbag2 writes it from format 9 on."""
    return {
        'history': 'keep_last',
        'depth': 1 if latched else 10,
        'reliability': 'reliable',
        'durability': 'transient_local' if latched else 'volatile',
        'deadline': dict(_INFINITE),
        'lifespan': dict(_INFINITE),
        'liveliness': 'automatic',
        'liveliness_lease_duration': dict(_INFINITE),
        'avoid_ros_namespace_conventions': False,
    }
