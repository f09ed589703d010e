"""The page's list of events: commands, how goals ended, refusals and warnings."""

from collections import deque
from html import escape
from typing import NamedTuple

ALARM, _PLAIN = '#c92a2a', '#495057'  # colours
_LINES, _LONGEST = 6, 300


class LoggedEvent(NamedTuple):
    """A line of the list.

    Attributes:
        text: what happened.
        bad: whether something was refused or failed.
        t: simulated time [s].
        times: number of times that it was added while in the list.
    """

    text: str
    bad: bool
    t: float
    times: int = 1


class EventLog:
    """The newest events, newest first.

    Attributes:
        refusals: texts of refusals; the page takes them out and shows them over the scene.
    """

    def __init__(self) -> None:
        """Begin without events."""
        self._events: deque[LoggedEvent] = deque(maxlen=_LINES)
        self.refusals: deque[str] = deque(maxlen=2)
        self._changed = True

    def add(self, text: str, t: float, bad: bool = False) -> None:
        """Add an event at a simulated time [s]."""
        text = ' '.join(text.split())
        if len(text) > _LONGEST:
            text = f'{text[: _LONGEST - 2]} …'
        times = 1
        for event in [each for each in self._events if each.text == text]:
            self._events.remove(event)
            times += event.times
        self._events.appendleft(LoggedEvent(text, bad, t, times))
        self._changed = True

    def refuse(self, what: str, reason: str, t: float) -> None:
        """Add a refusal or failure, with its reason."""
        self.add(f'{what}: {reason or "no reason was given"}', t, bad=True)
        self.refusals.append(self._events[0].text)

    def changes(self) -> str | None:
        """Return all events as HTML; None: they have not changed since the last call."""
        if not self._changed:
            return None
        self._changed = False
        return ''.join(map(_html, self._events)) or 'nothing yet'


def _html(event: LoggedEvent) -> str:
    """Return an event as HTML; its text is escaped, because any node may have written it."""
    times = f' ({event.times} times)' if event.times > 1 else ''
    style = 'font-size:0.8em;line-height:1.35;margin:0 0 0.35em;color:'
    style += ALARM if event.bad else _PLAIN
    time = f'<span style="color:#868e96">{event.t:.2f} s</span>'
    return f'<div style="{style}">{time} {escape(event.text + times, quote=False)}</div>'
