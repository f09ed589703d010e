"""Parameters: frozen dataclasses whose fields hold all that is known of each one.

    @dataclass(frozen=True)
    class Gains(Parameters):
        kp: PerJoint = parameter((400.0,), 'position gain [1/s^2]', min=0)
        mode: str = parameter('fast', 'how it is computed', one_of=('fast', 'slow'))

Numbers are checked where the dataclass is made, those per joint where the joints are known
(`with_arrays`). Nodes declare and describe their parameters from the same fields.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import Field, dataclass, field, fields
from numbers import Real
from typing import Any, ClassVar, NamedTuple, get_type_hints

import numpy as np

from arm_dynamics import checks
from arm_dynamics.checks import ArmError

PerJoint = tuple[float, ...]  # one number for all joints, or one per joint


class Facts(NamedTuple):
    """What is known of a parameter beside its kind and its default.

    Attributes:
        description: what it is, with the unit.
        min: of a number, or of each number per joint.
        above: in place of `min`, and itself not allowed.
        max: of a number.
        one_of: the words that are allowed; of a Mapping, the keys.
        length: count of the numbers of a vector.
        per: names of what there is one number for, where these are not the joints.
        name: as users know it, where that is not the field's; `{}` stands for each joint.
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
        """Lower and upper bound of numbers, and whether the lower one is itself not allowed."""
        return max(self.min, self.above), self.max, self.above > -np.inf

    @property
    def allowed(self) -> str:
        """The values that are allowed, in words; empty: all of the kind."""
        return ', '.join(self.one_of) or checks.bounds(*self.bounds)

    def names_of(self, family: str) -> list[str]:
        """Return the names of the parameters that a Mapping of this name stands for."""
        return [f'{family}.{key}' for key in self.one_of or '*']


def parameter(default: Any, description: str, **others: Any) -> Any:
    """Return the field of a parameter, with its facts; a default that is empty is allowed."""
    known = {'facts': Facts(description, **others)}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=known)
    return field(default=default, metadata=known)


def facts(each: Field) -> Facts:
    """Return what is known of a field of a dataclass; of one without `parameter`, nothing."""
    return each.metadata.get('facts', Facts())


@dataclass(frozen=True)
class Parameters:
    """Base of dataclasses of parameters: refuses values that are not allowed.

    Attributes:
        prefix: of the names in messages.
    """

    prefix: ClassVar[str] = ''

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not _left_out(each, value):
                self.check(each, value)

    def check(self, each: Field, value: Any) -> None:
        """Refuse a value that a field may not have; numbers per joint wait for `with_arrays`."""
        known = facts(each)
        name = self.prefix + (known.name or each.name)
        if isinstance(value, Mapping):
            for key in value:
                if known.one_of and key not in known.one_of:
                    raise checks.unknown('parameter', f'{name}.{key}', known.names_of(name))
        elif known.one_of:
            checks.one_of(name, value, known.one_of)
        elif known.length and (len(value) != known.length or not np.isfinite(value).all()):
            count = {3: 'three', 6: 'six'}.get(known.length, known.length)
            raise ArmError(f'{name} is {value}; it must be {count} finite numbers')
        elif known.allowed and (known.length or isinstance(value, Real)):
            for number in np.atleast_1d(value):
                checks.in_range(name, number, *known.bounds)


@dataclass(frozen=True, kw_only=True)
class Stepping(Parameters):
    """The plant's steps in time, of which its controllers are told as well."""

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


def with_arrays(parameters: Any, joint_names: Sequence[str]) -> Any:
    """Return a dataclass with its numbers per joint, checked, and vectors as arrays."""
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

    What is equal in all stays as it is. What differs has a row per arm: numbers per joint (N, n),
    a number (N, 1). Anything else may not differ.
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
    return each.default == () and not len(value)
