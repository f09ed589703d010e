"""One law on many plants in lock-step: runs.closed_loop with a row per arm."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arm_controllers.laws import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference, ReferenceFunction, SampledReference
from arm_dynamics.checks import ArmError, Array
from arm_sim.loop.closed_loop import Imperfections, events_by_period
from arm_sim.loop.many_arms import ManyArms

# Is told, after each period, its number, q and v (N, n) at its start, the reference there, the
# torques (N, n) in it, and of which arms (N,) the command was finite.
Observer = Callable[[int, Array, Array, Reference, Array, Array], None]
_NOISE_PERIODS = 64  # that are drawn at once


def run_batch(
    plant: ManyArms,
    law: Law,
    reference_function: ReferenceFunction,
    duration: float,
    observers: Iterable[Observer] = (),
    events: Iterable[tuple[float, Callable[[Any], Any]]] = (),
    imperfections: Sequence[Imperfections] = (),
    own_references: bool = False,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Run `law` on all arms of `plant` for `duration` [s], each as run_closed_loop would.

    Memory does not grow with the duration: what is to be kept the observers keep.

    Args:
        plant, law: with the same command interface; the law has a BatchModel.
        reference_function: writes the reference of a time: (n,) for all arms.
        observers: are told of each period.
        events: what happens to the plant.
        imperfections: delay and noise of each arm; none: of no arm.
        own_references: `reference_function` writes (N, n), each arm's own.

    Returns:
        (N,) of which arms all commands were finite (the others stand still since); (N,) which
        were beyond what the batch plant models, see ManyArms.beyond.
    """
    if law.command_interface != plant.command_interface:
        raise ArmError(
            f'the law commands {law.command_interface!r}, '
            f'the plant takes {plant.command_interface!r}'
        )
    (size, n), observers = plant.q.shape, list(observers)
    period_ns = plant.parameters.period_ns
    period = period_ns * 1e-9
    due = events_by_period(events, period)
    noise, late = _Noise(imperfections, size, n), _Delay(imperfections, size, n)
    references = SampledReference(reference_function, n, period_ns, (size,), own_references)
    now = references.at(0)
    plant.reset(now.q, now.v)
    law_state: State | None = None
    alive: Any = np.ones(size, dtype=bool)
    beyond: Any = np.zeros(size, dtype=bool)
    with np.errstate(all='ignore'):
        for i in range(round(duration / period)):
            for event in due.get(i, ()):
                beyond |= plant.beyond
                plant = event(plant)
            now = references.at(i * period_ns)
            q, v = plant.q.copy(), plant.v.copy()
            seen = noise.added(i, plant.measured_q.copy(), plant.measured_v.copy())
            measured = Measurement(*seen)
            if law_state is None:
                law_state = law.start(measured, now)
            command, law_state = law(law_state, measured, now, period)
            command = late(i, command)
            sound = np.isfinite(np.einsum('ij,ij->i', command, command))
            if not sound.all():
                alive &= sound
                command = np.where(alive[:, np.newaxis], command, 0.0)
            plant.step(command)
            for observer in observers:
                observer(i, q, v, now, plant.effort, alive)
            if not alive.all():
                plant.q[~alive], plant.v[~alive] = now.q[~alive], 0.0
    return alive, beyond | plant.beyond


class _Delay:
    """Commands that take effect so many periods later."""

    def __init__(self, imperfections: Sequence[Imperfections], size: int, n: int):
        self._delay = np.array([each.delay for each in imperfections] or [0] * size)
        self._kept = np.zeros((int(self._delay.max()) + 1, size, n))
        self._arms = np.arange(size)

    def __call__(self, i: int, command: Array) -> Array:
        """Return the commands (N, n) that act in period i, of which `command` is the newest."""
        length = len(self._kept)
        if length == 1:
            return np.ascontiguousarray(command)
        self._kept[i % length] = command
        return self._kept[np.maximum(i - self._delay, 0) % length, self._arms]


class _Noise:
    """Sensor noise, drawn as the one-arm loop draws it, some periods at a time."""

    def __init__(self, imperfections: Sequence[Imperfections], size: int, n: int):
        pairs = [(each.position_noise, each.velocity_noise) for each in imperfections]
        self._scale = np.array(pairs).reshape(-1, 1, 2, 1)
        self._rows = np.zeros((0, 0, 2, n))
        if self._scale.any():
            self._draws = [np.random.default_rng(each.seed) for each in imperfections]
            self._rows = np.empty((size, _NOISE_PERIODS, 2, n))

    def added(self, i: int, q: Array, v: Array) -> tuple[Array, Array]:
        """Return q and v (N, n) as they are measured in period i; to be asked period by period."""
        if not len(self._rows):
            return q, v
        if i % _NOISE_PERIODS == 0:
            for rows, rng in zip(self._rows, self._draws, strict=True):
                rng.standard_normal(out=rows)
            self._rows *= self._scale
        noise = self._rows[:, i % _NOISE_PERIODS]
        return q + noise[:, 0], v + noise[:, 1]
