"""One law on one plant in lock-step, without ROS: what the nodes do over topics, in a loop."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arm_controllers.laws import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import ReferenceFunction, SampledReference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.loop.record import Record
from arm_sim.simulation.plant import Plant


@dataclass(frozen=True)
class Imperfections(Parameters):
    """What a real loop has between arm and law. The default is none of it."""

    delay: int = parameter(
        0, "control periods from a measurement to its command's effect", min=0, max=1000
    )
    position_noise: float = parameter(0.0, 'standard deviation of positions [rad | m]', min=0)
    velocity_noise: float = parameter(0.0, 'standard deviation of velocities [rad/s | m/s]', min=0)
    seed: int = parameter(0, 'of the noise')


# What happens to a plant at a time [s]: a function of the plant, which returns what goes on.
Event = tuple[float, Callable[[Plant], Plant]]


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

    def events(self) -> list[Event]:
        """Return its start and its end."""

        def apply(wrench: ArrayLike, plant: Plant) -> Plant:
            plant.apply_wrench(self.frame, wrench)
            return plant

        ends = ((self.start, self.wrench), (self.end, np.zeros(6)))
        return [(time, partial(apply, wrench)) for time, wrench in ends]


def replacement(time: float, other: Plant) -> Event:
    """Return the event that another plant goes on from the state, as when a payload is dropped."""

    def replace(plant: Plant) -> Plant:
        other.go_on_from(plant)
        return other

    return time, replace


def events_by_period(
    events: Iterable[tuple[float, Callable[[Any], Any]]], period: float
) -> dict[int, list[Callable[[Any], Any]]]:
    """Return what happens at the beginning of each control period, in the order of `events`.

    Times and `period` are in [s].
    """
    due: dict[int, list[Callable[[Any], Any]]] = {}
    for time, event in events:
        due.setdefault(round(time / period), []).append(event)
    return due


def run_closed_loop(
    plant: Plant,
    law: Law,
    reference_function: ReferenceFunction,
    duration: float,
    events: Iterable[Event] = (),
    imperfections: Imperfections | None = None,
    start: ArrayLike | None = None,
) -> Record:
    """Run `law` on `plant` for `duration` [s].

    Per control period: read the state, evaluate the reference, ask the law, hold its command.

    Args:
        plant, law: with the same command interface.
        reference_function: writes the reference of a time.
        events: what happens to the plant.
        imperfections: delay and noise.
        start: (n,) where the plant starts at rest; None: on the reference at t = 0.
    """
    if law.command_interface != plant.command_interface:
        raise ArmError(
            f'the law commands {law.command_interface!r}, '
            f'the plant takes {plant.command_interface!r}'
        )
    n, period_ns = len(plant.joint_names), plant.parameters.period_ns
    period = period_ns * 1e-9
    steps = round(duration / period)
    states, efforts, references = (np.empty((steps, *s)) for s in ((2, n), (n,), (4 * n,)))
    seen, noise = np.empty((2, n)), _noise(imperfections, steps, n)
    pending: deque[Array] = deque(maxlen=1 + (imperfections.delay if imperfections else 0))
    due = events_by_period(events, period)

    sampled = SampledReference(reference_function, n, period_ns)
    reference = sampled.at(0)
    plant.reset(*((reference.q, reference.v) if start is None else (start,)))
    law_state: State | None = None
    done = 0
    for i in range(steps):
        for event in due.get(i, ()):
            plant = event(plant)
        reference = sampled.at(i * period_ns)
        references[i] = reference.row
        states[i] = plant.q, plant.v
        seen[0], seen[1] = plant.measured_q, plant.measured_v
        measured = Measurement(*(seen if noise is None else seen + noise[i]))
        if law_state is None:
            law_state = law.start(measured, reference)
        command, law_state = law(law_state, measured, reference, period)
        pending.append(command.copy())
        command = pending[0]  # `delay` periods old, once there is one
        if not isfinite(command.dot(command)):  # nor was the state
            break
        plant.step(command)
        efforts[i] = plant.effort
        done = i + 1
    t = np.array([i * period_ns * 1e-9 for i in range(done)])
    q, v, effort = states[:done, 0], states[:done, 1], efforts[:done]
    q_reference, v_reference = np.hsplit(references[:done], 4)[:2]
    return Record(t, q, v, q_reference, v_reference, effort, plant.q.copy(), done == steps)


def _noise(imperfections: Imperfections | None, steps: int, n: int) -> Array | None:
    """Return noise (steps, 2, n) of positions and velocities; None: there is none at all."""
    if imperfections is None or imperfections == Imperfections():
        return None
    scale = np.array([[imperfections.position_noise], [imperfections.velocity_noise]])
    return scale * np.random.default_rng(imperfections.seed).standard_normal((steps, 2, n))
