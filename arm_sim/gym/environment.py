"""A task as an environment with one arm, simulated by its engine."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import ArrayLike

from arm_controllers.policy_layout import BOUND, PolicyLayout
from arm_dynamics.checks import Array, finite
from arm_sim.experiments.ranges import Draw
from arm_sim.gym.arms import GymArms, draws_of, layout_of, loaded_experiment


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

    def __init__(self, task: str, scale: ArrayLike | None = None, **experiment: Any):
        """Load the experiment.

        Args:
            task: by name.
            scale: see `layout_of`.
            experiment: see `loaded_experiment`.

        Raises:
            ArmError: what `loaded_experiment` or the arm refuses.
        """
        self._drawn = experiment.get('ranges') is not None
        self._loaded = loaded_experiment(task, **experiment)
        self.layout = layout_of(self._loaded, scale)
        self.observation_space, self.action_space = spaces_of(self.layout)
        self._draws: list[Draw] = []
        self.arms: GymArms

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start an episode; each draws its arm and its noise from the seed, or from those before.

        `seed` draws the arm as sample 0 of a Monte Carlo with this seed.
        """
        super().reset(seed=seed)
        number = int(self.np_random.integers(2**31)) if seed is None else seed
        draws = draws_of(self._loaded, self._drawn, number, [0])
        if draws != self._draws:
            self.arms, self._draws = GymArms(self._loaded, self.layout, draws, False), draws
        return self.arms.reset()[0], {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Advance by one control period.

        Raises:
            ArmError: an action that is not finite, or of another shape.
        """
        arms, shape = self.arms, (len(self.layout.joint_names),)
        observation, reward = arms.step(finite('action', action, shape)[np.newaxis])
        lost, ended = bool(arms.lost[0]), arms.loop.index >= arms.steps
        return observation[0], float(reward[0]), lost, ended and not lost, {}


def spaces_of(layout: PolicyLayout) -> tuple[Any, Any]:
    """Return the spaces of observation and action of one arm."""
    n = len(layout.joint_names)
    return Box(-BOUND, BOUND, (layout.size,), np.float64), Box(-1.0, 1.0, (n,), np.float64)
