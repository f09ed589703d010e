"""Progress of long work where the output is no terminal."""

import re
import time
from io import StringIO

from rich.console import Console

from arm_lab import progress as module
from arm_lab.progress import progress, status


def test_work_beyond_its_total_is_shown_as_all_of_it():
    text = StringIO()
    with progress('arms', 40, Console(file=text)) as show:
        show(20)
        show(42)
    first, last = text.getvalue().splitlines()
    assert first.startswith('arms: 20 of 40, ')
    assert last.startswith('arms: 40 of 40, ')
    assert last.endswith(' 0 s left')


def test_work_without_steps_says_now_and_then_what_it_does(capsys, monkeypatch):
    monkeypatch.setattr(module, 'SAID_EVERY', 0.01)
    said = ''
    with status('reading the recording') as now:
        for text in ('reading the recording', 'identifying from 160000 states'):
            now(text)
            while not re.search(rf'{text}: \d+ s so far\n', said):
                time.sleep(0.01)
                said += capsys.readouterr().err
    assert not capsys.readouterr().out


def test_a_step_that_lasts_says_now_and_then_how_long(monkeypatch):
    monkeypatch.setattr(module, 'SAID_EVERY', 0.01)
    text = StringIO()
    with progress('arms', 40, Console(file=text)) as show:
        for done in (0, 1):  # no tenth of the work is done
            show(done)
            end = time.monotonic() + 10.0
            while not re.search(rf'^arms: {done} of 40, \d+ s so far$', text.getvalue(), re.M):
                assert time.monotonic() < end, text.getvalue()
                time.sleep(0.01)
    said = text.getvalue()
    time.sleep(0.05)
    assert text.getvalue() == said


def test_a_line_that_just_came_is_not_followed_by_another(monkeypatch):
    monkeypatch.setattr(module, 'SAID_EVERY', 0.3)
    text = StringIO()
    with progress('arms', 10, Console(file=text)) as show:
        for done in range(1, 11):
            time.sleep(0.05)
            show(done)
    assert 'so far' not in text.getvalue()
