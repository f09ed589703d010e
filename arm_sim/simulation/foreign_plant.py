"""An engine of another package: what it makes of its state is looked at."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.plugin_faults import fault, shown
from arm_dynamics.plugins import is_foreign

_STATE = ('q', 'v', 'effort')
_MOVES = ('act', 'step', '_hold')  # one of them is the engine's own


class _Seen(dict[str, Array]):
    """Wrenches that know whether an engine has read them."""

    read = False

    def __getattribute__(self, name: str) -> object:
        if name in ('items', 'values', 'keys', 'get'):
            self.read = True
        return super().__getattribute__(name)

    def __len__(self) -> int:
        self.read = True
        return super().__len__()

    def __getitem__(self, frame: str) -> Array:
        self.read = True
        return super().__getitem__(frame)


def look_at(kind: type) -> None:
    """Let what an engine's own constructor, `reset` and `act` leave be looked at.

    A new array in place of q, v or effort is written into the first one: sensors see that one.
    """
    for name, look in {'__init__': _made, 'reset': _reset, 'act': _act}.items():
        if method := vars(kind).get(name):
            setattr(kind, name, look(kind, method))


def _is_of(plant: object, kind: type, name: str) -> bool:
    """Return whether an engine has a method from this class, not from one that inherits it."""
    return next(each for each in type(plant).__mro__ if name in vars(each)) is kind


def _refusal(plant: object, text: str) -> ArmError:
    return ArmError(f'engine {type(plant).__name__}: {text}')


def _made(kind: type, method: Callable[..., None]) -> Callable[..., None]:
    @wraps(method)
    def made(plant: Any, *values: object, **others: object) -> None:
        try:
            method(plant, *values, **others)
        except Exception as error:  # a foreign function may raise anything
            raise fault(f'engine {kind.__name__}', error, kind.__module__) from error
        if _is_of(plant, kind, '__init__'):
            _check(plant)

    return made


def _check(plant: Any) -> None:
    """Remember the arrays of the state. Raises ArmError: they cannot be those of a state."""
    if 'devices' not in vars(plant):
        raise _refusal(plant, 'its constructor must call super().__init__(model, parameters)')
    shape, found = (*plant.arms, len(plant.joint_names)), {}
    for name in _STATE:
        array = found[name] = getattr(plant, name, None)
        if not isinstance(array, np.ndarray) or (array.dtype, array.shape) != (float, shape):
            what = shown(array)
            raise _refusal(plant, f'{name} is {what}; it must be an array of float64 of {shape}')
    base = next(each for each in reversed(type(plant).__mro__) if 'act' in vars(each))
    if all(getattr(type(plant), name) is vars(base)[name] for name in _MOVES):
        raise _refusal(plant, 'it has no act(command), which must advance q and v by a period')
    if any(np.shares_memory(found[x], found[y]) for x, y in ('qv', ('q', 'effort'))):
        raise _refusal(plant, 'q, v and effort share memory; each must have its own array')
    vars(plant)['_first_state'] = found


def _reset(kind: type, method: Callable[..., None]) -> Callable[..., None]:
    @wraps(method)
    def reset(plant: Any, *values: object, **others: object) -> None:
        before = {name: vars(plant).get(name) for name in _STATE}  # in a constructor: the first
        method(plant, *values, **others)
        _keep(plant, vars(plant).get('_first_state', before))

    return reset


def _act(kind: type, method: Callable[[object, Array], None]) -> Callable[[object, Array], None]:
    @wraps(method)
    def act(plant: Any, command: Array) -> None:
        if not _is_of(plant, kind, 'act'):
            method(plant, command)
            return
        wrenches = plant.wrenches
        seen = plant.wrenches = _Seen(wrenches)
        method(plant, np.array(command))
        plant.wrenches = wrenches
        if wrenches and not seen.read and not _takes_wrenches(plant):
            raise _refusal(
                plant,
                f'a wrench acts on {", ".join(wrenches)}, and act reads neither wrenches nor '
                'external_forces(); it must apply them',
            )
        _keep(plant, vars(plant)['_first_state'])
        if not np.isfinite(plant.effort).all() and np.isfinite([plant.q, plant.v]).all():
            raise _refusal(plant, f'effort is {shown(plant.effort.tolist())}; it must be finite')

    return act


def _takes_wrenches(plant: object) -> bool:
    """Return whether an engine has a way of its own to take them."""
    own = {name for each in type(plant).__mro__ if is_foreign(each) for name in vars(each)}
    return bool({'apply_wrench', '_set_wrenches'} & own)


def _keep(plant: object, state: Mapping[str, object]) -> None:
    """Write new arrays of the state into the first ones. Raises ArmError: no numbers of it."""
    for name, first in state.items():
        now = getattr(plant, name)
        if now is first or not isinstance(first, np.ndarray):
            continue
        try:
            array = np.asarray(now)
        except ValueError:  # rows of different lengths
            array = np.empty(0)
        if array.dtype.kind not in 'fiu' or array.shape != first.shape:
            raise _refusal(plant, f'{name} is {shown(now)}; it must be {first.shape} real numbers')
        first[:] = array
        setattr(plant, name, first)
