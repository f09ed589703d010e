"""The page's web server: viser on a free port of this machine, behind `Access`."""

import errno
import socket
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO

from arm_dynamics.checks import ArmError, typed
from arm_tools.view.access import WILDCARDS, Access
from arm_tools.view.page_parts import PageServer

HELP = f'viser is not installed; get it with "{typed("pip install viser")}"'
_PORTS = 100  # number of ports to try


def has_viser() -> bool:
    """Return whether viser is installed."""
    return find_spec('viser') is not None


def free_port(host: str, port: int) -> int:
    """Return this port, or the next free one.

    Raises:
        ArmError: the host is no address of this machine, or no port is free.
    """
    last = min(port + _PORTS, 2**16) - 1
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
    """Bind an address as a server does, and release it."""
    if not host:
        raise OSError('there must be one; 0.0.0.0 means all of this machine')
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, _, _, _, address in found:
        socket.create_server(address[:2], family=family).close()


def start_server(host: str, port: int) -> tuple[PageServer, Access, str]:
    """Return a started viser server, who may open its page, and the page's address with token.

    Raises:
        ArmError: viser is not installed or cannot be guarded, or the address cannot be served on.
    """
    if not has_viser():
        raise ArmError(HELP)
    port = free_port(host, port)
    import viser
    from websockets.asyncio import server as websockets_server

    access = Access(host, port)
    with access.guard(websockets_server), redirect_stdout(StringIO()):  # viser prints a box
        server = viser.ViserServer(host=host, port=port, verbose=False)
    if not access.guards:
        server.stop()
        raise ArmError(f'viser {viser.__version__} cannot be guarded; use viser 1.1')
    name = 'localhost' if host in ('127.0.0.1', *WILDCARDS) else host
    name = f'[{name}]' if ':' in name else name
    return server, access, f'http://{name}:{server.get_port()}/?token={access.token}'
