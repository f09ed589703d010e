"""The arguments of an environment: what is given for an Experiment is looked at."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

import numpy as np

from arm_controllers.parameter_values import from_ros_value
from arm_dynamics.checks import ArmError, Array, finite, unknown

T = TypeVar('T')


def made_of(kind: type[T], values: Mapping[str, object], where: str = '') -> T:
    """Return a dataclass whose fields have these values; a dictionary makes a part of it.

    Args:
        kind: of the dataclass.
        values: by field.
        where: begins the names of the fields in messages.

    Raises:
        ArmError: no such field, or a value of another type or beyond its bounds.
    """
    known = [each.name for each in fields(kind)]  # type: ignore[arg-type]
    kinds, found = get_type_hints(kind), {}
    for name, value in values.items():
        if name not in known:
            raise unknown('argument', f'{where}{name}', [f'{where}{each}' for each in known])
        found[name] = _value(f'{where}{name}', value, kinds[name])
    return kind(**found)


def _value(name: str, value: object, kind: object) -> Any:
    if not is_dataclass(kind):
        plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        return from_ros_value(name, plain, kind)
    if isinstance(value, kind):  # type: ignore[arg-type]
        return value
    if not isinstance(value, Mapping):
        kind_name = getattr(kind, '__name__', '')
        raise ArmError(f'{name} is {value!r}; it must be a dictionary, or {kind_name}(...)')
    return made_of(kind, value, f'{name}.')  # type: ignore[arg-type]


def whole(name: str, value: Any, least: int) -> int:
    """Return an integer. Raises ArmError: no integer, or less than `least`."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise ArmError(f'{name} is {value!r}; it must be an integer >= {least}')


def per_joint(name: str, value: Any, count: int) -> Array:
    """Return a number per joint (count,). Raises ArmError: neither one number nor `count`."""
    given = value.tolist() if isinstance(value, np.ndarray) else value
    return finite(name, given if hasattr(given, '__len__') else [given] * count, (count,))
