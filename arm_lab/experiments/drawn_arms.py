"""Drawn arms under laws: as one batch, and arm by arm what a batch cannot do."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_controllers.laws import Law
from arm_controllers.reference import Reference, ReferenceFunction
from arm_dynamics.checks import Array
from arm_dynamics.compiled import BatchModel
from arm_lab.experiments.experiment import LoadedExperiment
from arm_lab.experiments.ranges import Draw
from arm_sim.loop.batch_measures import BatchMeasures
from arm_sim.loop.events import Event
from arm_sim.loop.loop import Loop, Observer
from arm_sim.loop.many_arms import ManyArms
from arm_sim.simulation.plant import RIGID_BODY_ENGINES
from arm_sim.tasks import Task


class BatchRun(NamedTuple):
    """What came of N arms.

    Attributes:
        measures: arrays (N,) by name.
        alive: (N,) whether all commands were finite.
        beyond: (N,) whether an arm has been where the batch models less than the engine.
    """

    measures: dict[str, Array]
    alive: NDArray[np.bool_]
    beyond: NDArray[np.bool_]


def run_batch(
    task: Task,
    law: Law,
    plant: ManyArms,
    events: Iterable[Event] = (),
    observers: Iterable[Observer] = (),
    reference: ReferenceFunction | None = None,
) -> BatchRun:
    """Run a task on all arms of a batch; `reference` is in place of the task's own."""
    loop = Loop(plant, law, reference or task.reference, events)
    facts = plant.contacts.facts if plant.parameters.touching else None
    forces = None if plant.measured.wrench is None else task.force_samples
    given = task.robot.model, plant.size, loop.period, task.event, facts, forces
    measures = BatchMeasures(*given)
    loop.run(task.duration, [measures, *observers])
    return BatchRun(measures.results(), loop.alive, loop.beyond)


def measure_batch(
    loaded: LoadedExperiment, laws: Sequence[str], draws: Sequence[Draw]
) -> Iterator[Array]:
    """Yield, law by law, tracking RMS [mm], joint RMS and what ranks laws (3, N) of each arm.

    inf: the loop was unstable; nan: a batch cannot do it, and the arm has to run alone.
    """
    nothing = np.full((3, len(draws)), np.nan)
    task, plants = loaded.task, dict[str, Any]()  # one batch serves many laws
    model, engine = BatchModel(loaded.robot.model), loaded.experiment.engine
    for name in laws:
        own = loaded.changed(law=name)
        drives, interface = loaded.experiment.drives, own.law_class.command_interface
        alone = not own.law_class.many_arms or engine not in RIGID_BODY_ENGINES
        if alone or drives.compensates or type(task).run is not Task.run:
            yield nothing
            continue
        if interface not in plants:
            plants[interface] = own.batch(draws)
        plant, events = plants[interface]
        run = run_batch(task, own.batch_law(model), plant, events)
        names = 'tracking_rms_mm', 'joint_rms_rad', task.evaluation.ranked_by
        answers = np.array([run.measures[each] for each in names])
        answers[:, ~run.alive | ~np.isfinite(answers).all(axis=0)] = np.inf
        answers[:, run.beyond] = np.nan
        yield answers


def tabulated(reference_function: ReferenceFunction) -> ReferenceFunction:
    """Return a reference that is computed once at every time."""
    rows: dict[float, Array] = {}

    def tabulated_reference(t: float, reference: Reference) -> None:
        if t not in rows:
            reference_function(t, reference)
            rows[t] = reference.row.copy()
        reference.row[:] = rows[t]

    return tabulated_reference
