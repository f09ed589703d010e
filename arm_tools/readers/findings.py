"""Findings on a recording: texts of one line each, whose class says what follows from one."""

import sys
from collections.abc import Iterable


class Doubt(str):
    """A finding without which a result from the recording can be wrong."""


class OtherUnit(Doubt):
    """A finding by which the positions have another unit."""


class Currents(str):
    """A finding by which the efforts are currents."""


class Undecided(str):
    """A finding that an option must decide before a result is right."""


def print_doubts(findings: Iterable[str], recording: str = '') -> None:
    """Print on stderr the findings without which a result from a recording can be wrong."""
    for line in findings:
        if isinstance(line, Doubt):
            print(f'{recording}: {line}' if recording else line, file=sys.stderr)
