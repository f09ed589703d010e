"""Who may open the page: requests with the token of the printed address, from the page itself.

A browser sends requests of any web page to any address, also to this machine's: `Origin` names
the page that asks, `Host` the name by which it found this machine. Both must be the page's own.
Other programs send neither truthfully, so each request must also have the token, in the address
or in the cookie that the first answer sets.
"""

import asyncio
import logging
import secrets
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hmac import compare_digest
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, urlsplit

WILDCARDS = ('0.0.0.0', '::')
_LOOPBACK = ('localhost', '127.0.0.1', '::1')
_LARGEST_FRAME = 2**20  # from a browser [bytes]
_MOST_BROWSERS = 8  # each may keep as much unread as the scene has


class Access(logging.Handler):
    """Answers or refuses the requests to a page.

    Attributes:
        token: what a request must have.
        refused: number of refusals by their reason, and of connections ended for junk.
        guards: whether a server asks here.
    """

    def __init__(self, host: str, port: int):
        """Admit requests to the page on this address."""
        super().__init__()
        host, name = host.lower(), socket.gethostname().lower()
        self.token, self._cookie = secrets.token_urlsafe(16), f'arm_sim_{port}'
        self.refused: Counter[str] = Counter()
        self.guards = False
        self._names = {host, name, f'{name}.local', *_LOOPBACK}
        self._wildcard = host in WILDCARDS
        self._logger = logging.Logger('page', logging.ERROR)
        self._logger.addHandler(self)

    def reason(self, path: str, headers: Any) -> str:
        """Return why a request with this path and these headers is refused; '' if it is not."""
        try:
            host = headers.get('Host', '')
            if not self._is_own(urlsplit(f'//{host}').hostname or ''):
                return 'foreign Host'
            own = f'http://{host}', f'https://{host}'
            if headers.get('Origin', own[0]) not in own:
                return 'foreign Origin'
            given = parse_qs(urlsplit(path).query).get('token', [])
            given += [each.value for each in SimpleCookie(headers.get('Cookie', '')).values()]
        except (ValueError, LookupError, CookieError):  # such as a header that is there twice
            return 'malformed request'
        tokens = (each.encode() for each in given)
        return (
            '' if any(compare_digest(each, self.token.encode()) for each in tokens) else 'no token'
        )

    def _is_own(self, name: str) -> bool:
        """Return whether a Host names this machine; a foreign page has a name, no number."""
        if name in self._names or not self._wildcard:
            return name in self._names
        try:
            return bool(ip_address(name))
        except ValueError:
            return False

    @contextmanager
    def guard(self, websockets_server: Any) -> Iterator[None]:
        """Let the server that starts within a `with` block ask here for each request.

        Args:
            websockets_server: the module websockets.asyncio.server; viser calls its `serve`.
        """
        genuine = websockets_server.serve

        def serve(*given: object, process_request: Callable, **options: object) -> object:
            def process(connection: Any, request: Any) -> object:
                return self._respond(connection, request, process_request)

            self.guards = True
            asyncio.get_running_loop().set_exception_handler(self._on_failure)
            own = {'max_size': _LARGEST_FRAME, 'logger': self._logger}
            return genuine(*given, process_request=process, **{**options, **own})

        websockets_server.serve = serve
        try:
            yield
        finally:
            websockets_server.serve = genuine

    def _respond(self, connection: Any, request: Any, answer: Callable) -> object:
        """Return the response to a request; None: a WebSocket is opened."""
        reason, status = self.reason(request.path, request.headers), HTTPStatus.FORBIDDEN
        if not reason and len(connection.server.connections) >= _MOST_BROWSERS:
            reason, status = 'too many browsers', HTTPStatus.SERVICE_UNAVAILABLE
        if reason:
            self.refused[reason] += 1
            return connection.respond(status, f'{reason}: open the address that was printed\n')
        response = answer(connection, request)
        if response is not None:
            cookie = f'{self._cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/'
            response.headers['Set-Cookie'] = cookie
            response.headers['Referrer-Policy'] = 'no-referrer'
            response.headers['Content-Security-Policy'] = "frame-ancestors 'none'"
        return response

    def emit(self, record: logging.LogRecord) -> None:
        """Count an error that the server logs, such as a frame that viser cannot read."""
        self.refused[record.getMessage()] += 1

    def _on_failure(self, loop: object, context: dict[str, object]) -> None:
        self.refused['failed request or frame'] += 1
