"""A case on many arms as one batch, as far as a batch can do it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from arm_controllers.adapters.discrete_motion import following
from arm_controllers.adapters.known_friction import answering_friction
from arm_controllers.laws import Law
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.batch.batch_loop import run_batch
from arm_sim.batch.batch_measures import BatchMeasures
from arm_sim.batch.batch_plant import BatchPlant
from arm_sim.comparison.cases import Case, law_of, plant_parameters, task_of
from arm_sim.comparison.laws import compared_class, law_parameters
from arm_sim.runs.closed_loop import Event, Imperfections, replacement
from arm_sim.runs.robot import Robot
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
    """Return a law that commands many arms; None where it does not command each as if alone."""
    cls = compared_class(case.law)
    n, rng = robot.model.nv, np.random.default_rng(0)
    q, v = robot.start + rng.uniform(-0.1, 0.1, (2, 3, n)), rng.uniform(-0.1, 0.1, (2, 3, n))
    single = law_of(case, robot)
    try:
        told = law_parameters(case.law, robot, case.natural_frequency)
        many = answering_friction(cls, BatchModel(robot.model), told, case.friction_velocity)
        law = following(many, case.reference_motion)
        found = _commands(law, q, v)
    except (ArmError, ArithmeticError, LookupError, TypeError, ValueError):
        return None
    for arm in range(3):
        expected = _commands(single, q[:, arm], v[:, arm])
        scale = 1e-9 * max(1.0, np.abs(expected).max())
        if found.shape != (2, 3, n) or np.abs(found[:, arm] - expected).max() > scale:
            return None
    return law


def _commands(law: Law, q: Array, v: Array) -> Array:
    """Return the commands at two states (2, ..., n), one after the other."""
    reference = Reference(q.shape[-1], q.shape[1:-1])
    reference.q[:] = q[0] + 0.01
    law.reset(q[0], v[0])
    return np.array([law(*state, reference, 1e-3).copy() for state in zip(q, v, strict=True)])
