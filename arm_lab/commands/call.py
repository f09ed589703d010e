"""Commands whose result is a report, as programs and as Python calls.

`arm_sim.compare(laws=['pd', 'servo'])` has the options of the command `compare_controllers`.

A call shows its progress and writes no file, unless it gets `output_dir`; its result prints and
draws on request, and names the command line that gives the same.
"""

import inspect
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar, get_type_hints

from arm_dynamics.parameters import default_of, facts
from arm_dynamics.plugin_faults import named_faults
from arm_lab.command_line import STOPPED, OptionsT, command, results_in
from arm_lab.experiments.report import Report
from arm_lab.options import every_field, from_python
from arm_lab.progress import writing

ReportT = TypeVar('ReportT', bound=Report)
_FIRST = inspect.Parameter.POSITIONAL_OR_KEYWORD
_LATER = inspect.Parameter.KEYWORD_ONLY


def program(
    kind: type[OptionsT], does: Callable[[OptionsT], Report], *signals: signal.Signals
) -> Callable[..., int]:
    """Return the `main` of a command: it prints the report, and writes the files of the report.

    Args:
        kind: of the options; the files are in their `output_dir`, if they have one.
        does: returns the report.
        signals: that end the command as Ctrl-C does.
    """

    @command(kind, *signals)
    def main(options: Any) -> int:
        name = getattr(options, 'output_dir', None)
        with nullcontext() if name is None else results_in(options, name):
            report = does(options)
        report.line = report.line or options.line()
        report.table()
        if options.folder:
            with writing():
                names = report.write(options.folder, options.command)
                print(f'wrote {", ".join(names)} to {options.folder}')
        return report.code

    return main


def call(
    kind: type[OptionsT],
    does: Callable[[OptionsT], ReportT],
    summary: str,
    **first: object,
) -> Callable[..., ReportT]:
    """Return a function of the options of a command, as keywords.

    Args:
        kind: of the options.
        does: returns the result; the options have a folder where files are to be written.
        summary: first line of the docstring.
        first: options that may be given by their position, with their defaults in the call.
    """

    def function(*values: object, **options: Any) -> ReportT:
        bound = signature.bind(*values, **{x: y for x, y in options.items() if x in known})
        wrong = {x: y for x, y in options.items() if x not in known}
        given = from_python(kind, first | bound.arguments | wrong)
        name = options.get('output_dir')
        results = nullcontext() if name is None else results_in(given, name)
        with results, _main_module_hidden(), named_faults():
            result = does(given)
        result.line = result.line or given.line()
        if given.folder:
            with writing():
                result.write(given.folder, result.line)
        if result.code == STOPPED:  # the caller stops as well
            raise KeyboardInterrupt
        return result

    known = {each.name: each for _, each, _ in every_field(kind)}
    lines, parameters = [], []
    for name in (*first, *(x for x in known if x not in first)):
        each = known[name]
        usual, place = first.get(name, default_of(each)), _FIRST if name in first else _LATER
        parameters.append(inspect.Parameter(name, place, default=usual))
        lines.append(f'    {name}: {facts(each).description} (default {usual!r})')
    result = does if isinstance(does, type) else get_type_hints(does).get('return', Report)
    signature = inspect.Signature(parameters, return_annotation=result)
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
