"""Conversion of parameters between ROS or files and the fields of dataclasses."""

import dataclasses
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from math import inf
from numbers import Real
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from arm_dynamics.checks import ArmError, T
from arm_dynamics.parameters import JointWords, NumberOrText, facts

# Of a list, each row asks again.
_kinds_of: Callable[[type], dict[str, Any]] = cache(get_type_hints)


class ParameterField(NamedTuple):
    """One parameter of a dataclass.

    A field of the type Mapping holds all parameters below its name, such as `limit.pd`.
    """

    name: str
    default: Any
    kind: Any
    description: str
    allowed: str = ''  # values as text; empty: all of the type
    names: Sequence[str] = ()  # of the parameters in a Mapping; `limit.*`: any


def parameter_fields(
    parameters: type, prefix: str = '', joint_names: Sequence[str] = ()
) -> Iterator[ParameterField]:
    """Yield the parameters of a dataclass; those per joint once for each of these joints."""
    kinds = _kinds_of(parameters)
    for field in dataclasses.fields(parameters):
        known, name = facts(field), prefix + (facts(field).name or field.name)
        default: Any = field.default
        one = ParameterField(name, default, kinds[field.name], known.description, known.allowed)
        if is_family(one.kind):
            one = one._replace(allowed='', names=known.names_of(name))
        if '{}' not in name:
            yield one
        else:
            for joint in joint_names:
                yield one._replace(name=name.format(joint), default=default[0], kind=float)


def read_fields(
    parameters: type[T],
    values: Mapping[str, object],
    prefix: str = '',
    joint_names: Sequence[str] = (),
) -> T:
    """Return a dataclass with the values of its parameters by name; others have their defaults.

    Raises ArmError where a value has the wrong type, or the dataclass refuses it.
    """
    found, kinds = dict[str, Any](), _kinds_of(parameters)
    for each in dataclasses.fields(parameters):  # type: ignore[arg-type]
        field, kind = each.name, kinds[each.name]
        name = prefix + (facts(each).name or field)
        if is_family(kind):
            found[field] = {
                given.removeprefix(f'{name}.'): from_ros_value(given, value, get_args(kind)[1])
                for given, value in values.items()
                if given.startswith(f'{name}.')
            }
        elif '{}' in name and joint_names:
            names = map(name.format, joint_names)
            found[field] = tuple(from_ros_value(own, values[own], float) for own in names)
        elif name in values:
            found[field] = from_ros_value(name, values[name], kind)
    return parameters(**found)


def is_family(kind: object) -> bool:
    """Return whether a field of this type holds all parameters below its name."""
    return get_origin(kind) is Mapping


def ros_values(parameters: Any) -> dict[str, Any]:
    """Return a dataclass's values by the names that a node has for them; empty lists are left out.

    Fields for several parameters are left out as well.
    """
    values = {
        facts(each).name or each.name: as_ros_value(getattr(parameters, each.name))
        for each in dataclasses.fields(parameters)
    }
    return {
        name: value
        for name, value in values.items()
        if value != [] and '{}' not in name and not isinstance(value, Mapping)
    }


def as_ros_value(value: object) -> object:
    """Return a dataclass field's value for rclpy."""
    return list(value) if isinstance(value, tuple) else value


def from_ros_value(name: str, value: object, kind: object) -> Any:
    """Return a parameter's value for its dataclass field: 2 as 2.0 for a float.

    Raises ArmError for the wrong type, and for a size that would overflow in a product.
    """
    try:
        found = converted(value, kind)
        for each in found if isinstance(found, tuple) else (found,):
            if isinstance(each, float) and not 1e-30 < abs(each or 1.0) < 1e30 and abs(each) < inf:
                raise ArmError(f'{name} is {each:g}; its size must be 0, or from 1e-30 to 1e30')
        return found
    except TypeError:
        value = value.tolist() if isinstance(value, array) else value
        raise ArmError(f'parameter {name!r} is {value!r}; it must be {WORDS[kind]}') from None


def converted(value: object, kind: Any) -> Any:
    """Return a value for a field of this type: 2 as 2.0 for a float, one value as a list of one.

    Raises TypeError for the wrong type.
    """
    if kind == NumberOrText and type(value) is int:
        return value
    if isinstance(value, bool) and kind in (int, float):
        raise TypeError
    if isinstance(kind, UnionType):
        for each in get_args(kind):
            with suppress(TypeError):
                return converted(value, each)
    elif get_origin(kind) is tuple:
        items: list[Any] = [] if value is None else [value]
        if isinstance(value, list | tuple | array):
            items = list(value)
        return tuple(converted(each, get_args(kind)[0]) for each in items)
    elif kind is float and isinstance(value, Real):
        return float(value)
    elif isinstance(value, kind):
        return value
    raise TypeError


# What the values of a type must be.
WORDS: dict[object, str] = {
    bool: 'true or false',
    int: 'a whole number',
    float: 'a number',
    str: 'a text',
    tuple[float, ...]: 'a number or a list of numbers',
    tuple[str, ...]: 'a list of texts',
    tuple[bool, ...]: 'a list of true or false',
    JointWords: 'a text or a list of texts',
    NumberOrText: 'a number or a text',
}
