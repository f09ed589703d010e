"""How far a loop is from instability, along a task: for what is believed, and for what may be."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.parameters import ParameterValues
from arm_lab.experiments.batchable import check_tunable
from arm_lab.experiments.drawn_arms import tabulated
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.tuning.linear_law import WARM_UP, LinearLaw, linear_law
from arm_lab.tuning.linear_loop import ClosedLoops, LinearArms, end_to_end, linear_arms
from arm_sim.devices import SensorParameters
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.simulation.plant import PlantParameters

_INSTANTS = 25  # of a task at which the loop is looked at
_MORE = 8  # periods of delay on top that are tried
FACTORS = np.geomspace(0.25, 4.0, 17)  # of all inertials, the middle one is 1


class Course(NamedTuple):
    """Loops of N arms at k instants of a task.

    Attributes:
        times: (k,) [s].
        laws: (k,) the law at each.
        arms: (k,) the arms at each.
        jacobians: (k, 3, n) of the tip's position.
        period: of control [s].
        squarings: an instant represents 2^squarings periods, some share of the task.
    """

    times: Array
    laws: list[LinearLaw]
    arms: list[LinearArms]
    jacobians: Array
    period: float
    squarings: int

    def closed(
        self, which: int | slice | list[int] | NDArray[np.intp], delay: int
    ) -> Iterator[ClosedLoops]:
        """Give (k,) the loops of some arms, by number or slice, with commands so late."""
        for law, arms in zip(self.laws, self.arms, strict=True):
            some = LinearArms(*(each[which] for each in arms))
            yield ClosedLoops.of(some, law, delay, self.period)

    def margins(self, delays: Sequence[int]) -> Array:
        """Return how fast errors die from end to end (N,) [1/s]; each arm has its delay."""
        late, found = np.asarray(delays), np.empty(len(delays))
        for delay in np.unique(late):
            which = np.flatnonzero(late == delay)
            found[which] = end_to_end(self.closed(which, int(delay)), self.squarings)
        return found


def linear_plant(loaded: LoadedExperiment) -> PlantParameters:
    """Return the plant's parameters without delay and noise, which the loops have of their own.

    Raises:
        ArmError: drives or sensors that are not linear.
    """
    plant = loaded.plant_parameters()
    for name in plant.drives():
        if name != 'command_delay':
            raise ArmError(f'{name}: margins are of arms without such drives; --delay is a delay')
    if plant.has_drive_trains:
        raise ArmError('joints.*: margins are of arms with rigid joints')
    exact: ParameterValues = vars(SensorParameters()) | {'command_delay': 0}
    for name in ('sensor_model', 'encoder_resolution', 'sensor_delay', 'dropout'):
        if getattr(plant, name) != exact[name]:
            raise ArmError(f'{name}: margins are of arms without such sensors')
    return replace(plant, **exact)


def course_of(experiment: Experiment, models: Sequence[RobotModel]) -> Course:
    """Return the loops of arms that differ from the one that the law knows.

    Raises:
        ArmError: no such law, robot or task, or a task that is too short.
    """
    own = experiment.load()
    task, model = own.task, check_tunable(own)
    loaded = [with_error(each, ModelError(payload=task.payload)) for each in models]
    plant = BatchPlant(loaded, linear_plant(own), experiment.engine)
    period = plant.parameters.period_ns * 1e-9
    law, follow = own.law(), tabulated(task.reference)
    last = round(task.duration / period) - 1
    if last < WARM_UP + _INSTANTS:
        raise ArmError(
            f'task {experiment.task!r} lasts {task.duration:g} s: too short for margins'
        )
    part = (last - WARM_UP) / _INSTANTS
    instants = (WARM_UP + part * (np.arange(_INSTANTS) + 0.5)).astype(int)
    laws, arms, jacobians, reference = [], [], [], Reference(model.nv)
    for k in instants:
        laws.append(linear_law(law, follow, int(k), period))
        follow(round(k * period * 1e9) * 1e-9, reference)
        arms.append(linear_arms(plant, reference.q, reference.v, laws[-1].command))
        jacobians.append(model.jacobian(reference.q)[:3])
    squarings = max(0, round(np.log2(part)))
    return Course(instants * period, laws, arms, np.array(jacobians), period, squarings)


class Margins(NamedTuple):
    """What is known of a loop beforehand.

    Attributes:
        experiment: whose loop it is.
        delay: of the commands [control periods].
        sensors: whose noise the loop has.
        period: of control [s].
        times: (k,) instants of the task [s].
        along: (k, d) margin [1/s] of the loop as it is at each, by delay, 0 periods and more.
        over: (f, d) margin from end to end, over FACTORS and delay.
        tip_mm, chatter_nm: what the noise makes of the tip's error and the torque's change.
    """

    experiment: Experiment
    delay: int
    sensors: SensorParameters
    period: float
    times: Array
    along: Array
    over: Array
    tip_mm: float
    chatter_nm: float

    @property
    def margin(self) -> float:
        """How fast small errors die from end to end of the task [1/s]; negative: they grow."""
        return float(self.over[len(FACTORS) // 2, self.delay])

    @property
    def worst(self) -> tuple[float, float]:
        """Least margin on the way [1/s], and when [s]."""
        now = self.along[:, self.delay]
        return float(now.min()), float(self.times[now.argmin()])

    @property
    def more_delay(self) -> int | None:
        """Periods of delay on top with which it is stable; None: more than were tried."""
        late = np.flatnonzero(self.over[len(FACTORS) // 2, self.delay :] < 0.0)
        return int(late[0]) - 1 if len(late) else None

    @property
    def factors(self) -> tuple[float, float]:
        """Least and largest factor on all inertials, of FACTORS, around 1 that is stable."""
        stable, middle = self.over[:, self.delay] >= 0.0, len(FACTORS) // 2
        if not stable[middle]:
            return 1.0, 1.0
        unstable = np.flatnonzero(~stable)
        least = max((i + 1 for i in unstable if i < middle), default=0)
        most = min((i - 1 for i in unstable if i > middle), default=len(FACTORS) - 1)
        return float(FACTORS[least]), float(FACTORS[most])


def margins_of(experiment: Experiment) -> Margins:
    """Return the margins of an experiment's loop; `course_of` says what is refused."""
    own = experiment.load()
    robot, plant = own.robot, own.plant_parameters()
    own_delay = plant.command_delay
    arm = with_error(robot.model, experiment.error)
    arms = [with_error(arm, ModelError(mass_scale=(x,))) for x in FACTORS.tolist()]
    course, middle = course_of(experiment, arms), len(arms) // 2
    along, over = [], []
    for delay in range(own_delay + _MORE + 1):
        over.append(end_to_end(course.closed(slice(None), delay), course.squarings))
        along.append([loops.margins()[0] for loops in course.closed([middle], delay)])
    deviations = np.repeat([plant.position_noise, plant.velocity_noise], robot.model.nv)
    tips, chatters = [], []
    own_loops = course.closed([middle], own_delay)
    for loops, jacobian in zip(own_loops, course.jacobians, strict=True):
        spread, chatter = loops.noise(deviations)
        tips.append(np.trace(jacobian @ spread[0] @ jacobian.T))
        chatters.append(chatter[0] ** 2)
    tip, shake = 1e3 * np.sqrt(np.mean(tips)), np.sqrt(np.mean(chatters))
    return Margins(
        experiment, own_delay, plant, course.period, course.times, np.array(along).T,
        np.array(over).T, float(tip), float(shake),
    )  # fmt: skip
