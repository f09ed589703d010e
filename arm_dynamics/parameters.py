"""Parameters: frozen dataclasses whose fields hold description, default and allowed values.

    @dataclass(frozen=True)
    class Gains(Parameters):
        kp: PerJoint = parameter((400.0,), 'position gain [1/s^2]', min=0)
        mode: str = parameter('fast', 'how it is computed', one_of=('fast', 'slow'))

The dataclass checks numbers when it is made; `with_arrays` checks numbers per joint, where the
joints are known. Nodes declare and describe their parameters from the same fields.
"""

from collections.abc import Mapping, Sequence, Sized
from copy import copy
from dataclasses import MISSING, Field, dataclass, field, fields
from numbers import Real
from typing import Any, ClassVar, NamedTuple, get_type_hints

import numpy as np

from arm_dynamics import checks
from arm_dynamics.checks import ArmError, T

PerJoint = tuple[float, ...]  # one number for all joints, or one per joint
JointWords = str | tuple[str, ...]  # one word for all joints, or one per joint
NumberOrText = float | str
ParameterValues = dict[str, Any]  # as files have them: numbers, texts, lists, and such again


class Facts(NamedTuple):
    """Description and allowed values of a parameter.

    Attributes:
        description: a full phrase with the unit.
        min: least allowed number, or least allowed number per joint.
        above: exclusive lower bound, in place of `min`.
        max: largest allowed number.
        one_of: allowed strings; the allowed keys of a Mapping.
        length: number of components of a vector.
        per: names of the things that have one number each, where these are not the joints.
        name: the parameter's name for users, where it differs from the field's; `{}` is replaced
            by the name of each joint.
    """

    description: str = ''
    min: float = -np.inf
    above: float = -np.inf
    max: float = np.inf
    one_of: Sequence[str] = ()
    length: int = 0
    per: Sequence[str] = ()
    name: str = ''

    @property
    def bounds(self) -> tuple[float, float, bool]:
        """Lower bound, upper bound, and whether the lower bound is exclusive."""
        return max(self.min, self.above), self.max, self.above > -np.inf

    @property
    def allowed(self) -> str:
        """The allowed values as text; empty: all values of the type."""
        return ', '.join(self.one_of) or checks.bounds(*self.bounds)

    def names_of(self, family: str) -> list[str]:
        """Return the names of the parameters in a Mapping of this name."""
        return [f'{family}.{key}' for key in self.one_of or '*']

    def check(self, name: str, value: Any) -> None:
        """Raise ArmError, which calls the value `name`, unless the value is allowed."""
        if isinstance(value, Mapping):
            for key in value:
                if self.one_of and key not in self.one_of:
                    raise checks.unknown('parameter', f'{name}.{key}', self.names_of(name))
        elif self.one_of:
            for word in (value,) if isinstance(value, str) else value:
                checks.one_of(name, word, self.one_of)
        elif self.length and (len(value) != self.length or not np.isfinite(value).all()):
            count = {2: 'two', 3: 'three', 6: 'six'}.get(self.length, self.length)
            raise ArmError(f'{name} is {value}; it must be {count} finite numbers')
        elif self.bounds[:2] != (-np.inf, np.inf) and (self.length or isinstance(value, Real)):
            for number in np.atleast_1d(value):
                checks.in_range(name, number, *self.bounds)


def parameter(default: Any, description: str, **others: Any) -> Any:
    """Return the dataclass field of a parameter; `others` are fields of `Facts`."""
    known = {'facts': Facts(description, **others)}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=known)
    return field(default=default, metadata=known)


def like(kind: type, name: str, default: Any = MISSING, **others: Any) -> Any:
    """Return the parameter of this name of another dataclass, with its description and bounds.

    `default` and `others`, fields of `Facts`, are in place of its own.
    """
    (each,) = (own for own in fields(kind) if own.name == name)
    default = each.default if default is MISSING else default
    return parameter(default, **{**facts(each)._asdict(), **others})


def facts(each: Field) -> Facts:
    """Return the `Facts` of a dataclass field; empty ones where it was not made by `parameter`."""
    return each.metadata.get('facts', Facts())


def default_of(each: Field) -> Any:
    """Return the default of a dataclass field; MISSING where it has none."""
    return each.default if each.default_factory is MISSING else each.default_factory()


def changed(parameters: Any) -> dict[str, Any]:
    """Return the values of a dataclass that differ from its defaults, by field."""
    values = {each.name: (getattr(parameters, each.name), each) for each in fields(parameters)}
    return {name: value for name, (value, each) in values.items() if value != default_of(each)}


def with_values(parameters: T, **values: Any) -> T:
    """Return a copy of a dataclass with other values; raises ArmError where one is not allowed."""
    return type(parameters)(**{**vars(parameters), **values})


@dataclass(frozen=True)
class Parameters:
    """Base class of parameters; raises ArmError for values that are not allowed.

    Attributes:
        prefix: of the parameters' names in messages.
        without_meaning: names of further parameters that the files of another implementation
            have; a node accepts these and logs that they have no effect.
    """

    prefix: ClassVar[str] = ''
    without_meaning: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not _left_out(each, value):
                self.check(each, value)

    def check(self, each: Field, value: Any) -> None:
        """Raise ArmError if a field must not have this value; see also `with_arrays`."""
        known = facts(each)
        known.check(self.prefix + (known.name or each.name), value)


@dataclass(frozen=True, kw_only=True)
class Stepping(Parameters):
    """Time steps of plant and controllers."""

    timestep: float = parameter(
        0.002, 'integration step [s], a whole number of nanoseconds', min=1e-6, max=0.1
    )
    control_decimation: int = parameter(1, 'integration steps per control period', min=1, max=1000)

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(self.timestep * 1e9 - round(self.timestep * 1e9)) > 1e-6:
            raise ArmError(
                f'timestep is {self.timestep!r} s; it must be a whole number of nanoseconds'
            )

    @property
    def period_ns(self) -> int:
        """The control period [ns]."""
        return round(self.timestep * 1e9) * self.control_decimation

    @property
    def period(self) -> float:
        """The control period [s], to the last bit the same in nodes and in the loop."""
        return self.period_ns * 1e-9


def with_arrays(parameters: Any, joint_names: Sequence[str]) -> Any:
    """Return a copy with numbers per joint, checked, and vectors as arrays."""
    found, kinds = copy(parameters), get_type_hints(type(parameters))
    prefix = getattr(parameters, 'prefix', '')
    for each in fields(parameters):
        known, value = facts(each), getattr(parameters, each.name)
        if kinds[each.name] != PerJoint or known == Facts() or _left_out(each, value):
            continue
        name = (prefix + (known.name or each.name)).replace('.{}', '')
        lower, _, exclusive = known.bounds
        vars(found)[each.name] = (
            np.array(value, dtype=float)
            if known.length
            else checks.per_joint(name, value, known.per or joint_names, lower, exclusive)
        )
    return found


def of_many(parameters: Sequence[Any], joint_names: Sequence[str]) -> Any:
    """Return the parameters of N arms as one dataclass of arrays, checked as by `with_arrays`.

    A value that is equal in all arms is unchanged. Numbers per joint that differ become (N, n), a
    number that differs becomes (N, 1); other values may not differ.
    """
    if not parameters:
        raise ArmError('the parameters of many arms are none')
    first, distinct = parameters[0], {id(each): each for each in parameters}
    arrays = {key: with_arrays(each, joint_names) for key, each in distinct.items()}
    found, kinds = copy(arrays[id(first)]), get_type_hints(type(first))
    for each in fields(first):
        values = {key: getattr(own, each.name) for key, own in arrays.items()}
        if all(np.array_equal(value, values[id(first)]) for value in values.values()):
            continue
        known, kind = facts(each), kinds[each.name]
        shapes = {np.shape(value) for value in values.values()}
        if kind not in (float, PerJoint) or known.length or len(shapes) > 1:
            name = getattr(first, 'prefix', '') + (known.name or each.name)
            raise ArmError(f'{name} differs from arm to arm; only numbers of one count may')
        rows = np.array([values[id(own)] for own in parameters], dtype=float)
        vars(found)[each.name] = rows.reshape(len(parameters), -1)
    return found


def _left_out(each: Field, value: Any) -> bool:
    return each.default in ((), '') and isinstance(value, Sized) and not len(value)
