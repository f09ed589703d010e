"""How messages travel where ROS uses Fast DDS: by UDP, not by shared memory.

Fast DDS 2.14 takes the port in shared memory of a process that did not move for a second for dead.
Others make a new one, and about one in a hundred processes listened at the old one for ever. On
one machine UDP is as fast, and loses fewer large messages.
"""

import os
from pathlib import Path

from rclpy.utilities import get_rmw_implementation_identifier

from arm_dynamics.robots import share_folder

# Where users say which nodes find each other, and by what Fast DDS sends.
_REACH, _PROFILES = 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'FASTRTPS_DEFAULT_PROFILES_FILE'
_OF_USERS = {_PROFILES, 'FASTDDS_BUILTIN_TRANSPORTS', 'ROS_DISCOVERY_SERVER'}
_OF_USERS |= {'ROS_LOCALHOST_ONLY', 'ROS_STATIC_PEERS'}
_FILE_OF_USERS = 'DEFAULT_FASTRTPS_PROFILES.xml'  # which Fast DDS reads in the present folder


def use_udp() -> None:
    """Let nodes made later in this process send by UDP, unless a user has configured Fast DDS."""
    if _OF_USERS & {*os.environ} or Path(_FILE_OF_USERS).exists():
        return
    file = share_folder() / 'config' / f'fast_dds_{os.environ.get(_REACH, "SUBNET").lower()}.xml'
    known = (os.environ.get('ROS_DISTRO'), get_rmw_implementation_identifier())
    if known == ('jazzy', 'rmw_fastrtps_cpp') and file.exists():
        os.environ |= {_PROFILES: str(file), _REACH: 'SYSTEM_DEFAULT'}
