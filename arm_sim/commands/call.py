"""Commands as Python calls: `arm_sim.compare(laws=['pd', 'servo'])` has the command's options.

A call shows its progress and writes no file, unless it gets `output_dir`; its result prints and
draws on request, and names the command line that gives the same.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING
from pathlib import Path
from typing import Any

from rich.console import Console

from arm_dynamics.parameters import facts
from arm_sim.command_line import CommandOptions
from arm_sim.experiments.report import Report
from arm_sim.options import every_field, from_python
from arm_sim.output_folder import writable_folder
from arm_sim.progress import new_console

_FIRST: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
_LATER: Any = inspect.Parameter.KEYWORD_ONLY


def call[O: CommandOptions, R: Report](
    kind: type[O],
    does: Callable[[O, Console, Path | None], R],
    summary: str,
    **first: Any,
) -> Callable[..., R]:
    """Return a function of the options of a command, as keywords.

    Args:
        kind: of the options.
        does: returns the result; the folder is None where no files are to be written.
        summary: first line of the docstring.
        first: options that may be given by their position, with their defaults in the call.
    """

    def function(*values: Any, **options: Any) -> R:
        bound = signature.bind(*values, **{x: y for x, y in options.items() if x in known})
        wrong = {x: y for x, y in options.items() if x not in known}
        given = from_python(kind, first | bound.arguments | wrong)
        folder = writable_folder(options['output_dir']) if 'output_dir' in options else None
        with _main_module_hidden():
            result = does(given, new_console(), folder)
        if folder:
            result.write(folder, result.line)
        return result

    known = {each.name: each for _, each, _ in every_field(kind)}
    lines, parameters = [], []
    for name in (*first, *(x for x in known if x not in first)):
        each = known[name]
        usual = each.default_factory() if each.default_factory is not MISSING else each.default
        usual, place = first.get(name, usual), _FIRST if name in first else _LATER
        parameters.append(inspect.Parameter(name, place, default=usual))
        lines.append(f'    {name}: {facts(each).description} (default {usual!r})')
    signature = inspect.Signature(parameters)
    vars(function)['__signature__'] = signature
    function.__doc__ = '\n'.join([summary, '', 'Args:', *lines])
    return function


@contextmanager
def _main_module_hidden() -> Iterator[None]:
    """Let worker processes start without running the user's script again."""
    main = vars(sys.modules['__main__'])
    names: list[str] = [name for name in ('__file__', '__spec__') if name in main]
    hidden = {name: main.pop(name) for name in names}
    main['__spec__'] = None
    try:
        yield
    finally:
        main.update(hidden)
