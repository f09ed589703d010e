"""Commands of the setup: their progress for a person, their log, their errors in one line."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from recipe import LOG, PYTHON, UNDERLAY, VENV


class SetupError(Exception):
    """A step that cannot be done; the message is one line for the user."""


class Progress:
    """Says how far a step is: one rewritten line on a terminal, else a line every ten seconds."""

    def __init__(self, title: str):
        self.title = title
        self.start = self.shown = time.monotonic()
        self.lock = threading.Lock()
        self.update('...')

    def update(self, text: str) -> None:
        """Show `text` behind the title."""
        with self.lock:
            now = time.monotonic()
            if sys.stderr.isatty():
                self.say(f'{self.title}: {text}', end='')
            elif now - self.shown > 10:
                self.shown = now
                self.say(f'{self.title}: {text}, {now - self.start:.0f} s so far')

    def done(self, text: str) -> None:
        """End the step's line with what was done and the time it took."""
        self.say(f'{self.title}: {text}, {time.monotonic() - self.start:.0f} s')

    @staticmethod
    def say(text: str, end: str = '\n') -> None:
        """Print a line, on a terminal in place of the present one."""
        rewrite = '\r\033[K' if sys.stderr.isatty() else ''
        print(rewrite + text, end=end, file=sys.stderr, flush=True)


def environment() -> dict[str, str]:
    """Return the variables with which colcon and Python find what is in `.ros`."""
    inherited = {k: v for k, v in os.environ.items() if k != '_ROS_WHEELS_BOOTSTRAP_COMPLETE'}
    return {
        **inherited,
        'AMENT_PREFIX_PATH': f'{UNDERLAY}:{VENV}',
        'CMAKE_PREFIX_PATH': f'{UNDERLAY}:{VENV}',
        'LD_LIBRARY_PATH': f'{UNDERLAY}/lib',
        'PATH': f'{VENV}/bin:{os.environ["PATH"]}',
        'PYTHONPATH': str(UNDERLAY / 'lib' / 'python3.12' / 'site-packages'),
    }


def begin(*command: str | Path, **variables: str) -> subprocess.Popen[str]:
    """Start a command in the environment, with further variables; its output is to be read."""
    return subprocess.Popen(
        list(map(str, command)),
        env=environment() | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(*command: str | Path, on_line=lambda line: None) -> str:
    """Run a command, give every line it prints to `on_line` and to the log; return its output."""
    with LOG.open('a') as log:
        process, lines = begin(*command), []
        for line in process.stdout:
            lines.append(line)
            log.write(line)
            on_line(line)
    if process.wait() != 0:
        errors = [n for n, line in enumerate(lines) if 'ERROR' in line] or [len(lines) - 1]
        reason = ' '.join(''.join(lines[errors[0] :]).split())[:500]
        raise SetupError(f'{reason or command[0]} (all output: {LOG})')
    return ''.join(lines)


def pip(*arguments: str | Path, on_line=lambda line: None) -> None:
    """Run the new environment's pip, which refuses whatever does not have the hash of the lock."""
    command, *rest = arguments
    fixed = ['--require-hashes', '--no-deps', '--no-cache-dir', '--disable-pip-version-check']
    try:
        run(PYTHON, '-m', 'pip', command, *fixed, '--progress-bar=off', *rest, on_line=on_line)
    except SetupError as error:
        wrong = re.search(r'FROM THE REQUIREMENTS FILE.* (\S+==\S+ from [^\s#]+)', str(error))
        if wrong:
            raise SetupError(f'refused, not the checksum of the lock file: {wrong[1]}') from None
        raise
