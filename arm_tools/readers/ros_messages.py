"""Messages of recordings, deserialised without ROS."""

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

from arm_dynamics.checks import ArmError

Decoded = Any  # a message of rosbags, by whose fields it is used

JOINT_STATE = 'sensor_msgs/msg/JointState'
IMAGE = 'sensor_msgs/msg/Image'


@cache
def decoder(kind: str) -> Callable[[bytes], Decoded]:
    """Return a function that deserialises CDR data of a type, such as JOINT_STATE.

    The function raises ArmError where the data are cut off, or the numbers of a JointState are
    not one per joint.
    """
    from rosbags.serde import SerdeError
    from rosbags.typesys import Stores, get_typestore  # takes 0.2 s

    store = get_typestore(Stores.ROS2_JAZZY)
    definition: Any = store.get_msgdef(kind)

    def decoded(data: bytes) -> object:
        little = bool(data[1] & 1)
        read = definition.deserialize_cdr_le if little else definition.deserialize_cdr_be
        try:
            # Not store.deserialize_cdr: messages of arm_sim 0.2 have up to 16 bytes too many.
            message, _ = read(data[4:], 0, definition.cls, store)
        except (struct.error, ValueError, SerdeError):
            what = 'joint state' if kind == JOINT_STATE else kind
            raise ArmError(f'a {what} of {len(data)} bytes is cut off') from None
        if kind == JOINT_STATE:
            for field in ('position', 'velocity', 'effort'):
                count, joints = len(getattr(message, field)), len(message.name)
                if count not in (0, joints):
                    raise ArmError(
                        f'a joint state has {count} values of {field} for {joints} joints: '
                        'publish one for each, nan where there is none, or none at all'
                    )
        return message

    return decoded


def seconds(message: Decoded) -> float:
    """Return the stamp of a message [s]."""
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
