"""Keep what the commands in the pages print, with machine and versions, in docs/measured.

    ./ws python tools/measured.py                  # what is kept, and when it was measured
    ./ws python tools/measured.py delay            # run its command again, and keep what it prints
    ./ws python tools/measured.py delay './ws python benchmarks/delay.py'      # another command

A command runs in a folder with links to the project's files. Nothing is kept of one that does not
end with exit code 0.
The site shows all results on one page; test/project/test_measured.py compares the pages' digits.
"""

import argparse
import datetime
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'benchmarks'))

from run_samples import folder  # noqa: E402

FOLDER = ROOT / 'docs' / 'measured'
_COLOUR = re.compile(r'\x1b\[[0-9;]*m')
_CONDITIONS = re.compile(r'^(?:machine|load|versions): .*\n', re.MULTILINE)


class Measured(NamedTuple):
    """A result that is kept.

    Attributes:
        name: of the file, without `.txt`.
        command: as the pages have it.
        when: date, machine, load and versions, a line each.
        printed: what the command printed.
    """

    name: str
    command: str
    when: str
    printed: str


def kept() -> list[Measured]:
    """Return the results that are kept, by name."""
    return [_read(path) for path in sorted(FOLDER.glob('*.txt'))]


def page() -> str:
    """Return the page of the site that shows all of them."""
    parts = ['# Measured results', 'What the commands in the pages printed, as it is kept.']
    for each in kept():
        parts += [f'## {each.name}', f'    {each.command}']
        parts += [f'```text\n{each.when}\n\n{each.printed}```']
    return '\n\n'.join(parts) + '\n'


def measure(name: str, command: str) -> int:
    """Run a command and keep what it prints; return its exit code."""
    from conditions import conditions

    from arm_sim.output_folder import whole_file

    found = {'measured': datetime.date.today().isoformat(), **conditions()}
    environment = os.environ | {'COLUMNS': '100', 'NO_COLOR': '1'}
    with folder() as place:
        ran = subprocess.run(
            command, shell=True, cwd=place, env=environment, stdout=subprocess.PIPE, text=True
        )
    if ran.returncode == 0:
        printed = _CONDITIONS.sub('', _COLOUR.sub('', ran.stdout))
        head = ''.join(f'{key}: {value}\n' for key, value in found.items())
        lines = [line.rstrip() for line in f'{command}\n{head}\n{printed}'.splitlines()]
        FOLDER.mkdir(exist_ok=True)
        with whole_file(FOLDER / f'{name}.txt') as file:
            file.write('\n'.join([*lines, '']).encode())
    return ran.returncode


def _read(path: Path) -> Measured:
    head, _, printed = path.read_text().partition('\n\n')
    command, _, when = head.partition('\n')
    return Measured(path.stem, command, when, printed)


def main() -> int:
    """List, or run and keep; exit code 1 if the command failed."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument('name', nargs='?', help='of the result')
    parser.add_argument('command', nargs='?', help='that prints it')
    given = parser.parse_args()
    by_name = {each.name: each for each in kept()}
    if given.name is None:
        for each in by_name.values():
            print(f'{each.name:20} {each.when.splitlines()[0]:22} {each.command}')
        return 0
    if given.command is None and given.name not in by_name:
        parser.error(f'no result {given.name!r}; kept: {", ".join(by_name)}')
    return int(measure(given.name, given.command or by_name[given.name].command) != 0)


if __name__ == '__main__':
    sys.exit(main())
