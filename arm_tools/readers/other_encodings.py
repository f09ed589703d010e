"""Joint states in other encodings of MCAP than CDR: JSON, protobuf, ROS 1, compressed messages.

In JSON they are `sensor_msgs` JointStates, in JSON and protobuf Foxglove's: `JointState`, or
`JointStates`, which have an object for each joint.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from arm_dynamics.checks import ArmError, one_line
from arm_tools.readers.protobuf import Fields, protobuf
from arm_tools.readers.ros_messages import JOINT_STATE, decoder

_ZSTD = b'\x28\xb5\x2f\xfd'  # begins a compressed message; CDR begins with a zero
_DDS = re.compile(r'dds_::(\w+)_$')  # as DDS names the type of a topic of ROS 2
_OF_FOXGLOVE = 'foxglove.JointStates', 'foxglove.JointState'
_FIELDS = 'position', 'velocity', 'effort'
LARGEST_MESSAGE = 1 << 28  # bytes of a message; one that is packed may announce any number
_SECONDS, _NANOSECONDS = ('sec', 'secs', 'seconds'), ('nanosec', 'nsec', 'nsecs', 'nanos')


def reader_of(
    schema: str, encoding: str, described: bytes = b''
) -> tuple[str, Callable[[bytes], bytes]]:
    """Return the kind of a channel's messages, and what makes them CDR.

    The kind of messages that are not read ends with their encoding; `described` is their schema.
    """
    kind = _DDS.sub(r'\1', schema).replace('::', '/')
    if kind.count('/') == 1:  # of ROS 1
        kind = kind.replace('/', '/msg/')
    if encoding in ('cdr', ''):
        return kind, plain
    if encoding == 'json' and (kind == JOINT_STATE or schema in _OF_FOXGLOVE):
        return JOINT_STATE, _of_json
    if encoding == 'protobuf' and schema in _OF_FOXGLOVE:
        decoded = protobuf(described, schema)
        return JOINT_STATE, lambda data: _of_object(decoded(data))
    if encoding == 'ros1' and kind == JOINT_STATE:
        return kind, _of_ros1
    return f'{schema} in {encoding}', bytes


def plain(data: bytes) -> bytes:
    """Return the CDR data of a message that may be compressed, as rosbag2 does one by one."""
    if data[:4] != _ZSTD:
        return data
    from zstandard import ZstdDecompressor  # comes with mcap

    with ZstdDecompressor().stream_reader(data) as packed:
        whole = packed.read(LARGEST_MESSAGE + 1)
    if len(whole) > LARGEST_MESSAGE:
        raise ArmError(f'has a message of more than {LARGEST_MESSAGE >> 20} MiB')
    return whole


@cache
def _stores() -> tuple[Any, Any]:
    from rosbags.typesys import Stores, get_typestore  # takes 0.2 s

    return get_typestore(Stores.ROS2_JAZZY), get_typestore(Stores.ROS1_NOETIC)


def _of_ros1(data: bytes) -> bytes:
    state = _stores()[1].deserialize_ros1(data, JOINT_STATE)
    stamp, fields = state.header.stamp, (state.position, state.velocity, state.effort)
    return _in_cdr(stamp.sec, stamp.nanosec, state.header.frame_id, state.name, fields)


def _of_json(data: bytes) -> bytes:
    try:
        return _of_object(json.loads(data))
    except Exception as error:  # of what another program writes, nothing is known
        raise ArmError(f'a message in JSON is no JointState: {one_line(error)}') from None


def _of_object(state: Fields) -> bytes:
    if 'joints' in state:
        state['name'] = [x.get('name', '') for x in state['joints']]
        state |= {x: _field(state['joints'], x) for x in _FIELDS}
    header = state.get('header', {})
    stamp = header.get('stamp', state.get('timestamp', {}))
    seconds, nanoseconds = (_first(stamp, x) for x in (_SECONDS, _NANOSECONDS))
    frame, fields = str(header.get('frame_id', '')), [state.get(x) or [] for x in _FIELDS]
    return _in_cdr(seconds, nanoseconds, frame, state.get('name', []), fields)


def _in_cdr(
    seconds: int,
    nanoseconds: int,
    frame: str,
    names: Sequence[str],
    fields: Sequence[Sequence[float]],
) -> bytes:
    """Return a JointState of these positions, velocities and efforts."""
    store = _stores()[0]
    time = store.types['builtin_interfaces/msg/Time'](seconds, nanoseconds)
    header = store.types['std_msgs/msg/Header'](time, frame)
    arrays = [np.array(x, dtype=float) for x in fields]  # None becomes NaN
    message = store.types[JOINT_STATE](header, list(names), *arrays)
    return bytes(store.serialize_cdr(message, JOINT_STATE))


def with_names(messages: Sequence[Any], name_of: Callable[[str], str]) -> list[Any]:
    """Return messages of which the joint states have other names of joints.

    Args:
        messages: `Recorded`.
        name_of: gives each name.

    Raises:
        ArmError: no joint has another name.
    """
    store, found, seen = _stores()[0], [], set[str]()
    for each in messages:
        if each.kind == JOINT_STATE:
            state = decoder(JOINT_STATE)(each.data)
            seen.update(state.name)
            state.name = [name_of(x) for x in state.name]
            each = each._replace(data=bytes(store.serialize_cdr(state, JOINT_STATE)))
        found.append(each)
    if all(name_of(x) == x for x in seen):
        raise ArmError(f'--columns: no joint has such a name; it has {", ".join(sorted(seen))}')
    return found


def _first(stamp: Mapping[str, int], names: tuple[str, ...]) -> int:
    return int(next((stamp[x] for x in names if x in stamp), 0))


def _field(joints: list[Fields], field: str) -> list[float]:
    """Return a number of each joint, NaN where one has none; nothing where none has one."""
    values = [np.nan if x.get(field) is None else float(x[field]) for x in joints]
    return [] if np.isnan(values).all() else values


def refuse_others(kinds: Mapping[str, str]) -> None:
    """Raise ArmError where topics, by their kinds, have joint states that are not read."""
    for topic, kind in kinds.items():
        if ' in ' in kind and 'JointState' in kind:
            raise ArmError(
                f'{topic} has {kind}, which is not read here, but CDR, JSON and ROS 1 are: '
                'convert it, or export the topic as CSV and name its columns (--columns)'
            )
