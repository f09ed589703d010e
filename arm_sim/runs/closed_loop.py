"""One law on one plant in lock-step, without ROS: what the nodes do over topics, in a loop."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from arm_controllers.laws import Law
from arm_controllers.reference import Reference, ReferenceFunction
from arm_dynamics.checks import in_range
from arm_dynamics.errors import ArmError
from arm_dynamics.model import Array
from arm_sim.plants.plant import Plant
from arm_sim.runs.record import Record


@dataclass(frozen=True)
class Imperfections:
    """What a real loop has between arm and law. The default is none of it.

    Attributes:
        delay: control periods from a measurement to its command's effect.
        position_noise: standard deviation of measured positions [rad | m].
        velocity_noise: standard deviation of measured velocities [rad/s | m/s].
        seed: of the noise.
    """

    delay: int = 0
    position_noise: float = 0.0
    velocity_noise: float = 0.0
    seed: int = 0

    def __post_init__(self):
        """Raises ArmError."""
        in_range('delay', self.delay, 0, 1000)
        in_range('position_noise', self.position_noise, 0.0)
        in_range('velocity_noise', self.velocity_noise, 0.0)


@dataclass(frozen=True)
class Push:
    """A wrench on a frame for a while.

    Attributes:
        frame: name of a link.
        wrench: (6,) force [N] and torque [N.m] at the frame's origin, base-aligned axes.
        start, end: [s].
    """

    frame: str
    wrench: tuple[float, ...]
    start: float
    end: float


def run_closed_loop(
    plant: Plant,
    law: Law,
    reference_function: ReferenceFunction,
    duration: float,
    push: Push | None = None,
    imperfections: Imperfections | None = None,
    swap: tuple[float, Plant] | None = None,
    start: ArrayLike | None = None,
) -> Record:
    """Run `law` on `plant` for `duration` [s].

    Per control period: read the state, evaluate the reference, ask the law, hold its command.

    Args:
        plant, law: with the same command interface.
        reference_function: writes the reference of a time.
        duration: [s].
        push: an external wrench.
        imperfections: delay and noise.
        swap: (time [s], another plant) that goes on from the state at that time, as when a
            payload is dropped.
        start: (n,) where the plant starts at rest; None: on the reference at t = 0.

    Raises:
        ArmError: law and plant do not fit together.
    """
    if law.command_interface != plant.command_interface:
        raise ArmError(
            f'the law commands {law.command_interface!r}, '
            f'the plant takes {plant.command_interface!r}'
        )
    n, period_ns = len(plant.joint_names), plant.parameters.period_ns
    period = period_ns * 1e-9
    steps, ahead = round(duration / period), law.lookahead * period_ns
    states, efforts, references = (np.empty((steps, *s)) for s in ((2, n), (n,), (4 * n,)))
    noise = _noise(imperfections, steps, n)
    delay = imperfections.delay if imperfections else 0
    events = _events(push, swap, period)

    reference = Reference(n)
    reference_function(0.0, reference)
    plant.reset(*((reference.q, reference.v) if start is None else (start,)))
    law.reset(plant.q.copy(), plant.v.copy())
    pending: deque[Array] = deque()
    done = 0
    for i in range(steps):
        if i in events:
            plant = events[i](plant)
        now = i * period_ns
        reference_function(now * 1e-9, reference)
        references[i] = reference.row
        if ahead:
            reference_function((now + ahead) * 1e-9, reference)
        state = states[i]
        state[0], state[1] = plant.q, plant.v
        measured = state if noise is None else state + noise[i]
        command = law(measured[0], measured[1], reference, period)
        if delay:
            pending.append(command.copy())
            command = pending.popleft() if len(pending) > delay else pending[0]
        if not isfinite(command.dot(command)):  # so it is after a state that is not
            break
        plant.step(command)
        efforts[i] = plant.effort
        done = i + 1
    t = np.array([i * period_ns * 1e-9 for i in range(done)])
    q, v, references = states[:done, 0], states[:done, 1], references[:done]
    q_reference, v_reference = references[:, :n], references[:, n : 2 * n]
    q_end, completed = plant.q.copy(), done == steps
    return Record(t, q, v, q_reference, v_reference, efforts[:done], q_end, completed)


def _events(
    push: Push | None, swap: tuple[float, Plant] | None, period: float
) -> dict[int, Callable[[Plant], Plant]]:
    """Return what happens to the plant, by the index of the control period."""
    events: dict[int, Callable[[Plant], Plant]] = {}

    def add(time: float, event: Callable[[Plant], Plant]) -> None:
        i = round(time / period)
        before = events.get(i)
        events[i] = event if before is None else lambda plant: event(before(plant))

    def pushed(wrench: ArrayLike) -> Callable[[Plant], Plant]:
        def event(plant: Plant) -> Plant:
            assert push is not None
            plant.apply_wrench(push.frame, wrench)
            return plant

        return event

    def swapped(plant: Plant) -> Plant:
        assert swap is not None
        swap[1].reset(plant.q, plant.v)
        return swap[1]

    if push:
        add(push.end, pushed(np.zeros(6)))
        add(push.start, pushed(push.wrench))
    if swap:
        add(swap[0], swapped)
    return events


def _noise(imperfections: Imperfections | None, steps: int, n: int) -> Array | None:
    """Return noise (steps, 2, n) of positions and velocities; None: there is none at all."""
    if imperfections is None or imperfections == Imperfections():
        return None
    scale = np.array([[imperfections.position_noise], [imperfections.velocity_noise]])
    return scale * np.random.default_rng(imperfections.seed).standard_normal((steps, 2, n))
