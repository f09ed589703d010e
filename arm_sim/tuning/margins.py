"""How far a loop is from instability, along a task: for what is believed, and for what may be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.adapted_law import adapted_law
from arm_controllers.discrete_motion import MOTIONS
from arm_controllers.known_friction import FRICTION_VELOCITIES
from arm_controllers.laws import Law, law_class
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.parameters import parameter
from arm_sim.experiments.monte_carlo import tabulated
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters
from arm_sim.tasks import make_task
from arm_sim.tuning.linear_law import WARM_UP, LinearLaw, linear_law
from arm_sim.tuning.linear_loop import ClosedLoops, LinearArms, end_to_end, linear_arms
from arm_sim.tuning.trial import Trial

_INSTANTS = 25  # of a task at which the loop is looked at
_MORE = 8  # periods of delay on top that are tried
FACTORS = np.geomspace(0.25, 4.0, 17)  # of all inertials, the middle one is 1


@dataclass(frozen=True)
class Loop(Trial):
    """A law on an arm along a task, with what is between them."""

    feedforward: str = ''  # level of a servo; empty: as in the files
    natural_frequency: float = parameter(
        0.0, 'natural frequency of the law [rad/s]; 0: gains of the files', min=0, max=1e4
    )
    reference_motion: str = parameter('continuous', 'reference motion of the law', one_of=MOTIONS)
    friction_velocity: str = parameter(
        'measured', 'velocity of the friction compensation', one_of=FRICTION_VELOCITIES
    )
    delay: int = parameter(0, 'delay of commands [control periods]', min=0, max=50)
    position_noise: float = parameter(0.0, 'standard deviation of positions [rad | m]', min=0)
    velocity_noise: float = parameter(0.0, 'standard deviation of velocities [rad/s | m/s]', min=0)

    def gains(self, robot: Robot) -> Any:
        """Return the law's parameters."""
        law = law_class(self.law)
        level = {'feedforward': self.feedforward} if self.feedforward else {}
        if not self.natural_frequency:
            return replace(self.shipped(robot), **level)
        if law.designed is None:
            raise ArmError(f'law {self.law!r} has no design; leave natural_frequency out')
        return replace(
            law.designed(robot.model, robot.start, self.natural_frequency, 1.0), **level
        )

    def plant_of(self, robot: Robot) -> PlantParameters:
        """Return the plant's parameters; a servo's gains are the law's."""
        plant, gains = self.plant(robot), self.gains(robot)
        if plant.actuator == 'servo':
            plant = replace(plant, servo_kp=gains.servo_kp, servo_kd=gains.servo_kd)
        return plant

    def make(self, robot: Robot, model: Any) -> Law:
        """Return the law with a model of one arm or of many."""
        motion = self.friction_velocity, self.reference_motion
        return adapted_law(law_class(self.law), model, self.gains(robot), *motion)


class Course(NamedTuple):
    """Loops of N arms at k instants of a task.

    Attributes:
        times: (k,) [s].
        laws: (k,) the law at each.
        arms: (k,) the arms at each.
        jacobians: (k, 3, n) of the tip's position.
        period: of control [s].
        squarings: an instant stands for 2^squarings periods, some share of the task.
    """

    times: Array
    laws: list[LinearLaw]
    arms: list[LinearArms]
    jacobians: Array
    period: float
    squarings: int

    def closed(self, which: Any, delay: int) -> Iterator[ClosedLoops]:
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


def course_of(loop: Loop, models: Sequence[RobotModel]) -> Course:
    """Return the loops of arms that are not quite the one that the law knows.

    Raises:
        ArmError: no such law, robot or task, or a task that is too short.
    """
    robot = loop.load()
    task, model = make_task(loop.task, robot), robot.model
    loaded = [with_error(each, ModelError(payload=task.payload)) for each in models]
    told = loop.plant_of(robot)
    for name in told.drives():
        raise ArmError(f'{name}: margins are of arms without such drives; --delay is a delay')
    plant = BatchPlant(loaded, told, loop.engine)
    period = plant.parameters.period_ns * 1e-9
    law, follow = loop.make(robot, model), tabulated(task.reference)
    last = round(task.duration / period) - 1
    if last < WARM_UP + _INSTANTS:
        raise ArmError(f'task {loop.task!r} lasts {task.duration:g} s: too short for margins')
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
        loop: what was asked.
        period: of control [s].
        times: (k,) instants of the task [s].
        along: (k, d) margin [1/s] of the loop as it is at each, by delay, 0 periods and more.
        over: (f, d) margin from end to end, over FACTORS and delay.
        tip_mm, chatter_nm: what the noise makes of the tip's error and the torque's change.
    """

    loop: Loop
    period: float
    times: Array
    along: Array
    over: Array
    tip_mm: float
    chatter_nm: float

    @property
    def margin(self) -> float:
        """How fast small errors die from end to end of the task [1/s]; negative: they grow."""
        return float(self.over[len(FACTORS) // 2, self.loop.delay])

    @property
    def worst(self) -> tuple[float, float]:
        """Least margin on the way [1/s], and when [s]."""
        now = self.along[:, self.loop.delay]
        return float(now.min()), float(self.times[now.argmin()])

    @property
    def more_delay(self) -> int | None:
        """Periods of delay on top with which it is stable; None: more than were tried."""
        late = np.flatnonzero(self.over[len(FACTORS) // 2, self.loop.delay :] < 0.0)
        return int(late[0]) - 1 if len(late) else None

    @property
    def factors(self) -> tuple[float, float]:
        """Least and largest factor on all inertials, of FACTORS, around 1 that is stable."""
        stable, middle = self.over[:, self.loop.delay] >= 0.0, len(FACTORS) // 2
        if not stable[middle]:
            return 1.0, 1.0
        unstable = np.flatnonzero(~stable)
        least = max((i + 1 for i in unstable if i < middle), default=0)
        most = min((i - 1 for i in unstable if i > middle), default=len(FACTORS) - 1)
        return float(FACTORS[least]), float(FACTORS[most])


def margins_of(loop: Loop) -> Margins:
    """Return a loop's margins; see `course_of` for what is refused."""
    robot = loop.load()
    arms = [with_error(robot.model, ModelError(mass_scale=(x,))) for x in FACTORS.tolist()]
    course, middle = course_of(loop, arms), len(arms) // 2
    along, over = [], []
    for delay in range(loop.delay + _MORE + 1):
        over.append(end_to_end(course.closed(slice(None), delay), course.squarings))
        along.append([loops.margins()[0] for loops in course.closed([middle], delay)])
    deviations = np.repeat([loop.position_noise, loop.velocity_noise], robot.model.nv)
    tips, chatters = [], []
    told = course.closed([middle], loop.delay)
    for loops, jacobian in zip(told, course.jacobians, strict=True):
        spread, chatter = loops.noise(deviations)
        tips.append(np.trace(jacobian @ spread[0] @ jacobian.T))
        chatters.append(chatter[0] ** 2)
    tip, shake = 1e3 * np.sqrt(np.mean(tips)), np.sqrt(np.mean(chatters))
    return Margins(
        loop, course.period, course.times, np.array(along).T, np.array(over).T, float(tip),
        float(shake),
    )  # fmt: skip
