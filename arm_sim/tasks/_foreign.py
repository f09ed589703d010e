"""A task of another package: what it sets and what its report returns is looked at."""

import json
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any

from arm_dynamics.checks import ArmError, in_range
from arm_dynamics.plugin_faults import shown
from arm_sim.loop.events import Push
from arm_sim.loop.report import Check, plain

_SHORTEST = 0.01  # duration with some control periods [s]


def check_task(task: Any) -> None:
    """Look at what `prepare` has set; let the methods of the report be looked at.

    Raises:
        ArmError: an attribute has no meaning.
    """
    name = f'task {type(task).__name__}'
    for attribute in ('duration', 'payload', 'drop_at', 'event', 'wrench_start'):
        value = getattr(task, attribute)
        if value is None and attribute in ('drop_at', 'event'):
            continue
        if type(value) is bool or not isinstance(value, Real):
            raise ArmError(f'{name}: {attribute} is {value!r}; it must be a number')
        setattr(task, attribute, float(value))
        in_range(
            f'{name}: {attribute}', float(value), _SHORTEST if attribute == 'duration' else 0.0
        )
    if not isinstance(task.push, Push | None):
        raise ArmError(f'{name}: push is {task.push!r}; it must be a Push or None')
    looks = {'results': _results, 'checks': _checks, 'rows': _rows, 'draw': _picture}
    for method, look in looks.items():
        setattr(task.report, method, partial(_called, getattr(task.report, method), look))


def _called(method: Callable[..., Any], look: Callable[[Any], str], *values: object) -> object:
    """Return what a method of a report returns. Raises ArmError: it returns anything else."""
    found = method(*values)
    if isinstance(found, filter | map | zip) or hasattr(found, '__next__'):
        found = list(found)
    if expected := look(found):
        where = type(getattr(method, '__self__', method)).__name__
        what = f'{where}.{method.__name__} returns {shown(found)}'
        raise ArmError(f'{what}; it must return {expected}')
    return found


def _results(found: object) -> str:
    try:
        json.dumps(plain(found))
    except (TypeError, ValueError):
        found = None
    return '' if isinstance(found, dict) else 'a dictionary by names, of what JSON takes'


def _checks(found: object) -> str:
    sound = isinstance(found, list | tuple) and all(map(_is_check, found))
    return '' if sound else 'a list of Check(name, number, limit, unit)'


def _is_check(one: object) -> bool:
    limit: object = one.limit if isinstance(one, Check) else ''
    value: object = one.value if isinstance(one, Check) else ''
    return isinstance(value, Real) and (limit is None or isinstance(limit, Real))


def _rows(found: object) -> str:
    rows = found if isinstance(found, list | tuple) else [None]
    sound = all(
        isinstance(row, list | tuple) and all(isinstance(x, str) for x in row) for row in rows
    )
    return '' if sound else 'a list of rows of texts'


def _picture(found: object) -> str:
    return '' if hasattr(found, 'savefig') else 'a Figure of Matplotlib'
