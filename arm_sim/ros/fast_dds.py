"""Settings of Fast DDS, the middleware of ROS 2 Jazzy."""

import os

from rclpy.utilities import get_rmw_implementation_identifier

from arm_dynamics.robots import share_folder

# Where users say which nodes find each other, and by what Fast DDS sends.
_REACH, _PROFILES = 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'FASTRTPS_DEFAULT_PROFILES_FILE'
_OF_USERS = {_PROFILES, 'FASTDDS_BUILTIN_TRANSPORTS', 'ROS_LOCALHOST_ONLY', 'ROS_STATIC_PEERS'}


def keep_ports() -> None:
    """Let this process receive again after it was stopped for longer than a second.

    Fast DDS 2.14 gives the port in shared memory of a process that stands still to a new file, and
    one in a hundred such processes went on listening to the old one. config/ has the same
    transports with a patience of an hour. Users' own settings of Fast DDS are kept.
    """
    file = share_folder() / 'config' / f'fast_dds_{os.environ.get(_REACH, "SUBNET").lower()}.xml'
    known = (os.environ.get('ROS_DISTRO'), get_rmw_implementation_identifier())
    if known == ('jazzy', 'rmw_fastrtps_cpp') and file.exists() and not _OF_USERS & {*os.environ}:
        os.environ |= {_PROFILES: str(file), _REACH: 'SYSTEM_DEFAULT'}
