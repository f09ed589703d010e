"""A device of another package: what its hooks return is looked at."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from arm_controllers.measurement import Measurement
from arm_dynamics.checks import ArmError, Array


def look_at(device: Any) -> None:
    """Let commands and measurements that a device returns be looked at from now on."""
    for hook, look in (('sent', _command), ('acting', _command), ('read', _reading)):
        setattr(device, hook, partial(look, device, hook, getattr(device, hook)))
    device.reset = partial(_first, device, device.reset)


def _refusal(device: object, hook: str, what: str, allowed: str) -> ArmError:
    return ArmError(f'device {type(device).__name__}: {hook} returns {what}; it must be {allowed}')


def _command(device: object, hook: str, change: Callable[..., object], command: Array) -> Array:
    """Return a changed command. Raises ArmError: no finite numbers, or another shape."""
    changed = np.asarray(change(command))
    if changed.dtype.kind not in 'fiu' or changed.shape != command.shape:
        what = f'{changed.dtype} of shape {changed.shape}'
    elif not np.isfinite(changed).all():
        what = str(changed.tolist())
    else:
        return np.asarray(changed, dtype=float)
    raise _refusal(device, hook, what, f'finite numbers of shape {command.shape}')


def _reading(
    device: object, hook: str, read: Callable[..., object], measured: Measurement
) -> Measurement:
    """Return a reading. Raises ArmError: no Measurement of real numbers of the same shape."""
    found = read(measured)
    if not isinstance(found, Measurement):
        raise _refusal(device, hook, type(found).__name__, 'a Measurement, by measured._replace')
    arrays = {name: np.asarray(getattr(found, name)) for name in ('q', 'v')}
    for name, array in arrays.items():
        if array.dtype.kind not in 'fiu' or array.shape != measured.q.shape:
            what = f'{name} of {array.dtype} of shape {array.shape}'
            raise _refusal(device, hook, what, f'real numbers of shape {measured.q.shape}')
    q, v = (np.asarray(each, dtype=float) for each in arrays.values())
    return found._replace(q=q, v=v)  # the same arrays where they are float64: views of the state


def _first(
    device: object, reset: Callable[..., object], seed: int | None, measured: Measurement
) -> Measurement:
    """Return the first reading."""
    return _reading(device, 'reset', partial(reset, seed), measured)
