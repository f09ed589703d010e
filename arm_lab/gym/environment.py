"""A task as an environment: one arm in its engine, or many arms in batches on all cores."""

import os
from collections.abc import Sized
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

from arm_controllers.policy_layout import BOUND, PolicyLayout
from arm_dynamics.checks import ArmError, Array, finite
from arm_lab.experiments.ranges import Draw
from arm_lab.gym.arguments import whole
from arm_lab.gym.arms import GymArms, draws_of, layout_of, loaded_experiment
from arm_lab.progress import status


def _refuse_copy(env: gymnasium.Env[Any, Any] | VectorEnv[Array, Array, Array]) -> NoReturn:
    """Raise TypeError, also for `pickle`: compiled code and the engine's data stay behind."""
    raise TypeError(
        f'{type(env).__name__} cannot be copied: make another one; after the same seed and '
        'actions it is in the same state, to the last bit'
    )


class ArmEnv(gymnasium.Env[Any, Any]):
    """One arm that follows a task; an action in [-1, 1] per joint adds to the command of a law.

    The observation is that of PolicyLayout, the reward that of GymArms. A step is one control
    period. The motion is that of the loop, and over topics, to the last bit.

    Attributes:
        layout: of observation and action; a policy's file has it as metadata.
        arms: the arm of the present episode.
    """

    metadata = {'render_modes': []}  # noqa: RUF012  # Gymnasium's own name and type
    render_mode = None
    __reduce__ = _refuse_copy

    def __init__(
        self,
        task: str,
        scale: ArrayLike | None = None,
        render_mode: str | None = None,
        **experiment: Any,
    ):
        """Load the experiment.

        Args:
            task: by name.
            scale: see `layout_of`.
            render_mode: None, as there are no pictures.
            experiment: see `loaded_experiment`.

        Raises:
            ArmError: what `loaded_experiment` or the arm refuses.
            TypeError: a mode.
        """
        _refuse_rendering(render_mode)
        self._drawn = experiment.get('ranges') is not None
        self._loaded = loaded_experiment(task, **experiment)
        self.layout = layout_of(self._loaded, scale)
        self.observation_space, self.action_space = spaces_of(self.layout)
        self._draws: list[Draw] = []
        self.arms: GymArms

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[Array, dict[str, object]]:
        """Start an episode; each draws its arm and its noise from the seed, or from those before.

        `seed` draws the arm as sample 0 of a Monte Carlo with this seed. No options are known.
        """
        _refuse_options(options)
        super().reset(seed=seed)
        number = int(self.np_random.integers(2**31)) if seed is None else seed
        draws = draws_of(self._loaded, self._drawn, number, [0])
        if draws != self._draws:
            self.arms, self._draws = GymArms(self._loaded, self.layout, draws, False), draws
        return self.arms.reset()[0], {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, object]]:
        """Advance by one control period.

        Raises:
            ArmError: an action that is not finite, or of another shape; no episode has begun.
        """
        _check_begun(self._draws)
        arms, shape = self.arms, (len(self.layout.joint_names),)
        observation, reward = arms.step(finite('action', action, shape)[np.newaxis])
        lost, ended = bool(arms.lost[0]), arms.loop.index >= arms.steps
        return observation[0], float(reward[0]), lost, ended and not lost, {}


def spaces_of(layout: PolicyLayout) -> tuple[Box, Box]:
    """Return the spaces of observation and action of one arm."""
    n = len(layout.joint_names)
    return Box(-BOUND, BOUND, (layout.size,), np.float64), Box(-1.0, 1.0, (n,), np.float64)


def _refuse_rendering(mode: str | None) -> None:
    """Raise TypeError for a mode, after which Stable-Baselines3 leaves its own one out."""
    if mode is not None:
        raise TypeError(f'render_mode is {mode!r}: leave it out; arm_sim.run(...).film() films')


def _refuse_options(options: dict[str, object] | None, *known: str) -> None:
    """Raise ArmError for options of `reset` that do nothing."""
    for name in options or ():
        if name not in known:
            allowed = ', '.join(known) or 'none'
            raise ArmError(f'reset: option {name!r} is unknown; allowed: {allowed}')


def _check_begun(draws: Sized) -> None:
    """Raise ArmError where no arms are drawn."""
    if not draws:
        raise ArmError('no episode has begun: call reset() before step()')


def _each_a_seed(seeds: list[int | None], count: int) -> list[int]:
    """Return a list of seeds; raise ArmError for another number of them, or no such number."""
    found = [each for each in seeds if each is not None]
    if len(seeds) != count or len(found) != count:
        raise ArmError(f'seed has {len(found)} numbers, {seeds}; it needs one for each of {count}')
    return [whole('a seed', each, 0) for each in found]


class ArmVectorEnv(VectorEnv[Array, Array, Array]):
    """N arms that follow a task; see ArmEnv for one.

    All episodes end together. An arm that is lost before (see GymArms) is `terminated` at that
    end, and gets no more rewards until then. An arm's numbers are the same bits for any number of
    arms and threads.
    """

    metadata = {  # noqa: RUF012  # Gymnasium's own name and type
        'render_modes': [],
        'autoreset_mode': AutoresetMode.NEXT_STEP,
    }
    render_mode = None
    __reduce__ = _refuse_copy

    def __init__(
        self,
        num_envs: int,
        task: str,
        scale: ArrayLike | None = None,
        threads: int = 0,
        render_mode: str | None = None,
        **experiment: Any,
    ):
        """Load the experiment.

        Args:
            num_envs: N.
            task: by name.
            scale: see `layout_of`.
            threads: on which the arms run, a share on each; 0: one per core.
            render_mode: None, as there are no pictures.
            experiment: see `loaded_experiment`.

        Raises:
            ArmError: what `loaded_experiment` or the arms refuse.
            TypeError: a mode.
        """
        _refuse_rendering(render_mode)
        self.num_envs = num_envs = whole('num_envs', num_envs, 1)
        self._drawn = experiment.get('ranges') is not None
        self._loaded = loaded_experiment(task, **experiment)
        self.layout = layout_of(self._loaded, scale)
        self.single_observation_space, self.single_action_space = spaces_of(self.layout)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        count = min(whole('threads', threads, 0) or os.cpu_count() or 1, num_envs)
        self._shares = [x.tolist() for x in np.array_split(np.arange(num_envs), count)]
        self._pool = ThreadPoolExecutor(count)
        self._draws: list[list[Draw]] = []
        self._parts: list[GymArms] = []
        self._ended = False

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, object] | None = None,
    ) -> tuple[Array, dict[str, object]]:
        """Start an episode of all arms.

        Args:
            seed: draws arm k as sample k of a Monte Carlo with this seed; a list has the seed of
                each arm, which is sample 0 of it; None: other arms and noise, by a random number
                of the seed before. Equal seeds give equal sequences of episodes.
            options: `samples` (N,) are the numbers of the samples in place of k.

        Raises:
            ArmError: a list of seeds of another length, or with some that are None; other options.
        """
        _refuse_options(options, 'samples')
        samples = np.arange(self.num_envs)
        if isinstance(seed, list):
            seeds = np.array(_each_a_seed(seed, self.num_envs))
            samples = np.zeros(self.num_envs, dtype=int)
            super().reset(seed=int(seeds[0]))
        else:
            super().reset(seed=seed)
            number = int(self.np_random.integers(2**31)) if seed is None else seed
            seeds = np.full(self.num_envs, number)
        if options and 'samples' in options:
            given: Any = options['samples']
            if np.shape(given) != samples.shape:
                raise ArmError(f'samples is {given!r}; it must have {self.num_envs} integers')
            samples = np.array([whole('a sample', k, 0) for k in np.array(given).tolist()])
        pairs = [(int(seeds[k]), [int(samples[k])]) for k in range(self.num_envs)]
        every = [draws_of(self._loaded, self._drawn, *pair)[0] for pair in pairs]
        draws = [[every[k] for k in each] for each in self._shares]
        if draws != self._draws:
            _ = self._loaded.task, self._loaded.law_parameters  # once, not in each thread
            made = (GymArms(self._loaded, self.layout, each, True) for each in draws)
            with status(f'drawing {self.num_envs} arms'):
                self._parts, self._draws = list(made), draws
        self._ended = False
        return np.concatenate([part.reset() for part in self._parts]), {}

    def step(self, actions: Array) -> tuple[Array, Array, Any, Any, dict[str, object]]:
        """Advance by one control period; after the end of the episodes: start the next ones.

        Raises:
            ArmError: an action that is not finite, or of another shape; no episode has begun.
        """
        _check_begun(self._draws)
        nothing = np.zeros(self.num_envs, dtype=bool)
        if self._ended:
            observations, infos = self.reset()
            return observations, np.zeros(self.num_envs), nothing, nothing.copy(), infos
        actions = finite('actions', actions, self.action_space.shape or ())
        if len(self._parts) == 1:
            found = [self._parts[0].step(actions)]
        else:
            shares = [actions[each[0] : each[-1] + 1] for each in self._shares]
            found = list(self._pool.map(GymArms.step, self._parts, shares))
        observations, rewards = (np.concatenate(each) for each in zip(*found, strict=True))
        first = self._parts[0]
        self._ended = first.loop.index >= first.steps
        if not self._ended:
            return observations, rewards, nothing, nothing.copy(), {}
        lost = np.concatenate([part.lost for part in self._parts])
        return observations, rewards, lost, ~lost, {}

    def close_extras(self, **kwargs: object) -> None:
        """End the threads."""
        self._pool.shutdown()
