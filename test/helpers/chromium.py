"""Chromium without a window, controlled by its DevTools protocol."""

import base64
import json
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager

from long_wait import LONG_WAIT

# Also as root, without a graphics card, and without requests to other machines.
FLAGS = (
    '--headless', '--no-sandbox', '--disable-gpu', '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--remote-debugging-port=0',
)  # fmt: skip


def program():
    """Return the path of Chromium, or None."""
    names = ('chromium', 'chromium-browser', 'google-chrome')
    return next(filter(None, map(shutil.which, names)), None)


class Tab:
    """The one tab of a browser."""

    def __init__(self, socket):
        self._socket, self._number = socket, 0

    def call(self, method, **parameters):
        """Call a method of the DevTools protocol; return its result."""
        self._number += 1
        request = {'id': self._number, 'method': method, 'params': parameters}
        self._socket.send(json.dumps(request))
        while True:
            answer = json.loads(self._socket.recv(LONG_WAIT))
            if answer.get('id') == self._number:
                assert 'error' not in answer, answer
                return answer['result']

    def resize(self, width, height):
        """Set the size of the page [pixels]."""
        self.call(
            'Emulation.setDeviceMetricsOverride',
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def value(self, expression):
        """Return the value of a JavaScript expression."""
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True)
        return result['result'].get('value')

    def picture(self):
        """Return a picture of the page as a PNG."""
        return base64.b64decode(self.call('Page.captureScreenshot')['data'])


@contextmanager
def tab(path):
    """Give a tab of the Chromium at this path."""
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [path, *FLAGS, f'--user-data-dir={folder}', 'about:blank']
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as browser:
            try:
                lines = iter(browser.stderr.readline, '')
                address = next(filter(None, (re.search(r'ws://(\S+?)/', line) for line in lines)))
                import urllib.request

                with urllib.request.urlopen(f'http://{address[1]}/json/list') as answer:
                    (page,) = (x for x in json.load(answer) if x['type'] == 'page')
                with connect(page['webSocketDebuggerUrl'], max_size=None) as socket:
                    yield Tab(socket)
            finally:
                browser.terminate()
