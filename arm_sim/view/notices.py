"""What the page says happened: orders, how they ended, and why one was refused."""

from collections import deque
from html import escape
from typing import NamedTuple

_MOST, _LONGEST = 6, 300


class Notice(NamedTuple):
    """A line on the page.

    Attributes:
        text: what happened.
        bad: whether something was refused or failed.
        t: simulated time [s].
        times: how often it was said in a row.
    """

    text: str
    bad: bool
    t: float
    times: int = 1


class Notices:
    """The newest lines, newest first.

    Attributes:
        fresh: what was refused and not shown over the page yet, for a page to take out.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._lines: deque[Notice] = deque(maxlen=_MOST)
        self.fresh: deque[Notice] = deque(maxlen=2)
        self._changed = True

    def say(self, text: str, t: float) -> None:
        """Say what was done."""
        self._add(Notice(text, False, t))

    def warn(self, what: str, trouble: str, t: float) -> None:
        """Say who complains, and of what."""
        self._add(Notice(f'{what}: {trouble}', True, t))

    def refuse(self, what: str, reason: str, t: float) -> None:
        """Say what was refused or has failed, and why."""
        self.warn(what, reason or 'no reason was given', t)
        self.fresh.append(self._lines[0])

    def _add(self, notice: Notice) -> None:
        line = ' '.join(notice.text.split())
        if len(line) > _LONGEST:
            line = f'{line[: _LONGEST - 2]} …'
        notice = notice._replace(text=line)
        if self._lines and self._lines[0].text == line:
            notice = notice._replace(times=self._lines.popleft().times + 1)
        self._lines.appendleft(notice)
        self._changed = True

    def news(self) -> str | None:
        """Return all lines as HTML, or None where they are as at the last time."""
        if not self._changed:
            return None
        self._changed = False
        return ''.join(map(_html, self._lines)) or _line('nothing yet', '', '#868e96')


def _html(notice: Notice) -> str:
    times = f' ({notice.times} times)' if notice.times > 1 else ''
    colour = '#c92a2a' if notice.bad else '#495057'
    return _line(notice.text + times, f'{notice.t:.2f} s', colour)


def _line(text: str, when: str, colour: str) -> str:
    """Return a line; what is in it is text, whoever wrote it."""
    time = f'<span style="color:#868e96">{when}</span> ' if when else ''
    style = f'font-size:0.8em;line-height:1.35;margin:0 0 0.35em;color:{colour}'
    return f'<div style="{style}">{time}{escape(text, quote=False)}</div>'
