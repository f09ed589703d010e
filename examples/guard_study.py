"""What the guard's residuals are without contact, on drawn arms and motions, and at a push."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.stats import genpareto

from arm_controllers.guard import GuardState
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model import RobotModel
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.events import Push, pushes_of_each
from arm_sim.loop.loop import Loop, Step

LEG = 2.5  # duration of a drawn motion with the rest after it [s]
LEGS = 16  # of one arm
CHUNK = 250  # arms that run together
PUSH_TIME = 0.3  # [s]
_TAIL = 0.02  # share of the maxima of legs to which the tail is fitted
_MARGIN = 1.1  # of a threshold over the largest residual that was seen
_NEVER = 1e9  # a threshold that nothing passes [N.m]


class DrawnLegs:
    """Motions from rest to rest between random positions, of many arms: a ReferenceFunction.

    Each leg has a random duration of at most 90 % of LEG, the rest of it is rest. The fastest
    joint reaches 10 to 80 % of its velocity limit; legs that need more than 80 % of a torque limit
    are shortened to 30 % of their way.
    """

    def __init__(self, model: BatchModel, rng: np.random.Generator, arms: int):
        """Draw starts within the limits, at most pi from zero."""
        self._model, self._rng, self._leg = model, rng, 0
        self._ends = (
            np.maximum(model.position_lower, -np.pi),
            np.minimum(model.position_upper, np.pi),
        )
        self._q = rng.uniform(*self._ends, (arms, model.nv))
        self._draw()

    def __call__(self, t: float, reference: Reference) -> None:
        """Write the references (N, n) at t [s], which may not go back to a leg before."""
        leg = int(t / LEG + 1e-9)
        while leg > self._leg:
            self._q, self._leg = self._q + self._way, self._leg + 1
            self._draw()
        q, v, a = self._at(np.clip((t - leg * LEG) / self._duration, 0.0, 1.0))
        reference.q[:], reference.v[:], reference.a[:] = q, v, a

    def _at(self, x: Array | float) -> tuple[Array, Array, Array]:
        """Return positions, velocities, accelerations (N, n) after a share x of the legs."""
        share = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
        rate, change = 30.0 * (x * (1.0 - x)) ** 2, 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)
        speed = self._way / self._duration
        return self._q + share * self._way, rate * speed, change * speed / self._duration

    def _draw(self) -> None:
        model, rng, shape = self._model, self._rng, self._q.shape
        way = rng.uniform(*self._ends, shape) - self._q
        self._duration = rng.uniform(0.3 * LEG, 0.9 * LEG, (shape[0], 1))
        fastest = rng.uniform(0.1, 0.8, (shape[0], 1)) * model.velocity_limit
        most = fastest * self._duration / 1.875
        self._way = way * np.minimum(
            1.0, (most / np.maximum(np.abs(way), 1e-9)).min(axis=-1, keepdims=True)
        )
        torques = [model.inverse_dynamics(*self._at(x)) for x in np.linspace(0.0, 1.0, 11)]
        beyond = (np.abs(torques) > 0.8 * model.effort_limit).any(axis=(0, 2))
        self._way[beyond] *= 0.3


def guarded(experiment: Experiment, guard: GuardParameters) -> Experiment:
    """Return the experiment with a guard that watches all joints and never reacts."""
    quiet = replace(guard, reaction='stop', threshold=(_NEVER,), step_threshold=(_NEVER,))
    return replace(experiment, guard=quiet)


def _loop(experiment: Experiment, arms: range, pushes: Sequence[Push] | None = None) -> Loop:
    loaded, seed = experiment.load(), experiment.seed
    model = loaded.robot.model
    if loaded.law_class.command_interface != 'effort':
        raise ArmError(f'law {experiment.law!r}: the guard is for laws that command effort')
    draws = [experiment.ranges.draw(model, seed, index) for index in arms]
    plant, _ = loaded.batch(draws)
    many = BatchModel(model)
    legs = DrawnLegs(many, np.random.default_rng([seed, arms.start, 1]), len(arms))
    events = pushes_of_each(pushes, plant.parameters.period) if pushes else ()
    return Loop(plant, loaded.batch_law(many), legs, events, per_arm=True)


def _sizes(loop: Loop) -> Array:
    """Return |r| and |r - mean(r)| now, (2, N, n)."""
    state = GuardState(*loop.law_state)  # type: ignore[misc]  # after a step
    return np.abs(np.array([state.residual, state.residual - state.mean]))


def residual_maxima(experiment: Experiment, arms: range) -> Array:
    """Return the largest |r| and |r - mean(r)| of each leg (legs, 2, n), arm after arm [N.m | N].

    `experiment` has a guard by `guarded`; `arms` are numbers of drawn arms, which also decide on
    the motions.
    """
    loop = _loop(experiment, arms)
    periods, n = round(LEG / loop.period), len(loop.plant.joint_names)
    found = np.zeros((LEGS, 2, len(arms), n))

    def keep(step: Step) -> None:
        own = found[min(step.number // periods, LEGS - 1)]
        np.maximum(own, _sizes(loop), out=own)

    loop.run(LEGS * LEG, [keep])
    found[:, :, ~loop.alive] = np.inf
    return np.moveaxis(found, 2, 0).reshape(-1, 2, n)


def thresholds_of(maxima: Array, alarms: float) -> Array:
    """Return thresholds (2, n) that all together are passed `alarms` times per leg on average.

    The tail of each joint's maxima (legs, 2, n), their largest 2 %, is extrapolated by a
    generalised Pareto distribution, whose shape is taken one standard error larger than fitted,
    and at most 0, an exponential tail. A threshold is at least 10 % above the largest value seen.

    Raises:
        ArmError: there are less than 1000 legs.
    """
    legs, _, n = maxima.shape
    if legs < 1000:
        raise ArmError(f'{legs} drawn motions; a tail needs 1000 or more')
    ordered = np.sort(maxima, axis=0)
    count = max(round(_TAIL * legs), 50)
    share = alarms / (2 * n) * legs / count  # of the tail that may pass
    found = np.empty((2, n))
    for place in np.ndindex(2, n):
        start, tail = ordered[-count - 1, *place], ordered[-count:, *place]
        shape, _, scale = genpareto.fit(tail - start, floc=0.0)
        shape = min(shape + (1.0 + shape) / np.sqrt(count), -1e-6)
        found[place] = start + scale / shape * (share**-shape - 1.0)
    return np.maximum(found, _MARGIN * ordered[-1])


def alarms_of(maxima: Array, thresholds: Array) -> NDArray[np.bool_]:
    """Return which legs (legs,) would have had an alarm."""
    passed: NDArray[np.bool_] = (maxima > thresholds).any(axis=(1, 2))
    return passed


class Pushes(NamedTuple):
    """Detection of pushes.

    Attributes:
        times: (thresholds, N) from the start of the push to the detection [s]; inf: none.
        torque: (N,) largest torque that the push exerts on a joint at its start [N.m | N].
    """

    times: Array
    torque: Array


def pushed(experiment: Experiment, arms: range, force: float, limits: Array) -> Pushes:
    """Return how long each of several thresholds (k, 2, n) needs to detect a push of each arm.

    A push is a force [N] for 0.3 s, on the origin of a random link or on the tool, in a random
    direction, at a random time of the second leg. Passing a threshold before is no detection.
    """
    model = experiment.load().robot.model
    rng = np.random.default_rng([experiment.seed, arms.start, 2])
    links = links_of(model)
    direction = rng.normal(size=(len(arms), 3))
    direction *= force / np.linalg.norm(direction, axis=1, keepdims=True)
    starts = LEG + rng.uniform(0.0, 0.8 * LEG, len(arms))
    frames = [links[k] for k in rng.integers(len(links), size=len(arms))]
    pushes = [
        Push(frame, (*f, 0.0, 0.0, 0.0), t, t + PUSH_TIME)
        for frame, f, t in zip(frames, direction.tolist(), starts.tolist(), strict=True)
    ]
    loop = _loop(experiment, arms, pushes)
    first = np.round(starts / loop.period)
    last = first + round(PUSH_TIME / loop.period)
    times, torque = np.full((len(limits), len(arms)), np.inf), np.zeros(len(arms))

    def watch(step: Step) -> None:
        for arm in np.flatnonzero(first == step.number):
            jacobian = model.jacobian(step.q[arm], frames[arm])[:3]
            torque[arm] = np.abs(jacobian.T @ direction[arm]).max()
        hit = (_sizes(loop) > limits[:, :, np.newaxis]).any(axis=(1, 3))
        hit &= (step.number > first) & (step.number <= last) & np.isinf(times)
        times[hit] = np.broadcast_to((step.number - first) * loop.period, times.shape)[hit]

    loop.run(2 * LEG, [watch])
    return Pushes(times, torque)


def links_of(model: RobotModel) -> list[str]:
    """Return the link of each moving joint, and the tool frame."""
    frames = [each for each in model.pin_model.frames if each.type == pin.FrameType.BODY]
    joints = range(1, model.pin_model.njoints)
    links = [next(f.name for f in frames if f.parentJoint == joint) for joint in joints]
    return [*links, model.tip_frame]
