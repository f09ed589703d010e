"""The record of a closed loop of one arm."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from arm_controllers.laws import Law
from arm_controllers.reference import ReferenceFunction
from arm_sim.loop.events import Event
from arm_sim.loop.loop import Loop, Step
from arm_sim.loop.record import Record
from arm_sim.simulation.plant import Plant


class Recorder:
    """An observer that keeps every step of one arm."""

    def __init__(self, loop: Loop, duration: float):
        """Prepare for a run of `duration` [s] of a loop."""
        self._loop, n = loop, len(loop.plant.joint_names)
        steps = round(duration / loop.period)
        self._t, self._states = np.empty(steps), np.empty((steps, 2, n))
        self._references, self._efforts = np.empty((steps, 2, n)), np.empty((steps, n))
        self._contacts = np.empty((steps if loop.plant.parameters.touching else 0, 3))
        feels = loop.plant.measured.wrench is not None
        self._wrenches = np.empty((steps if feels else 0, 6))
        self._done, self._objects = 0, [loop.plant.scene.object_poses()]

    def __call__(self, step: Step) -> None:
        """Keep a step."""
        i = step.number
        states, references = self._states[i], self._references[i]
        self._t[i], states[0], states[1] = step.t, step.q, step.v
        references[0], references[1] = step.reference.q, step.reference.v
        if len(self._wrenches):
            self._wrenches[i] = step.measured.wrench
        if step.alive:
            self._efforts[i] = step.effort
            if len(self._contacts):
                self._contacts[i] = self._loop.plant.contacts.facts()
            if len(self._objects[0]):
                self._objects.append(self._loop.plant.scene.object_poses())
            self._done = i + 1

    def record(self) -> Record:
        """Return the record of the steps so far."""
        done = self._done
        q, v = self._states[:done, 0], self._states[:done, 1]
        q_reference, v_reference = self._references[:done, 0], self._references[:done, 1]
        end, complete = self._loop.plant.q.copy(), done == len(self._t)
        return Record(
            self._t[:done], q, v, q_reference, v_reference, self._efforts[:done], end, complete,
            self._contacts[:done], np.array(self._objects), self._wrenches[:done],
        )  # fmt: skip


def run_closed_loop(
    plant: Plant,
    law: Law,
    reference_function: ReferenceFunction,
    duration: float,
    events: Iterable[Event] = (),
    start: ArrayLike | None = None,
    seed: int | None = None,
) -> Record:
    """Return the record of one arm for `duration` [s]; see Loop for the arguments."""
    loop = Loop(plant, law, reference_function, events)
    if start is not None or seed is not None:
        loop.reset(start, seed)
    recorder = Recorder(loop, duration)
    loop.run(duration, [recorder])
    return recorder.record()
