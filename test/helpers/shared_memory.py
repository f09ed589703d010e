"""What a process maps of Fast DDS's shared memory."""

import re
from pathlib import Path

_PORT = re.compile(r'(\d+) +(/dev/shm/fastrtps_port(\d+).*)$', re.MULTILINE)
_FIRST = 7400  # of ROS domains; those below are shared by processes of all domains


def ports(pid):
    """Return the files in shared memory at which a process listens or sends in its domain."""
    found = _PORT.findall(Path(f'/proc/{pid}/maps').read_text())
    return {(inode, name) for inode, name, number in found if int(number) >= _FIRST}
