"""A law as four matrices: the effect of a small change of the measurement and of its memory."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.laws import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import ReferenceFunction, SampledReference
from arm_dynamics.checks import ArmError, Array

WARM_UP = 24  # periods, after which a law's memory is as in the middle of a motion
_STEP = 1e-6  # of central differences


class LinearLaw(NamedTuple):
    """m+ = a m + b x and command = c m + d x, all as differences from the motion.

    Attributes:
        a, b, c, d: (m, m), (m, k), (n, m), (n, k); x (k,) is the measured q and v, and the wrench
            where the law gets one; m is the memory.
        command: (n,) on the motion itself.
    """

    a: Array
    b: Array
    c: Array
    d: Array
    command: Array


def derivatives(answer: Callable[[Array], Array], point: Array, step: float = _STEP) -> Array:
    """Return the derivatives (..., m) of a function of (m,), by central differences."""
    columns = []
    for i, scale in enumerate(np.maximum(np.abs(point), 1.0) * step):
        change = np.zeros_like(point)
        change[i] = scale
        columns.append((answer(point + change) - answer(point - change)) / (2.0 * scale))
    return np.stack(columns, axis=-1)


def linear_law(
    law: Law,
    reference_function: ReferenceFunction,
    k: int,
    period: float,
    wrench: Array | None = None,
) -> LinearLaw:
    """Return the law at period `k` >= WARM_UP of an arm that is on its reference.

    The memory consists of those arrays of the law's state that change from period to period.
    `wrench` (6,) is the one that the law measures.

    Raises:
        ArmError: a law that answers late or in chunks.
    """
    if not law.evaluation.derivative_step:
        raise ArmError(
            'margins are of a loop that answers every control period; this policy answers late '
            'or in chunks'
        )
    n, period_ns = law.model.nv, round(period * 1e9)
    sampled = SampledReference(reference_function, n, period_ns)

    felt = np.zeros(0) if wrench is None else wrench

    def on_reference(k: int) -> Array:
        """Return q and v of the reference in period k, and the wrench (2 n + 0 or 6,)."""
        reference = sampled.at(k * period_ns)
        return np.concatenate([reference.q, reference.v, felt])

    def measured_as(x: Array) -> Measurement:
        """Return the measurement of these numbers."""
        own = None if wrench is None else x[2 * n :].copy()
        return Measurement(x[:n].copy(), x[n : 2 * n].copy(), None, own)

    def step(state: State, k: int, x: Array) -> tuple[Array, State]:
        """Return the law's command (n,) for what is measured, and its next state."""
        measured = measured_as(x)
        command, state = law(state, measured, sampled.at(k * period_ns), period)
        return np.array(command), state

    def warmed(noise: float) -> State:
        """Return the law's state after the periods before k, with noise on the measurements."""
        rng, x = np.random.default_rng(0), on_reference(k - WARM_UP)
        state = law.start(measured_as(x), sampled.at((k - WARM_UP) * period_ns))
        for i in range(k - WARM_UP, k):
            _, state = step(state, i, on_reference(i) + noise * rng.standard_normal(len(x)))
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

    rows, m = derivatives(answer, point, law.evaluation.derivative_step), len(memory)
    return LinearLaw(rows[:m, :m], rows[:m, m:], rows[m:, :m], rows[m:, m:], answer(point)[m:])


def arrays_of(state: object) -> Iterator[Array]:
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
