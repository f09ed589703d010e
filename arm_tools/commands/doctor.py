"""`ros2 run arm_sim doctor`: check this machine, and advise on what is missing."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from arm_tools.commands import doctor_checks
from arm_tools.commands.doctor_checks import Diagnosis, Severity
from arm_tools.versions import versions

CHECKS = doctor_checks.ALL
_COLOURS = {
    Severity.GOOD: 'green',
    Severity.NOTE: 'yellow',
    Severity.ABSENT: 'dim',
    Severity.BROKEN: 'red',
}


def findings(checks: Sequence[Callable[[], list[Diagnosis]]]) -> list[Diagnosis]:
    """Return the findings of all checks; a check that raises an exception is a finding too."""
    found = []
    for check in checks:
        try:
            found += check()
        except Exception as error:  # a broken machine may break a check in any way
            name = check.__name__.replace('_', ' ')
            detail = f'{type(error).__name__}: {error}'
            found.append(Diagnosis(name, Severity.BROKEN, detail, 'mend what this says'))
    return found


def facts() -> dict[str, object]:
    """Return what `--json` prints."""
    found = findings(CHECKS)
    ok = all(each.state != Severity.BROKEN for each in found)
    return {'ok': ok, 'checks': [each._asdict() for each in found], 'versions': versions()}


def show(found: Sequence[Diagnosis]) -> None:
    """Print findings as a table, or as lines where rich is not installed."""
    try:
        from rich.box import SIMPLE
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        for name, state, detail, advice in found:
            print(f'{state}: {name}: {detail}{f"; {advice}" if advice else ""}')
        return
    table = Table('', 'check', 'found', 'what to do', box=SIMPLE)
    for name, state, detail, advice in found:
        table.add_row(f'[{_COLOURS[state]}]{state}[/]', *map(escape, (name, detail, advice)))
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 1 where something needed is missing."""
    # argparse: tyro may be what is missing.
    parser = argparse.ArgumentParser('doctor', description=__doc__, allow_abbrev=False)
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    options, others = parser.parse_known_args(sys.argv[1:] if arguments is None else arguments)
    if others:
        word = others[0] if others[0].startswith('-') else f'--{others[0]}'
        near = get_close_matches(word, ('--json', '--help'), 1)
        remedy = f'did you mean {near[0]}?' if near else 'allowed: --json, --help'
        print(f'doctor: unknown option {others[0]!r}; {remedy}', file=sys.stderr)
        return 2
    if options.json:
        answer = facts()
        print(json.dumps(answer, indent=2))
        return 0 if answer['ok'] else 1
    found = findings(CHECKS)
    broken = [each.name for each in found if each.state == Severity.BROKEN]
    show(found)
    missing = f'needed and missing: {", ".join(broken)}'
    print(f'doctor: {missing if broken else "all that is needed is there"}')
    return 1 if broken else 0
