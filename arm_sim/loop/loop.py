"""The closed loop of one arm or of many arms: the only place that advances time without ROS.

Per control period: sensors -> law -> drives -> plant. The nodes hold the two halves of the same
loop: the simulator sensors, drives and plant, the controller the law and its reference.
"""

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_controllers.laws import Law, State
from arm_controllers.measurement import HOW_TO_MEASURE, Measurement
from arm_controllers.reference import Reference, ReferenceFunction, SampledReference
from arm_dynamics.checks import ArmError, Array, read_only
from arm_sim.loop.events import Event, events_by_period
from arm_sim.simulation.plant import Plant


class Step(NamedTuple):
    """One control period; arrays of many arms have a leading axis, and are read-only.

    Attributes:
        number: of the period, from 0.
        t: time at its start [s].
        q, v: (..., n) the state at its start [rad | m], [rad/s | m/s].
        measured: the same as the sensors report it.
        reference: the reference at its start; the next step overwrites it.
        command: (..., n) as sent to the drives.
        effort: (..., n) torque of the period, of a continuous arm its mean [N.m | N].
        alive: whether the command was finite; (N,) for many arms.
    """

    number: int
    t: float
    q: Array
    v: Array
    measured: Measurement
    reference: Reference
    command: Array
    effort: Array
    alive: Any


Observer = Callable[[Step], None]


class Loop:
    """A law that drives a plant along a reference.

    An arm whose command is not finite stops for good: one arm ends the loop, of many arms those
    that are lost stand still at their reference.

    Attributes:
        plant: the present plant; events may replace it.
        law: with the plant's command interface.
        law_state: the law's memory; None before the first step.
        period: of control [s].
        index: number of the next period.
        alive: whether all commands were finite so far; (N,) for many arms.
        beyond: whether an arm has left what its plant models; (N,) for many arms.
    """

    def __init__(
        self,
        plant: Plant,
        law: Law,
        reference_function: ReferenceFunction,
        events: Iterable[Event] = (),
        per_arm: bool = False,
    ):
        """Connect the parts, and reset.

        Args:
            plant: one arm, or ManyArms.
            law: has a model of one arm, or a BatchModel.
            reference_function: writes the reference of a time [s].
            events: times [s] and functions that act on the plant.
            per_arm: the reference function writes (N, n), a reference for each arm.

        Raises:
            ArmError: law and plant have different command interfaces; the plant has no sensor
                that the law needs.
        """
        if law.command_interface != plant.command_interface:
            raise ArmError(
                f'the law commands {law.command_interface!r}, '
                f'the plant takes {plant.command_interface!r}'
            )
        self._first_plant, self.law = plant, law
        self._period_ns = plant.parameters.period_ns
        self.period = plant.parameters.period
        self._events = events_by_period(events, self.period)
        n = len(plant.joint_names)
        self._reference = SampledReference(
            reference_function, n, self._period_ns, plant.arms, per_arm
        )
        self.reset()
        for name in law.needs:
            if getattr(plant.measured, name) is None:
                raise ArmError(f'the law needs {name}: {HOW_TO_MEASURE[name]}')

    def reset(self, start: ArrayLike | None = None, seed: int | None = None) -> None:
        """Return to t = 0.

        Args:
            start: (n,) position at rest [rad | m]; None: on the reference.
            seed: of sensors and drives, see Plant; None: the seeds of their parameters.
        """
        plant = self.plant = self._first_plant
        plant.seed, self.index = seed, 0
        self.law_state: State | None = None
        reference = self._reference.at(0)
        if start is None:
            plant.reset(reference.q, reference.v)
        else:
            plant.reset(start)
        self.alive: Any = np.ones(plant.arms, dtype=bool) if plant.arms else True
        self._beyond: NDArray[np.bool_] = np.zeros(plant.arms, dtype=bool)

    @property
    def beyond(self) -> Any:
        """Whether an arm has left what its plant models."""
        return self._beyond | self.plant.beyond

    @property
    def now(self) -> tuple[Measurement, Reference]:
        """Measurement and reference of the next period; the next step overwrites the latter."""
        return self.plant.measured, self._reference.at(self.index * self._period_ns)

    def step(self, command: Array | None = None, added: Array | None = None) -> Step:
        """Advance by one control period.

        Args:
            command: (..., n); None: that of the law.
            added: (..., n) on top of the law's command, as a policy adds it.
        """
        i, now = self.index, self.index * self._period_ns
        for event in self._events.get(i, ()):
            self._beyond = self._beyond | self.plant.beyond
            self.plant = event(self.plant)
        plant, reference = self.plant, self._reference.at(now)
        q, v, measured = plant.q.copy(), plant.v.copy(), plant.measured
        q.flags.writeable = v.flags.writeable = False
        if command is None:
            if self.law_state is None:
                self.law_state = self.law.start(measured, reference)
            command, self.law_state = self.law(self.law_state, measured, reference, self.period)
            if not command.flags.writeable:  # a view of the state or of the reference
                command = command.copy()
            if added is not None:
                command = command + added
        if plant.arms:
            command = self._of_living(command)
            plant.step(command)
            if not self.alive.all():
                lost = ~self.alive
                plant.q[lost], plant.v[lost] = reference.q[lost], 0.0
        else:
            self.alive = self.alive and isfinite(command.dot(command))
            if self.alive:
                plant.step(command)
        self.index = i + 1
        effort = read_only(plant.effort)
        return Step(i, now * 1e-9, q, v, measured, reference, command, effort, self.alive)

    def run(self, duration: float, observers: Iterable[Observer] = ()) -> None:
        """Advance for `duration` [s], or until one arm's command is not finite.

        Observers receive every step.
        """
        observers, one = list(observers), not self.plant.arms
        with np.errstate(all='warn' if one else 'ignore'):
            for _ in range(round(duration / self.period)):
                step = self.step()
                for observer in observers:
                    observer(step)
                if one and not step.alive:
                    return

    def _of_living(self, command: Array) -> Array:
        """Return commands (N, n) with zeros for arms that are lost."""
        sound = np.isfinite(np.einsum('ij,ij->i', command, command))
        if sound.all() and self.alive.all():
            return np.ascontiguousarray(command)
        self.alive = self.alive & sound
        return np.where(self.alive[:, np.newaxis], command, 0.0)
