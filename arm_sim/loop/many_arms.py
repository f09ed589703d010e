"""Many simulated arms: what a Plant is, with a row per arm, whatever steps them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_dynamics.checks import ArmError, Array, finite
from arm_dynamics.model import RobotModel
from arm_sim.loop.batch_drives import BatchDrives
from arm_sim.simulation.plant import COMMAND_INTERFACE, PlantParameters

# What all arms of a batch have in common.
_ALIKE = ('timestep', 'control_decimation', 'actuator', 'integrator', 'contacts')

Told = PlantParameters | Sequence[PlantParameters]  # of all arms, or of each


class ManyArms:
    """N arms with their drives, and what pushes on them.

    Who inherits sets q, v and effort, steps by `act`, and resets at the end of its constructor.

    Attributes:
        size: N.
        parameters, joint_names, command_interface: as a Plant's.
        q, v, effort: (N, n) present states and torques; changed in place by a step.
        beyond: (N,) whether a joint has been where the engine does what this does not.
    """

    q: Array
    v: Array
    effort: Array

    def __init__(self, model: RobotModel, size: int, told: Told):
        """Take the number of arms, one of them, and what `of_each` has checked.

        Raises:
            ArmError: another number of parameters, or drives that a batch does not have.
        """
        each = of_each(told)
        if isinstance(told, Sequence) and size != len(each):
            raise ArmError(f'{size} arms of a batch have {len(each)} parameters')
        self.size, self.parameters, self.joint_names = size, each[0], model.joint_names
        self.command_interface = COMMAND_INTERFACE[self.parameters.actuator]
        self.beyond: NDArray[np.bool_] = np.zeros(size, dtype=bool)
        self._robot = model
        self._wrenches: dict[str, Array] = {}
        self._drives: BatchDrives | None = None
        for own in each:
            own.check_drives(self.command_interface, False)
        if any(own.drives() for own in each):
            period = self.parameters.period_ns * 1e-9
            self._drives = BatchDrives(each, self.joint_names, size, period)

    @property
    def measured_q(self) -> Array:
        """Positions (N, n) as encoders read them."""
        return self.q if self._drives is None else self._drives.measured[0]

    @property
    def measured_v(self) -> Array:
        """Velocities (N, n) as encoders read them."""
        return self.v if self._drives is None else self._drives.measured[1]

    def reset(self, q: ArrayLike, v: ArrayLike = 0.0) -> None:
        """Go to states q, v, each (N, n) or (n,), and forget everything else."""
        self._wrenches = {}
        self.q[:], self.v[:] = q, v
        self.effort[:] = 0.0
        self.beyond[:] = False
        if self._drives is not None:
            self._drives.reset(self.q, self.v)

    def go_on_from(self, before: 'ManyArms') -> None:
        """Take over the states of another batch, its wrenches, and its drives."""
        self.reset(before.q, before.v)
        self._wrenches = before._wrenches
        if before._drives is not None:
            self._drives = before._drives

    def step(self, command: Array) -> None:
        """Send commands (N, n) to the drives, which hold what they make of it over a period."""
        if self._drives is None:
            self.act(command)
            return
        self.act(self._drives.effect(command))
        self._drives.read(self.q, self.v)

    def act(self, command: Array) -> None:
        """Hold commands (N, n) on the joints over one control period."""
        raise NotImplementedError

    def apply_wrench(self, frame: str, wrench: ArrayLike) -> None:
        """Push on a frame of all arms, or of each, until told otherwise.

        Args:
            frame: name of a link.
            wrench: (6,) or (N, 6) force [N] and torque [N.m] at the frame's origin, in
                base-aligned axes; zeros end it.
        """
        self._robot.frame_id(frame)
        shape = (6,) if np.ndim(wrench) == 1 else (self.size, 6)
        wrenches = {**self._wrenches, frame: finite(f'wrench on {frame!r}', wrench, shape)}
        self._wrenches = {name: each for name, each in wrenches.items() if each.any()}


def of_each(told: Told) -> list[PlantParameters]:
    """Return the parameters of all arms, or of each, as a list.

    Raises:
        ArmError: there are none, or arms that do not take their steps together.
    """
    each = list(told) if isinstance(told, Sequence) else [told]
    if not each:
        raise ArmError('a batch has no parameters')
    for index, other in enumerate(each):
        for name in _ALIKE:
            one, common = getattr(other, name), getattr(each[0], name)
            if one != common:
                raise ArmError(
                    f'{name} of arm {index} is {one!r}; all arms of a batch have one, {common!r}'
                )
    return each
