"""Arms of an experiment under a law and actions on top of it: observation, reward, end."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_controllers.measurement import Measurement
from arm_controllers.policy_layout import PolicyLayout
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array, one_of
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.ranges import Draw
from arm_lab.experiments.suited import suited
from arm_lab.gym.arguments import made_of, per_joint
from arm_sim.devices import SensorParameters
from arm_sim.loop.batch_measures import BatchMeasures
from arm_sim.loop.loop import Loop, Step
from arm_sim.loop.measures import all_measures, values_of
from arm_sim.simulation.plant import Plant, plant_class

# Command of an action of 1: of an effort limit, and of positions and velocities.
_SHARES = {'effort': 0.2, 'position': 0.1, 'velocity': 0.5}


def loaded_experiment(
    task: str,
    robot: str = 'ur5e',
    law: str = '',
    parameters: Mapping[str, object] | None = None,
    **others: object,
) -> LoadedExperiment:
    """Return an experiment from the arguments of an environment.

    Args:
        task, robot, law: see Experiment; an action adds to the command of the law. Law '': one
            that suits the task.
        parameters: of the task, in place of those in the robot's files.
        others: fields of Experiment; a dictionary for a field of parameters, None: the default.

    Raises:
        ArmError: what Experiment refuses.
    """
    given = {name: value for name, value in others.items() if value is not None}
    experiment = made_of(Experiment, {'robot': robot, 'task': task, 'law': law, **given})
    plant_class(experiment.engine)  # an unknown one is refused here, not by the first reset
    if not isinstance(parameters, Mapping | None):
        raise ArmError(f'parameters is {parameters!r}; it must be a dictionary')
    return suited(LoadedExperiment(experiment, experiment.load().robot, parameters or {}))


def draws_of(loaded: LoadedExperiment, drawn: bool, seed: int, arms: Sequence[int]) -> list[Draw]:
    """Return the arms of an episode by their numbers; not `drawn`: only their noise differs.

    Arms without noise are the same in every episode.
    """
    if drawn:
        ranges, model = loaded.experiment.ranges, loaded.robot.model
        return [ranges.draw(model, seed, arm) for arm in arms]
    if loaded.plant_parameters().exact:
        return [Draw(ModelError(), 0, SensorParameters())] * len(arms)
    return [Draw(ModelError(), 0, SensorParameters(sensor_seed=noise(seed, k))) for k in arms]


def noise(seed: int, arm: int) -> int:
    """Return the seed of the sensors of an arm."""
    return int(np.random.default_rng([seed, arm]).integers(2**31))


def layout_of(loaded: LoadedExperiment, scale: ArrayLike | None = None) -> PolicyLayout:
    """Return the layout of observation and action.

    Args:
        loaded: the experiment.
        scale: (n,) or one number: command of an action of 1; None: a fifth of the effort limits,
            0.1 of positions [rad | m], 0.5 of velocities [rad/s | m/s].
    """
    arm, interface = loaded.arm, loaded.law_class.command_interface
    if interface not in _SHARES:
        raise ArmError(f'law {loaded.experiment.law!r} commands {interface}; no policy adds to it')
    if scale is None:
        scale = _SHARES[interface] * (arm.effort_limit if interface == 'effort' else 1.0)
    command = per_joint('scale', scale, arm.nv)
    plant = loaded.plant_parameters()
    return PolicyLayout(
        arm.joint_names, loaded.law_name, asdict(loaded.law_parameters), tuple(command.tolist()),
        plant.period_ns * 1e-9, bool(plant.force_torque_frame),
    )  # fmt: skip


class GymArms:
    """Arms in one loop, whose law gets an action on top of its command.

    The reward of a period is what its start adds to the measure that ranks laws on the task, so
    that the sum of an episode is -RMS^2, -mean, -integral or -maximum of that measure; periods in
    which the task does not count it add nothing. An arm whose command is not finite, or that
    leaves its position limits, is lost: the rest of the episode counts as if its error stayed,
    where the task does not count it yet as at the end of the task. Then rewards are zero.

    Attributes:
        loop: that advances the arms.
        steps: of an episode.
        lost: (N,) which arms are lost.
    """

    def __init__(
        self, loaded: LoadedExperiment, layout: PolicyLayout, draws: Sequence[Draw], batch: bool
    ):
        """Build the arms; without `batch` the first one alone, in its engine.

        Raises:
            ArmError: what `LoadedExperiment.batch` refuses.
        """
        task, model = loaded.task, loaded.robot.model
        self._layout, self._size = layout, len(draws) if batch else 1
        if batch:
            plant: Plant
            plant, events = loaded.batch(draws)
            law = loaded.batch_law(BatchModel(model))
        else:
            own = loaded.on(draws[0])
            plant, later = own.plants()
            law, events = own.law(), task.events(later)
        self._batch, self.loop = batch, Loop(plant, law, task.reference, events)
        self.steps = round(task.duration / self.loop.period)
        self._joints = np.array([model.joint_names.index(x) for x in layout.joint_names])
        self._every = len(self._joints) == model.nv
        self._scale = np.array(layout.scale)
        self._arm = loaded.arm
        forces = None if plant.measured.wrench is None else task.force_samples
        self._samples = BatchMeasures(
            model, self._size, self.loop.period, task.event, forces=forces
        ).samples
        ranked_by = task.evaluation.ranked_by
        measures = {each.name: each for each in all_measures()}
        one_of(f'task {loaded.experiment.task!r}: ranked_by', ranked_by, tuple(measures))
        self._measure, self._task = measures[ranked_by], loaded.experiment.task
        if self._measure.over == 'settled':
            raise ArmError(f'{ranked_by} ranks the task; it gives no reward of a period')
        self._rows = Reference(model.nv, (self._size,))
        self.reset()

    def reset(self) -> Array:
        """Return to the start; return the observations (N, size)."""
        self.loop.reset()
        self.lost: NDArray[np.bool_] = np.zeros(self._size, dtype=bool)
        self._most = np.zeros(self._size)
        measured, reference = self._now()
        self._memory = self._layout.start(measured)
        return self._observation(measured, reference)

    def step(self, action: Array) -> tuple[Array, Array]:
        """Advance by one period under actions (N, n) in [-1, 1]; return observations, rewards."""
        measured, reference = self._now()
        if not np.isfinite(reference.row).all():
            t = self.loop.index * self.loop.period
            raise ArmError(
                f'task {self._task!r}: its reference at t = {t:g} s is {reference.row.tolist()}; '
                'it must be finite'
            )
        action = np.clip(action, -1.0, 1.0) if self._batch else np.clip(action[0], -1.0, 1.0)
        added = self._scale * action
        memory = self._layout.remember(self._arm, self._memory, measured, reference, action)
        if not self._every:
            others = np.zeros((*action.shape[:-1], len(self.loop.plant.joint_names)))
            others[..., self._joints] = added
            added = others
        step = self.loop.step(added=added)
        reward = self._reward(step)
        self._memory = memory
        return self._observation(*self._now()), reward

    def _now(self) -> tuple[Measurement, Reference]:
        """Return measurement and reference of the joints that the policy moves."""
        measured, reference = self.loop.now
        if self._every:
            return measured, reference
        own = Reference(len(self._joints), measured.q.shape[:-1])
        for name in ('q', 'v', 'a'):
            getattr(own, name)[...] = getattr(reference, name)[..., self._joints]
        q, v = measured.q[..., self._joints], measured.v[..., self._joints]
        return measured._replace(q=q, v=v), own

    def _observation(self, measured: Measurement, reference: Reference) -> Array:
        found = self._layout.observe(self._arm, self._memory, measured, reference)
        return found if self._batch else found[np.newaxis]

    def _reward(self, step: Step) -> Array:
        """Return the rewards (N,) of a period."""
        if not self._batch:
            self._rows.row[0] = step.reference.row
            one = step.measured.wrench
            step = step._replace(
                q=step.q[np.newaxis], v=step.v[np.newaxis], effort=step.effort[np.newaxis],
                measured=step.measured._replace(wrench=None if one is None else one[np.newaxis]),
                reference=self._rows, alive=np.array([step.alive]),
            )  # fmt: skip
        x = values_of(self._measure, self._samples(step))
        left = np.full(self._size, 1.0)
        q, arm = self.loop.plant.q.reshape(self._size, -1), self._arm
        q = q if self._every else q[:, self._joints]
        inside = ((q >= arm.position_lower) & (q <= arm.position_upper)).all(-1)
        lost = self.lost | ~(step.alive & inside)
        over, period = self._measure.over, self.loop.period
        if lost.any():
            now = lost & ~self.lost
            if np.isnan(x[now]).any():  # the task counts it later
                end = self._samples(step._replace(t=(self.steps - 1) * period))
                x = np.where(now & np.isnan(x), values_of(self._measure, end), x)
            left[now] = self.steps - step.number
            left[self.lost] = 0.0
            self.lost = lost
        x = np.where(np.isnan(x), 0.0, x)  # the task does not count it now
        if over == 'max':
            reward = -np.maximum(x - self._most, 0.0) * (left > 0.0)
            self._most = np.maximum(self._most, x)
            return reward
        share = period if over == 'integral' else 1.0 / self.steps
        return -share * left * (x * x if over == 'rms' else x)
