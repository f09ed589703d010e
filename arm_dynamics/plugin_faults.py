"""One line for what the code of a plugin raises: where in its file, and what.

Nothing imports this before something has gone wrong, or a plugin is no part of these packages.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from inspect import currentframe
from types import TracebackType
from typing import NoReturn

import numpy as np
from numpy.exceptions import ComplexWarning

from arm_dynamics.checks import ArmError, one_line
from arm_dynamics.plugins import OWN

LAW_OF_FILE = 'law_of_file_'  # begins the names of modules of laws in a Python file
_GROUPS = ('arm_dynamics.', 'arm_sim.')


class _ProcessExit(SystemExit):
    """A call of os._exit by the code of a plugin."""


def fault(what: str, error: BaseException, module: str = '') -> ArmError:
    """Return an error of the code of a plugin as one line.

    Args:
        what: has gone wrong, such as "law 'MyLaw'".
        error: that the code has raised; an ArmError is returned as it is.
        module: of the plugin, whose innermost line is named; '': that of the innermost code.
    """
    if isinstance(error, ArmError):
        return error
    own = [place for name, place in _places(error.__traceback__) if name == module or not module]
    where = f' ({own[-1]})' if own else ''
    if isinstance(error, SystemExit):
        how = 'os._exit' if isinstance(error, _ProcessExit) else 'sys.exit'
        return ArmError(f'{what}{where} ends the process by {how}({error.code!r})')
    try:
        name, text = type(error).__name__, one_line(error)
    except Exception:  # its own __str__ fails
        text = name = type(error).__name__
    return ArmError(f'{what}{where}: {name}' + (f': {text}' if text != name else ''))


def shown(value: object) -> str:
    """Return what a value is, as text of at most a line."""
    if isinstance(value, np.ndarray):
        return f'an array of {value.dtype} of shape {value.shape}'
    text = ' '.join(repr(value).split())
    return text if len(text) <= 80 else f'{text[:77]}...'


def fault_of_plugin(error: BaseException) -> ArmError | None:
    """Return one line for an error that comes from the code of a plugin; None: it does not."""
    names = [name for name, _ in _places(error.__traceback__) if _is_plugin(name)]
    return fault(f'plugin {names[-1]!r}', error, names[-1]) if names else None


@contextmanager
def named_faults() -> Iterator[None]:
    """Give the errors of plugins as one line each, as an ArmError; other errors stay."""
    try:
        with warnings.catch_warnings(), _no_exit():
            warnings.simplefilter('error', ComplexWarning)  # a part of a number would be lost
            yield
    except ArmError:
        raise
    except MemoryError as error:
        raise (fault_of_plugin(error) or fault('not enough memory', error)) from error
    except (Exception, SystemExit) as error:  # a plugin may raise anything
        found = fault_of_plugin(error)
        if found is None:
            raise
        raise found from error


@contextmanager
def _no_exit() -> Iterator[None]:
    """Let os._exit raise where a plugin calls it: a command would end with code 0 and no result.

    A process that the plugin has forked may end so.
    """
    known, end, process = vars(os), os._exit, os.getpid()

    def leave(status: int) -> NoReturn:
        frame = currentframe()
        caller = frame and frame.f_back and frame.f_back.f_globals.get('__name__')
        if os.getpid() == process and _is_plugin(str(caller)):
            raise _ProcessExit(status)
        end(status)

    known['_exit'] = leave
    try:
        yield
    finally:
        known['_exit'] = end


def _places(trace: TracebackType | None) -> Iterator[tuple[str, str]]:
    """Yield the modules whose code was running, with file and line, the innermost last."""
    while trace is not None:
        frame = trace.tb_frame
        file = frame.f_code.co_filename
        yield str(frame.f_globals.get('__name__', '')), f'{file}, line {trace.tb_lineno}'
        trace = trace.tb_next


def _is_plugin(module: str) -> bool:
    if module.startswith(LAW_OF_FILE):
        return True
    entries = [x for x in metadata.entry_points() if x.group.startswith(_GROUPS)]
    return module.partition('.')[0] in {x.module.partition('.')[0] for x in entries} - {*OWN}
