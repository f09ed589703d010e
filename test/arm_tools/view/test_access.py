"""Who may open the page in the browser: only requests with its token, from the page itself."""

import http.client
import os
import socket
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from long_wait import LONG_WAIT
from optional import optional

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import find_urdf
from arm_dynamics.surroundings import Surroundings
from arm_tools.view import page, server
from arm_tools.view.access import Access
from arm_tools.view.monitor import ArmMonitor

HOST = {'Host': 'localhost:8080'}


@pytest.mark.parametrize(
    ('host', 'headers', 'reason'),
    [
        ('127.0.0.1', {}, ''),
        ('127.0.0.1', {'Host': '127.0.0.1:8080'}, ''),
        ('127.0.0.1', {'Host': '[::1]:9000'}, ''),  # through a tunnel to another port
        ('127.0.0.1', {'Host': 'evil.example'}, 'foreign Host'),
        ('127.0.0.1', {'Host': '203.0.113.1'}, 'foreign Host'),
        ('127.0.0.1', {'Host': '[::1'}, 'malformed request'),
        ('127.0.0.1', {'Host': ''}, 'foreign Host'),
        ('0.0.0.0', {'Host': '203.0.113.1:8080'}, ''),
        ('0.0.0.0', {'Host': f'{socket.gethostname()}:8080'}, ''),
        ('0.0.0.0', {'Host': 'evil.example'}, 'foreign Host'),  # DNS rebinding
        ('Arm.lab', {'Host': 'arm.LAB:8080'}, ''),
        ('127.0.0.1', {'Origin': 'http://localhost:8080'}, ''),
        ('127.0.0.1', {'Origin': 'https://localhost:8080'}, ''),
        ('127.0.0.1', {'Origin': 'http://localhost:8081'}, 'foreign Origin'),
        ('127.0.0.1', {'Origin': 'https://evil.example'}, 'foreign Origin'),
        ('127.0.0.1', {'Origin': 'null'}, 'foreign Origin'),
    ],
)
def test_a_foreign_host_or_origin_is_refused_even_with_the_token(host, headers, reason):
    access = Access(host, 8080)
    assert access.reason(f'/?token={access.token}', HOST | headers) == reason
    cookie = {'Cookie': f'a=b; arm_sim_8080={access.token}'}
    assert access.reason('/x.js', HOST | cookie | headers) == reason


@pytest.mark.parametrize(
    ('path', 'cookie'),
    [
        ('/', ''),
        ('/?token=', ''),
        ('/?token=x', 'arm_sim_8080=x'),
        ('/?other={token}', ''),
        ('/', 'arm_sim_8080={token}x'),
        ('/?token=\u00e9', 'a=\u00e9;;;='),
        ('//[', ''),
    ],
)
def test_a_request_without_the_token_is_refused(path, cookie):
    access = Access('127.0.0.1', 8080)
    headers = HOST | {'Cookie': cookie.format(token=access.token)}
    reason = access.reason(path.format(token=access.token), headers)
    assert reason == ('malformed request' if path == '//[' else 'no token')


def test_each_page_has_another_token():
    tokens = {Access('127.0.0.1', 8080).token for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 20


@pytest.fixture
def served():
    """Give a page that is served, without an arm."""
    optional('viser', 'viser>=1.1')
    shown = page.Page('127.0.0.1', 8080, lambda do: None)
    yield shown
    shown.close()


def get(shown, path, **headers):
    """Return the response of the page's server."""
    connection = http.client.HTTPConnection('127.0.0.1', shown.port, timeout=LONG_WAIT)
    connection.request('GET', path, headers=headers)
    return connection.getresponse()


def path_of(shown):
    parts = urlsplit(shown.url)
    return f'{parts.path}?{parts.query}'


def connect(shown, path, **headers):
    import viser
    from websockets.sync import client

    return client.connect(
        f'ws://127.0.0.1:{shown.port}{path}', subprotocols=[f'viser-v{viser.__version__}'],
        additional_headers=headers, open_timeout=LONG_WAIT, max_size=None,
    )  # fmt: skip


def until(condition):
    end = time.monotonic() + LONG_WAIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_printed_address_opens_the_page_and_gives_the_cookie_that_its_parts_need(served):
    answer = get(served, path_of(served))
    assert answer.status == 200
    cookie = answer.headers['Set-Cookie']
    assert 'SameSite=Strict' in cookie
    assert 'HttpOnly' in cookie
    assert answer.headers['Content-Security-Policy'] == "frame-ancestors 'none'"
    assert get(served, '/').status == 403
    assert get(served, '/', Cookie=cookie.partition(';')[0]).status == 200
    with connect(served, '/', Cookie=cookie.partition(';')[0]) as socket_:
        assert len(socket_.recv(LONG_WAIT)) > 16
    assert served.refused == {'no token': 1}


@pytest.mark.parametrize(
    ('path', 'headers'),
    [
        ('/', {}),
        ('/?token=guess', {}),
        ('{url}', {'Origin': 'https://evil.example'}),
        ('{url}', {'Host': 'evil.example'}),
    ],
)
def test_no_foreign_page_or_user_gets_a_websocket(served, path, headers):
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus, match='403'):
        connect(served, path.format(url=path_of(served)), **headers)
    assert sum(served.refused.values()) == 1
    assert not served.has_browser


def read_to_the_end(connection):
    while True:
        connection.recv(LONG_WAIT)


def test_junk_frames_end_their_connection_are_counted_and_print_nothing(served, capfd):
    from websockets.exceptions import ConnectionClosed

    for junk in (b'', b'\xc1' * 1000, 'text', b'\x80', b'\x81\xa4type\xa3no!'):
        with connect(served, path_of(served)) as connection:
            connection.send(junk)
            with pytest.raises(ConnectionClosed):
                read_to_the_end(connection)
    until(lambda: sum(served.refused.values()) == 5)
    assert capfd.readouterr() == ('', '')
    assert get(served, path_of(served)).status == 200


def test_after_eight_browsers_the_next_is_refused_until_one_leaves(served):
    from websockets.exceptions import InvalidStatus

    with ExitStack() as opened:
        for _ in range(8):
            opened.enter_context(connect(served, path_of(served)))
        with pytest.raises(InvalidStatus, match='503'):
            connect(served, path_of(served))
    until(lambda: get(served, path_of(served)).status == 200)
    with connect(served, path_of(served)) as connection:
        assert len(connection.recv(LONG_WAIT)) > 16


@pytest.mark.slow
def test_browsers_that_read_nothing_take_bounded_memory(served):
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    served.set_arm(model, Surroundings(), None)
    arm, rng = ArmMonitor(model), np.random.default_rng(0)

    def show(pictures):
        for _ in range(pictures):
            arm.on_state(arm.time + 0.03, model.random_configuration(rng), np.zeros(6))
            served.show(arm, 'pd_controller')

    with ExitStack() as opened:
        for _ in range(8):
            opened.enter_context(connect(served, path_of(served)))
        show(200)
        before = memory()
        show(1000)
        assert memory() - before < 30e6


def memory():
    """Return the memory of this process [bytes]."""
    return int(Path('/proc/self/statm').read_text().split()[1]) * os.sysconf('SC_PAGESIZE')


def test_a_server_that_does_not_ask_for_access_is_not_started(monkeypatch):
    optional('viser', 'viser>=1.1')
    import viser

    stopped = []

    class Unguarded:
        def __init__(self, **options):
            pass

        def stop(self):
            stopped.append(True)

    monkeypatch.setattr(viser, 'ViserServer', Unguarded)
    with pytest.raises(ArmError, match='cannot be guarded'):
        server.start_server('127.0.0.1', 8080)
    assert stopped == [True]
