"""A law with its gains, tried on many drawn arms as one batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.laws import law_class
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.experiments.monte_carlo import Ranges, tabulated
from arm_sim.loop.batch_choice import batch_of
from arm_sim.loop.batch_loop import run_batch
from arm_sim.loop.batch_measures import BatchMeasures
from arm_sim.loop.closed_loop import Imperfections, replacement
from arm_sim.loop.many_arms import ManyArms
from arm_sim.loop.mujoco_batch import MujocoBatch
from arm_sim.robot import Robot
from arm_sim.simulation.plant import ACTUATOR_FOR, PlantParameters
from arm_sim.tasks import Task, make_task

SHAKING = 0.1  # chatter over the effort limits from which an arm counts as unstable


@dataclass(frozen=True)
class Trial(Parameters):
    """What is tried: who does what, on which arms. Gains, steps and drives stand in the files.

    Attributes:
        robot, task, law, engine: by name.
        config: parameter file over the robot's own.
        ranges: what is drawn.
    """

    robot: str
    task: str
    law: str
    engine: str = 'mujoco'
    config: str = ''
    ranges: Ranges = field(default_factory=Ranges)
    seed: int = parameter(0, 'random seed of the drawn arms', min=0)

    def load(self) -> Robot:
        """Return the robot."""
        return Robot.load(self.robot, self.config)

    def shipped(self, robot: Robot) -> Any:
        """Return the law's parameters as the files and the law itself have them."""
        told = robot.parameters(f'{self.law}_controller')
        return read_fields(law_class(self.law).Parameters, told, '', robot.model.joint_names)

    def plant(self, robot: Robot) -> PlantParameters:
        """Return the plant's parameters for this law.

        Raises:
            ArmError: the law commands voltages, which a batch does not take.
        """
        interface = law_class(self.law).command_interface
        if interface == 'voltage':
            raise ArmError(
                f'law {self.law!r} commands voltages; tuned are laws that command torques or '
                'positions (the five-joint arm has tune_pose_hold)'
            )
        told = robot.parameters('simulator')
        if told.get('integrator') == 'lagged_euler':  # voltages alone have it
            told = told | {'integrator': 'implicitfast'}
        return replace(read_fields(PlantParameters, told), actuator=ACTUATOR_FOR[interface])


class Drawn(NamedTuple):
    """Arms [first, first + number) of a trial's draws, with so many periods of delay on top."""

    first: int
    number: int
    more_delay: int = 0


COLUMNS = ('tracking RMS [mm]', 'torque share', 'chatter share', 'unstable')


def try_gains(trial: Trial, arms: Sequence[Drawn], candidates: Sequence[Any]) -> Array:
    """Return COLUMNS (candidates, arms, 4) of the arms under each of the law's parameters.

    The torque is the largest over the arm's own effort limit, the chatter the RMS change from
    period to period over the RMS of the model's. inf: the loop left the finite numbers.
    """
    robot, task, models, imperfections, later = _arms(trial, tuple(arms))
    plant = trial.plant(robot)
    told = [_drives(plant, each) for each in candidates]
    count, size = len(models), len(models) * len(candidates)

    def run(rows: Any, make: Callable[..., ManyArms]) -> tuple[dict[str, Any], Any]:
        """Return the measures of some of all rows, and which were beyond what the batch has."""
        own = [divmod(int(row), count) for row in rows]
        gains, drives = [candidates[k] for k, _ in own], [told[k] for k, _ in own]
        many = make([models[arm] for _, arm in own], drives)
        events: list[Any] = task.push.events() if task.push else []
        if task.drop_at is not None:
            bare = make([later[arm] for _, arm in own], drives)
            events.append(replacement(task.drop_at, bare))  # type: ignore[arg-type]
        law = law_class(trial.law)(BatchModel(robot.model), gains)
        measures = BatchMeasures(robot.model, len(own), plant.period_ns * 1e-9)
        alive, beyond = run_batch(
            many, law, task.reference, task.duration, [measures], events,
            [imperfections[arm] for _, arm in own],
        )  # fmt: skip
        return measures.results() | {'alive': alive}, beyond

    found, beyond = run(range(size), partial(batch_of, engine=trial.engine))
    columns = _columns(robot.model, models * len(candidates), found)
    beyond &= columns[3] == 0.0
    if beyond.any():  # stable so far, but at a joint's limit: only MuJoCo has it
        found, _ = run(np.flatnonzero(beyond), MujocoBatch)
        hit = [models[row % count] for row in np.flatnonzero(beyond)]
        columns[:, beyond] = _columns(robot.model, hit, found)
    return np.moveaxis(columns.reshape(4, len(candidates), count), 0, -1)


def _columns(model: RobotModel, arms: Sequence[RobotModel], found: dict[str, Any]) -> Array:
    """Return COLUMNS (4, N) of arms with these measures; `model` is what the law knows."""
    limit = np.where(np.isfinite(model.effort_limit), model.effort_limit, 0.0)
    own = np.array([limit[0] / arm.effort_limit[0] if limit[0] else 1.0 for arm in arms])
    scale = np.sqrt(np.mean(limit**2)) or 1.0
    alive, chatter = found['alive'], found['chatter_nm'] / scale
    rows = np.array([found['tracking_rms_mm'], found['peak_torque_share'] * own, chatter])
    lost = ~alive | ~np.isfinite(rows).all(axis=0)
    rows[:, lost] = np.inf
    return np.vstack([rows, lost | ~(chatter < SHAKING)])


def _drives(plant: PlantParameters, law: Any) -> PlantParameters:
    """Return the plant's parameters under a law; a servo's gains are the law's."""
    if plant.actuator != 'servo':
        return plant
    return replace(plant, servo_kp=law.servo_kp, servo_kd=law.servo_kd)


@lru_cache(4)
def _arms(
    trial: Trial, arms: tuple[Drawn, ...]
) -> tuple[Robot, Task, list[RobotModel], list[Imperfections], list[RobotModel]]:
    """Return robot, task, the arms with its payload, their imperfections, and the arms without."""
    robot = trial.load()
    task = make_task(trial.task, robot)
    if type(task).run is not Task.run:
        raise ArmError(f'task {trial.task!r} has a loop of its own; a tuning cannot run it')
    task.reference = tabulated(task.reference)
    models, imperfections = [], []
    for drawn in arms:
        for index in range(drawn.first, drawn.first + drawn.number):
            error, loop = trial.ranges.draw(robot, trial.seed, index)
            models.append(with_error(robot.model, error))
            delay = trial.ranges.delay if drawn.more_delay else loop.delay
            imperfections.append(replace(loop, delay=delay + drawn.more_delay))
    loaded = [with_error(arm, ModelError(payload=task.payload)) for arm in models]
    return robot, task, loaded, imperfections, models
