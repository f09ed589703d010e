"""Stability in contact: the stiffest surface on which a loop is stable, predicted and found.

The arm presses on the surface of the task `press`, without friction. Its linear loop is that of
margins, with the surface's spring in the plant, and the wrench among what the law measures.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.inverse_kinematics import solve_ik
from arm_dynamics.model_error import with_error
from arm_dynamics.parameters import with_values
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.tuning.linear_law import WARM_UP, LinearLaw, derivatives, linear_law
from arm_lab.tuning.linear_loop import ClosedLoops, LinearArms
from arm_lab.tuning.margins import linear_plant
from arm_sim.loop.loop import Loop, Step
from arm_sim.simulation.plant import Plant, plant_class

FORCE = 10.0  # on the surface [N]
_DEEPER = 1e-3  # at which the surface is looked for [m]
_STEP, _SHARE = 1e-5, 0.02  # of central differences: at most, and of the depth of the contact
_PER_DECADE = 6  # stiffnesses that are looked at
_TOLERANCE, _WIDER = 0.03, 1.2  # of a limit: its error, and the factor by which it is bracketed
_LOST = 0.01  # share of the force below which the tool is off the surface
_NUDGE, _GROWN = 1e-9, 1e-7  # by which two runs differ: at the start, when unstable [rad | m]


class ContactLoop:
    """One arm at rest in contact with a surface, under one law.

    Attributes:
        stiffness: of the surface [N/m].
        q: (n,) where the surface exerts FORCE on the tool [rad | m].
    """

    def __init__(self, experiment: Experiment, stiffness: float):
        """Put the surface under the tool.

        Raises:
            ArmError: no such law or robot, an engine without contacts, drives or sensors that are
                not linear, a tool without a shape that touches.
        """
        given = {'surface_stiffness': stiffness, 'surface_friction': 0.0, 'force': FORCE}
        loaded = experiment.load()
        self._loaded = LoadedExperiment(replace(experiment, task='press'), loaded.robot, given)
        self._task: Any = self._loaded.task
        if not plant_class(experiment.engine).has_contacts:
            raise ArmError(f'engine {experiment.engine!r} has no contacts')
        needs = {*self._loaded.law_class.needs, *self._loaded.law_class.goal_needs}
        if not needs <= {'wrench'}:
            raise ArmError(f'law {experiment.law!r} needs {", ".join(sorted(needs))}')
        self.stiffness, self._plant = stiffness, self._new_plant(0)
        self.q = self._touching()

    def _new_plant(self, delay: int) -> Plant:
        own = self._loaded
        sensor = own.robot.model.tool_carrier
        parameters = with_values(
            linear_plant(own), command_delay=delay, force_torque_frame=sensor, tare_at_reset=True
        )
        arm = with_error(own.robot.model, own.experiment.error)
        return plant_class(own.experiment.engine)(arm, parameters)

    def _touching(self) -> Array:
        """Return the positions (n,) at which the surface exerts the force."""
        model, task = self._loaded.robot.model, self._task
        q, pose = task.robot.start, model.forward_kinematics(task.robot.start)
        down = task.parameters.distance + _DEEPER
        for _ in range(3):
            pose = pose.copy()
            pose.translation = pose.translation - down * task.normal
            found = solve_ik(model, pose, q, position_tolerance=1e-12)
            if not found.success:
                raise ArmError(
                    f'robot {task.robot.name!r} does not reach a surface below its tool'
                )
            q = found.q
            self._plant.reset(q)
            depth = 1e-3 * float(self._plant.contacts.facts()[0])
            if not depth:
                raise ArmError(
                    f'robot {task.robot.name!r}: the tool touches nothing; try gripper:=probe'
                )
            down = FORCE / self.stiffness - depth
        return q

    def reference(self, t: float, reference: Reference) -> None:
        """Write rest in contact, with the torque of the force, and the force as a goal."""
        reference.row[:] = 0.0
        reference.q[:] = self.q
        reference.wrench = self._task.wrench
        jacobian = self._loaded.robot.model.jacobian(self.q)
        reference.effort[:] = jacobian.T @ reference.wrench

    @cached_property
    def linear(self) -> tuple[LinearArms, LinearLaw]:
        """The arm on the surface, and the law: x is q, v and, if the law needs one, a wrench."""
        plant, own = self._plant, self._loaded
        carrier = own.robot.model.forward_kinematics(self.q, own.robot.model.tool_carrier)
        felt = np.append(carrier.rotation.T @ (FORCE * self._task.normal), np.zeros(3))
        senses = own.law_class.needs or own.law_class.goal_needs
        felt = felt if senses else np.zeros(0)
        period, n = plant.parameters.period, len(self.q)
        law = linear_law(own.law(), self.reference, WARM_UP, period, felt if len(felt) else None)

        def answer(point: Array) -> Array:
            """Return x after a period."""
            plant.reset(point[:n], point[n : 2 * n])
            plant.step(point[2 * n :])
            assert plant.measured.wrench is not None  # the task has the sensor
            wrench: Array = plant.measured.wrench[: len(felt)]
            return np.concatenate([plant.q, plant.v, wrench])

        still = np.concatenate([self.q, np.zeros(n), law.command])
        rows = derivatives(answer, still, min(_STEP, _SHARE * FORCE / self.stiffness))
        p = np.hstack([rows[:, : 2 * n], np.zeros((len(rows), len(felt)))])
        none = np.zeros((1, n, len(rows) + n))
        return LinearArms(p[np.newaxis], rows[np.newaxis, :, 2 * n :], none), law

    def margin(self, delay: int) -> float:
        """Return how fast the slowest error dies [1/s] with this delay [periods]."""
        arm, law = self.linear
        return float(ClosedLoops.of(arm, law, delay, self._plant.parameters.period).margins()[0])

    def stable_in_simulation(self, delay: int, duration: float = 2.0) -> bool:
        """Return whether the tool stays on the surface, and two runs come nearer to each other.

        The runs start _NUDGE apart. They are compared around the middle and at the end.
        """
        own, runs = self._loaded, []
        for start in (self.q, self.q + _NUDGE):
            loop = Loop(self._new_plant(delay), own.law(), self.reference)
            loop.reset(start)
            rows: list[Array] = []
            loop.run(duration, [lambda step, rows=rows: rows.append(_row(step))])  # type: ignore[misc]
            runs.append(np.array(rows))
            if len(rows) < round(duration / loop.period):  # a command that is not finite
                return False
        tenth = len(runs[0]) // 10
        apart = np.abs(runs[0] - runs[1])[:, 1:].max(axis=1)
        touches = min(each[5 * tenth :, 0].min() for each in runs) > _LOST * FORCE
        middle, end = apart[4 * tenth : 6 * tenth], apart[8 * tenth :]
        return bool(touches and apart.max() < _GROWN and end.max() < middle.max())


def _row(step: Step) -> Array:
    """Return the force and the joint positions (1 + n,)."""
    assert step.measured.wrench is not None  # the task has the sensor
    return np.append(np.linalg.norm(step.measured.wrench[:3]), step.q)


class Limit(NamedTuple):
    """Where a loop in contact becomes unstable.

    Attributes:
        law: its name.
        delay: of the commands [control periods].
        predicted: stiffness up to which the linear loop is stable [N/m]; 0: it is not at the
            least that was looked at; infinite: it is at the largest.
        found: the same by simulation [N/m]; None: there was none.
    """

    law: str
    delay: int
    predicted: float
    found: float | None = None


def contact_limits(
    experiment: Experiment, low: float, high: float, delays: range, simulate: bool = False
) -> list[Limit]:
    """Return the limits of a law for each delay, between two stiffnesses [N/m].

    `simulate`: those that are predicted between the two are also looked for by simulation.
    """
    contacts: dict[float, ContactLoop] = {}

    def at(stiffness: float) -> ContactLoop:
        if stiffness not in contacts:
            contacts[stiffness] = ContactLoop(experiment, stiffness)
        return contacts[stiffness]

    grid = np.geomspace(low, high, 1 + round(_PER_DECADE * np.log10(high / low)))
    found = []
    for delay in delays:

        def stable(stiffness: float, delay: int = delay) -> bool:
            return at(stiffness).margin(delay) >= 0.0

        ends = next((i for i, k in enumerate(grid.tolist()) if not stable(k)), len(grid))
        limit = np.inf
        if ends == 0:
            limit = 0.0
        elif ends < len(grid):
            limit = _between(stable, float(grid[ends - 1]), float(grid[ends]))
        each = Limit(experiment.law, delay, limit)
        if simulate and low <= limit < np.inf:
            each = each._replace(found=_found(experiment, each))
        found.append(each)
    return found


def _found(experiment: Experiment, limit: Limit) -> float:
    """Return the limit by simulation, looked for around the predicted one [N/m]."""

    def stable(stiffness: float) -> bool:
        return ContactLoop(experiment, stiffness).stable_in_simulation(limit.delay)

    low = high = limit.predicted
    if stable(low):
        while stable(high := high * _WIDER):
            low = high
    else:
        while not stable(low := low / _WIDER):
            high = low
    return _between(stable, low, high)


def _between(stable: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a loop that is stable at `low` and not at `high` becomes unstable."""
    while high > (1.0 + _TOLERANCE) * low:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if stable(middle) else (low, middle)
    return low
