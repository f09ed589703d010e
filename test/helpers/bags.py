"""Recordings in rosbag2's format, written by rosbags: joint states as any publisher sends them."""

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
KIND = 'sensor_msgs/msg/JointState'
TEXT = 'std_msgs/msg/String'
EVENT = 'rcl_interfaces/msg/ParameterEvent'
PUSH, WRENCH, VECTOR = (f'geometry_msgs/msg/{x}' for x in ('WrenchStamped', 'Wrench', 'Vector3'))
STATE, HEADER, TIME = (
    STORE.types[name] for name in (KIND, 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time')
)
START = 1_700_000_000  # of the recorder's clock [s]


def write_bag(folder, messages, velocity=(), urdf='', pushed=False, node=''):
    """Write a bag of messages in this order; return its folder.

    Each one is a topic, times of receipt and of the header [s], names, positions and efforts, and
    maybe a frame; all have the same velocity, or one of the rows each. A URDF is the description
    of the arm, which may be `pushed` at the start; the parameters of a `node` are recorded, too.
    """
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        links = {}
        if urdf:
            link = writer.add_connection('/robot_description', TEXT, typestore=STORE)
            data = STORE.serialize_cdr(STORE.types[TEXT](urdf), TEXT)
            writer.write(link, round(messages[0][1] * 1e9), data)
        if pushed:
            zero = STORE.types[VECTOR](0.0, 0.0, 0.0)
            header, wrench = HEADER(TIME(0, 0), ''), STORE.types[WRENCH](zero, zero)
            link = writer.add_connection('/external_wrench', PUSH, typestore=STORE)
            data = STORE.serialize_cdr(STORE.types[PUSH](header, wrench), PUSH)
            writer.write(link, round(messages[0][1] * 1e9), data)
        if node:
            link = writer.add_connection('/parameter_events', EVENT, typestore=STORE)
            data = STORE.serialize_cdr(STORE.types[EVENT](TIME(0, 0), node, [], [], []), EVENT)
            writer.write(link, round(messages[0][1] * 1e9), data)
        for k, (topic, received, stamp, names, q, effort, *frame) in enumerate(messages):
            if topic not in links:
                links[topic] = writer.add_connection(f'/{topic}', KIND, typestore=STORE)
            header = HEADER(TIME(*divmod(round(stamp * 1e9), 10**9)), *(frame or ['']))
            v = np.array(velocity[k] if np.ndim(velocity) == 2 else velocity, float)
            state = STATE(header, list(names), np.array(q), v, np.array(effort))
            writer.write(links[topic], round(received * 1e9), STORE.serialize_cdr(state, KIND))
    return folder
