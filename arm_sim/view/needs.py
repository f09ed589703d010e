"""What the page needs and may not be there: viser, an address of this machine, a free port."""

import errno
import socket
from importlib.util import find_spec

from arm_dynamics.checks import ArmError

HELP = 'viser is not installed; get it with "./ws pip install viser" or "pip install viser"'
_MOST = 100  # ports that are tried


def has_viser() -> bool:
    """Whether the page can be served here."""
    return find_spec('viser') is not None


def free_port(host: str, port: int) -> int:
    """Return this port, or the next one that is free; viser would wait for one without end.

    Raises:
        ArmError: the host is no address of this machine, or no port is free.
    """
    last = min(port + _MOST, 2**16) - 1
    for number in range(port, last + 1):
        try:
            _bind(host, number)
        except (OSError, UnicodeError) as error:
            if getattr(error, 'errno', None) != errno.EADDRINUSE:
                why = getattr(error, 'strerror', None) or error
                raise ArmError(f'view_host {host!r}, view_port {number}: {why}') from None
        else:
            return number
    raise ArmError(f'view_host {host!r}: the ports {port} to {last} are all taken')


def _bind(host: str, port: int) -> None:
    """Take an address as a server does, and let it go."""
    if not host:
        raise OSError('there must be one; 0.0.0.0 stands for all of this machine')
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, _, _, _, address in found:
        socket.create_server(address[:2], family=family).close()
