"""Commands as groups of processes: whatever they started ends with them."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from arm_dynamics.checks import ArmError
from arm_sim.parent_process import end_with_parent

# Signals that end a group, one after the other, and the time that each has [s].
END_SIGNALS = ((signal.SIGINT, 10.0), (signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0))
_LOOK = 0.02
_LONGEST = 300  # characters of what a process said
_LAST = 200_000  # bytes of it that are looked at
_COLOUR = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]')


class Group(AbstractContextManager):
    """A command that runs, with all that it starts, until the end of a `with`.

    Attributes:
        log: file with what it says.
    """

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str]):
        """Start it. Raises ArmError where it cannot be started."""
        self.log = log
        with log.open('wb') as output:
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=dict(environment),
                    start_new_session=True,
                    preexec_fn=end_with_parent,
                )
            except OSError as error:
                raise ArmError(f'{command[0]!r} cannot be run: {error.strerror}') from None

    def __exit__(self, *error: object) -> None:
        self.end()

    @property
    def pid(self) -> int:
        """The number of the process, and of its group."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    def end(self) -> None:
        """End the whole group: as by Ctrl-C first, and by force in the end."""
        for number, wait in END_SIGNALS:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)
            for _ in range(round(wait / _LOOK)):  # not by a clock: this machine may be suspended
                if self.code is not None and not self._others():
                    return
                time.sleep(_LOOK)

    def _others(self) -> bool:
        """Whether processes of the group are left."""
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def lines(self) -> list[str]:
        """Return what it has said last, without colours and signs that cannot be seen.

        Nothing, where the log is gone.
        """
        text = ''
        with suppress(OSError), self.log.open('rb') as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST))
            text = _COLOUR.sub('', file.read().decode(errors='replace'))
        lines = (''.join(c if c.isprintable() else ' ' for c in x) for x in text.splitlines())
        return [line.strip()[:_LONGEST] for line in lines if line.strip()]
