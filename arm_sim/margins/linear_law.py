"""A law as four matrices: what a small change of its state and of its memory does."""

from collections import deque
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.laws import Law
from arm_controllers.reference import Reference, ReferenceFunction
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

    The memory are the law's arrays that change from period to period, wherever it keeps them.
    """
    at = _Motion(law, reference_function, period)
    now, disturbed = at.warmed(k, 0.0), at.warmed(k, 1e-6)
    before = [array.copy() for array in _arrays(disturbed)]
    at.command(disturbed, k, at.state(k) + 1e-6)  # an error, so that integrals move
    after = list(_arrays(disturbed))
    changed = [i for i, (x, y) in enumerate(zip(before, after, strict=True)) if (x != y).any()]
    memory = _memory(now, changed)
    point = np.concatenate([memory, at.state(k)])

    def answer(point: Array) -> Array:
        """Return the memory and the command after a period."""
        copy = at.copied(now)
        _remember(copy, changed, point[: len(memory)])
        command = at.command(copy, k, point[len(memory) :])
        return np.concatenate([_memory(copy, changed), command])

    columns = []
    for i, scale in enumerate(np.maximum(np.abs(point), 1.0) * _STEP):
        step = np.zeros_like(point)
        step[i] = scale
        columns.append((answer(point + step) - answer(point - step)) / (2.0 * scale))
    rows, m = np.array(columns).T, len(memory)
    return LinearLaw(rows[:m, :m], rows[:m, m:], rows[m:, :m], rows[m:, m:], answer(point)[m:])


class _Motion:
    """A law beside an arm that is on its reference."""

    def __init__(self, law: Law, reference_function: ReferenceFunction, period: float):
        self._law, self._function, self._period = law, reference_function, period
        self._n = law.model.nv

    def reference(self, k: int) -> Reference:
        """Return the reference of period k."""
        found = Reference(self._n)
        self._function(round(k * self._period * 1e9) * 1e-9, found)
        return found

    def state(self, k: int) -> Array:
        """Return q and v (2 n,) of period k."""
        reference = self.reference(k)
        return np.concatenate([reference.q, reference.v])

    def command(self, law: Law, k: int, state: Array) -> Array:
        """Return what a law answers (n,) to a state (2 n,) of period k."""
        reference = self.reference(k + law.lookahead)
        q, v = state[: self._n].copy(), state[self._n :].copy()
        return np.array(law(q, v, reference, self._period))

    def copied(self, law: Law) -> Law:
        """Return a copy of a law with a memory of its own, but with the same model."""
        shared = law.model, law.parameters if hasattr(law, 'parameters') else law.model
        return deepcopy(law, {id(each): each for each in shared})

    def warmed(self, k: int, noise: float) -> Law:
        """Return a copy of the law that has been told of the periods before k."""
        rng, law = np.random.default_rng(0), self.copied(self._law)
        first = self.state(k - WARM_UP)
        law.reset(first[: self._n].copy(), first[self._n :].copy())
        for i in range(k - WARM_UP, k):
            state = self.state(i)
            self.command(law, i, state + noise * rng.standard_normal(len(state)))
        return law


def _arrays(law: Any) -> Iterator[Array]:
    """Give the arrays that a law, and what it is made of, keeps; always in the same order."""
    known = {id(law.model)}

    def inside(value: Any) -> Iterator[Array]:
        if isinstance(value, np.ndarray):
            if value.dtype == float and value.ndim:
                yield value
        elif isinstance(value, list | tuple | deque):
            for each in value:
                yield from inside(each)
        elif hasattr(value, '__dict__') and not isinstance(value, type) and id(value) not in known:
            known.add(id(value))
            for name, each in vars(value).items():
                if name != 'parameters':
                    yield from inside(each)

    yield from inside(law)


def _memory(law: Law, which: list[int]) -> Array:
    arrays = list(_arrays(law))
    return np.concatenate([np.zeros(0), *(arrays[i].ravel() for i in which)])


def _remember(law: Law, which: list[int], memory: Array) -> None:
    arrays = list(_arrays(law))
    for i in which:
        arrays[i].flat, memory = memory[: arrays[i].size], memory[arrays[i].size :]
