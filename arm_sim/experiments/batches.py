"""A case on many arms as one batch, as far as a batch can do it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from arm_controllers.adapted_law import adapted_law
from arm_controllers.laws import Law
from arm_dynamics.checks import Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.experiments.cases import Case, plant_parameters, task_of
from arm_sim.experiments.laws import compared_class, law_parameters
from arm_sim.loop.batch_loop import run_batch
from arm_sim.loop.batch_measures import BatchMeasures
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.closed_loop import Event, Imperfections, replacement
from arm_sim.robot import Robot
from arm_sim.tasks import Task


def measure_batch(
    case: Case, laws: Sequence[str], draws: Sequence[tuple[ModelError, Imperfections]]
) -> Iterator[Array]:
    """Give, law by law, tracking RMS [mm] and joint RMS (2, N) of each arm that is drawn.

    inf: the loop was unstable; nan: a batch cannot do it, and the one-arm loop is to be asked.
    """
    robot = case.load()
    task = task_of(case, robot)
    nothing = np.full((2, len(draws)), np.nan)
    plants: dict[str, tuple[BatchPlant, list[Event]]] = {}  # one batch serves many laws
    for name in laws:
        interface = compared_class(name).command_interface
        law = _law_of_many(replace(case, law=name), robot)
        if law is None or case.drives.compensates or type(task).run is not Task.run:
            yield nothing
            continue
        if interface not in plants:
            plants[interface] = _plants(replace(case, law=name), robot, task, draws)
        plant, events = plants[interface]
        measures = BatchMeasures(robot.model, len(draws), plant.parameters.period_ns * 1e-9)
        given = [imperfections for _, imperfections in draws]
        alive, beyond = run_batch(
            plant, law, task.reference, task.duration, [measures], events, given
        )
        found = measures.results()
        answers = np.array([found['tracking_rms_mm'], found['joint_rms_rad']])
        answers[:, ~alive | ~np.isfinite(answers).all(axis=0)] = np.inf
        answers[:, beyond] = np.nan
        yield answers


def _plants(
    case: Case, robot: Robot, task: Task, draws: Sequence[tuple[ModelError, Imperfections]]
) -> tuple[BatchPlant, list[Event]]:
    """Return the arms of a case, and what happens to them."""
    parameters = plant_parameters(case, robot)
    arms = [with_error(robot.model, error) for error, _ in draws]
    events = task.push.events() if task.push else []
    if task.drop_at is not None:
        events.append(replacement(task.drop_at, BatchPlant(arms, parameters, case.engine)))  # type: ignore[arg-type]
    loaded = (with_error(arm, ModelError(payload=task.payload)) for arm in arms)
    return BatchPlant(loaded, parameters, case.engine), events


def _law_of_many(case: Case, robot: Robot) -> Law | None:
    """Return a law that commands many arms; None: the law commands one arm only."""
    cls = compared_class(case.law)
    if not cls.many_arms:
        return None
    told = law_parameters(case.law, robot, case.natural_frequency)
    motion = case.friction_velocity, case.reference_motion
    return adapted_law(cls, BatchModel(robot.model), told, *motion)
