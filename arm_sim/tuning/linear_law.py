"""A law as four matrices: the effect of a small change of the measurement and of its memory."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.laws import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import ReferenceFunction, SampledReference
from arm_dynamics.checks import Array

WARM_UP = 24  # periods, after which a law's memory is as in the middle of a motion
_STEP = 1e-6  # of central differences


class LinearLaw(NamedTuple):
    """m+ = a m + b x and command = c m + d x, all as differences from the motion.

    Attributes:
        a, b, c, d: (m, m), (m, 2 n), (n, m), (n, 2 n); x is the measured q and v, m the memory.
        command: (n,) on the motion itself.
    """

    a: Array
    b: Array
    c: Array
    d: Array
    command: Array


def linear_law(
    law: Law, reference_function: ReferenceFunction, k: int, period: float
) -> LinearLaw:
    """Return the law at period `k` >= WARM_UP of an arm that is on its reference.

    The memory consists of those arrays of the law's state that change from period to period.
    """
    n, period_ns = law.model.nv, round(period * 1e9)
    sampled = SampledReference(reference_function, n, period_ns)

    def on_reference(k: int) -> Array:
        """Return q and v (2 n,) of the reference in period k."""
        reference = sampled.at(k * period_ns)
        return np.concatenate([reference.q, reference.v])

    def step(state: State, k: int, x: Array) -> tuple[Array, State]:
        """Return the law's command (n,) for a measured q and v (2 n,), and its next state."""
        measured = Measurement(x[:n].copy(), x[n:].copy())
        command, state = law(state, measured, sampled.at(k * period_ns), period)
        return np.array(command), state

    def warmed(noise: float) -> State:
        """Return the law's state after the periods before k, with noise on the measurements."""
        rng, x = np.random.default_rng(0), on_reference(k - WARM_UP)
        state = law.start(Measurement(x[:n], x[n:]), sampled.at((k - WARM_UP) * period_ns))
        for i in range(k - WARM_UP, k):
            _, state = step(state, i, on_reference(i) + noise * rng.standard_normal(2 * n))
        return state

    # An error in one period shows which arrays change: it moves integrals and estimates.
    disturbed = warmed(1e-6)
    _, after = step(disturbed, k, on_reference(k) + 1e-6)
    pairs = zip(arrays_of(disturbed), arrays_of(after), strict=True)
    changes = [bool((x != y).any()) for x, y in pairs]
    start = warmed(0.0)
    memory = _memory(start, changes)
    point = np.concatenate([memory, on_reference(k)])

    def answer(point: Array) -> Array:
        """Return the memory and the command after a period."""
        state = _with_memory(start, changes, point[: len(memory)])
        command, state = step(state, k, point[len(memory) :])
        return np.concatenate([_memory(state, changes), command])

    columns = []
    for i, scale in enumerate(np.maximum(np.abs(point), 1.0) * _STEP):
        change = np.zeros_like(point)
        change[i] = scale
        columns.append((answer(point + change) - answer(point - change)) / (2.0 * scale))
    rows, m = np.array(columns).T, len(memory)
    return LinearLaw(rows[:m, :m], rows[:m, m:], rows[m:, :m], rows[m:, m:], answer(point)[m:])


def arrays_of(state: Any) -> Iterator[Array]:
    """Yield the arrays of a law's state, always in the same order."""
    for part in state if isinstance(state, tuple) else (state,):
        if isinstance(part, tuple):
            yield from arrays_of(part)
        else:
            yield part


def _memory(state: State, changes: list[bool]) -> Array:
    """Return those arrays of a state that change, as one vector."""
    parts = zip(arrays_of(state), changes, strict=True)
    return np.concatenate([np.zeros(0), *(x.ravel() for x, changing in parts if changing)])


def _with_memory(state: State, changes: list[bool], memory: Array) -> State:
    """Return a state whose changing arrays are those of a vector."""
    which, rest = iter(changes), memory

    def copied(part: Any) -> Any:
        nonlocal rest
        if isinstance(part, tuple):
            parts = [copied(each) for each in part]
            return type(part)(*parts) if hasattr(part, '_fields') else tuple(parts)
        if not next(which):
            return part
        taken, rest = rest[: part.size].reshape(part.shape), rest[part.size :]
        return taken

    return copied(state)
