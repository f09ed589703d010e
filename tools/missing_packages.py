"""Says in one line which packages that the files named ask for do not fit, or are not there."""

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement


def misfit(line: str) -> str:
    """Return the requirement and what is there instead; empty where it fits."""
    wanted = Requirement(line)
    try:
        there = version(wanted.name)
    except PackageNotFoundError:
        return wanted.name
    return '' if there in wanted.specifier else f'{wanted} (has {there})'


lines = '\n'.join(Path(name).read_text() for name in sys.argv[1:]).splitlines()
lines = [line.split('#')[0].strip() for line in lines]
print(', '.join(filter(None, map(misfit, filter(None, lines)))))
