"""Options from dataclasses: how `tyro` reads, checks and describes the fields of Parameters."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import tyro
import yaml
from tyro.constructors import (
    ConstructorRegistry,
    PrimitiveConstructorSpec,
    StructConstructorSpec,
    StructFieldSpec,
    StructTypeInfo,
)

from arm_controllers.parameter_values import WORDS, converted
from arm_dynamics.checks import ArmError, unknown
from arm_dynamics.parameters import Parameters, default_of, facts
from arm_dynamics.robots import RobotArgument

ParametersT = TypeVar('ParametersT', bound=Parameters)
REGISTRY = ConstructorRegistry()
_WIDEST = 32  # longer lists of choices are part of the description


class UsageError(ArmError):
    """A command line that cannot be read; the command ends with exit code 2."""


class RefusedOptionError(Exception):
    """Carries an ArmError through tyro, which would catch that: an ArmError is a ValueError."""

    def __init__(self, reason: ArmError):
        self.reason = reason


def flags_of(kind: type[Parameters]) -> dict[str, bool]:
    """Return the options of a dataclass by name, and whether each is without a value."""
    return {_option(each): hint is bool for _, each, hint in every_field(kind)}


def from_python(kind: type[ParametersT], values: Mapping[str, object]) -> ParametersT:
    """Return the options with values of a Python call.

    A field of a group is given like any other. A list may be given as a text with commas or as
    one value, YAML as a mapping.

    Raises:
        ArmError: an unknown name, or a value that is not allowed.
    """
    known = {each.name: hint for _, each, hint in every_field(kind)}
    values = {other_word(name, known): value for name, value in values.items()}
    for name in values:
        if name not in known:
            raise no_option('argument', name, known, str(values.get('task', '')))
    return _from_python(kind, values)


def other_word(name: str, known: Iterable[str]) -> str:
    """Return the option that a word means: `controller` is another one for `law`."""
    law = name.replace('controller', 'law')
    return law if name not in known and law in known else name


def no_option(what: str, name: str, known: Iterable[str], task: str = '') -> ArmError:
    """Return the error for an unknown option: where it belongs, or the nearest known one.

    `task` is the one whose parameter it may be.
    """
    word, words = name.lstrip('-').replace('-', '_'), {each.lstrip('-') for each in known}
    if 'robot' in words and word in RobotArgument._fields[1:]:
        where = f"a word of the robot, such as 'ur5e {word}:=...'"
        return ArmError(f'unknown {what} {name!r}; {word} is {where}')
    if 'parameters' in words and word in _parameters_of(task):
        where = f'a parameter of task {task!r}: parameters={{{word!r}: ...}}'
        return ArmError(f'unknown {what} {name!r}; {word} is {where}')
    return unknown(what, name, known)


def _parameters_of(task: str) -> set[str]:
    from arm_sim.tasks import task_class, task_names  # loads tasks

    return {x.name for x in fields(task_class(task).Parameters)} if task in task_names() else set()


def words_of(options: Parameters) -> list[str]:
    """Return the words of the command line that gives these options; defaults are left out."""
    words, last = [], []
    for group, each, hint in every_field(type(options)):
        owner = getattr(options, group) if group else options
        value = getattr(owner, each.name)
        usual = default_of(each)
        if each.name == getattr(options, 'rest', ''):
            last = list(value)
        elif usual is MISSING:  # what is required has no option
            words.append(_exact(value))
        elif _is_repeated(type(owner), each):
            words += [word for one in value for word in (_option(each), _exact(one))]
        elif value != usual:
            words += [_option(each)] if hint is bool else [_option(each), _exact(value)]
    return words + last


def every_field(kind: type[Parameters]) -> Iterator[tuple[str, Field, Any]]:
    """Yield the group (or ''), the field and its type for each option."""
    hints = get_type_hints(kind)
    for each in fields(kind):
        if _is_group(hints[each.name]):
            yield from ((each.name, own, hint) for _, own, hint in every_field(hints[each.name]))
        else:
            yield '', each, hints[each.name]


def _from_python(kind: type[Any], values: Mapping[str, Any]) -> Any:
    hints, found = get_type_hints(kind), {}
    for each in fields(kind):
        hint = hints[each.name]
        if _is_group(hint):
            found[each.name] = _from_python(hint, values)
        elif each.name in values:
            value = values[each.name]
            if _is_repeated(kind, each):
                value = (value,) if isinstance(value, str | Mapping) else value
                value = tuple(map(_yaml, value))
            try:
                found[each.name] = _value_of(value, hint)
            except (TypeError, ValueError):
                of_one = get_args(hint)[0] if get_origin(hint) is UnionType else hint
                must = WORDS.get(of_one, hint)
                raise ArmError(f'{each.name} is {value!r}; it must be {must}') from None
    return kind(**found)


def _value_of(value: Any, hint: Any) -> Any:
    """Return a value of a Python call as an option has it."""
    if hint is str:
        is_word = hasattr(value, '__fspath__') or type(value) in (int, float)
        rows = value if isinstance(value, list) and value else [value]
        is_yaml = all(isinstance(each, Mapping) for each in rows)
        value = _yaml(value) if is_yaml else _exact(value) if is_word else value
    elif isinstance(value, str) and (hint in (int, float) or get_origin(hint) is tuple):
        return _parsed(value, hint)
    elif get_origin(hint) is tuple and isinstance(value, Iterable):
        return tuple(_value_of(each, get_args(hint)[0]) for each in value)
    return converted(value, hint)


def _parsed(text: str, kind: Any) -> Any:
    """Return the value that a text gives; that of a list has commas.

    `kind` is str, int or float, or a tuple of one of them. Raises ValueError.
    """
    if get_origin(kind) is not tuple:
        return kind(text)
    return tuple(get_args(kind)[0](part.strip()) for part in text.split(',') if part.strip())


def _yaml(value: object) -> str:
    if isinstance(value, str):
        return value
    return yaml.safe_dump(value, default_flow_style=True, width=10_000).strip()


def _is_repeated(kind: type[Any], each: Field) -> bool:
    """Whether an option is given once per value."""
    hint = get_type_hints(kind, include_extras=True)[each.name]
    return tyro.conf.UseAppendAction in getattr(hint, '__metadata__', ())


def _exact(value: object) -> str:
    """Return the text of a value from which the same value is read."""
    if isinstance(value, tuple):
        return ','.join(map(_exact, value))
    return repr(value).removesuffix('.0') if isinstance(value, float) else str(value)


@REGISTRY.struct_rule
def _dataclass(info: StructTypeInfo) -> StructConstructorSpec | None:
    """Return how tyro makes a dataclass of parameters: each field is an option."""
    kind = info.type
    if not _is_group(kind):
        return None

    def made(**values: Any) -> Any:
        try:
            return kind(**values)
        except ArmError as error:
            raise RefusedOptionError(error) from None

    hints = get_type_hints(kind, include_extras=True)
    return StructConstructorSpec(made, tuple(_field(x, hints[x.name]) for x in fields(kind)))


def _field(each: Field, hint: Any) -> StructFieldSpec:
    """Return an option: name, type, default and help.

    Texts in Annotated[...] name the value in the help; other marks are those of tyro.
    """
    known, default = facts(each), default_of(each)
    if default is MISSING:
        default = tyro.MISSING
    base, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    metavar = ''.join(mark for mark in marks if isinstance(mark, str))
    notes = known.allowed
    if known.one_of:
        metavar, notes = f'{{{",".join(known.one_of)}}}', ''
        if len(metavar) > _WIDEST:
            metavar, notes = 'NAME', f'one of {", ".join(known.one_of)}'
    if default is tyro.MISSING:
        notes = 'required'
    elif default not in (None, '', ()) and default is not False:
        notes += f'{", " * bool(notes)}default {_text(default)}'
    shown = tyro.conf.arg(
        name=_option(each)[2:],
        metavar=metavar or None,
        help_behavior_hint=f'({notes})' if notes else '',
    )
    # A group, a flag or several words are tyro's own; else a value is one word.
    several = get_origin(base) is tuple and not all(isinstance(mark, str) for mark in marks)
    if not (_is_group(hint) or base is bool or several):
        hint = Annotated[hint, _one_word(each, base, metavar)]
    if not _is_group(hint):
        hint = Annotated[hint, shown]
    return StructFieldSpec(each.name, hint, default, known.description)


def _one_word(each: Field, kind: Any, metavar: str) -> PrimitiveConstructorSpec[Any]:
    """Return how tyro reads an option's value from one word: converted, then checked.

    `kind` is str, int or float, one of them or None, or a tuple of them: a list with commas.
    """
    known, option = facts(each), _option(each)
    if get_origin(kind) is UnionType:
        kind = get_args(kind)[0]
    of_one = get_args(kind)[0] if get_origin(kind) is tuple else kind

    def read(words: list[str]) -> Any:
        try:
            value = _parsed(words[0], kind)
        except ValueError:
            must = 'numbers and commas' if kind == tuple[float, ...] else WORDS[kind]
            reason = f'{option} is {words[0]!r}; it must be {must}'
            raise RefusedOptionError(UsageError(reason)) from None
        try:
            known.check(option, value)
        except ArmError as error:
            raise RefusedOptionError(UsageError(str(error)) if known.one_of else error) from None
        return value

    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=metavar or of_one.__name__.upper(),
        instance_from_str=read,
        is_instance=lambda value: True,
        str_from_instance=lambda value: [_text(value)],
    )


def _option(each: Field) -> str:
    return f'--{(facts(each).name or each.name).replace("_", "-")}'


def _is_group(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, Parameters)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ','.join(map(_text, value))
    return f'{value:g}' if isinstance(value, float) else str(value)
