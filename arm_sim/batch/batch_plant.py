"""Many simulated arms: what a Plant is, with a row per arm."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, finite, one_of
from arm_dynamics.compiled import (
    BatchForwardModel,
    BatchModel,
    ForwardModelParameters,
    SoftFriction,
)
from arm_dynamics.model import RobotModel
from arm_sim.batch.batch_drives import BatchDrives
from arm_sim.plants.analytical_plant import AnalyticalParameters
from arm_sim.plants.plant import COMMAND_INTERFACE, RIGID_BODY_ENGINES, PlantParameters

# What all arms of a batch have in common.
_ALIKE = ('timestep', 'control_decimation', 'actuator', 'integrator', 'contacts')


class BatchPlant:
    """N arms of one geometry, stepped as one of the engines steps each of them.

    As `mujoco` it is the equations of MuJoCo's `implicitfast` step, soft Coulomb friction
    included, in compiled code: equal to MuJoCo but for rounding, as long as no joint leaves its
    position limits; `beyond` says of which arms one did. As `analytical` it is that engine.

    Attributes:
        size: N.
        parameters, joint_names, command_interface: as a Plant's.
        q, v, effort: (N, n) present states and torques; changed in place by a step.
        beyond: (N,) whether a joint has been where the engine does what this does not.
    """

    def __init__(
        self,
        models: Iterable[RobotModel],
        parameters: PlantParameters | Sequence[PlantParameters],
        engine: str = 'analytical',
    ):
        """Take the arms, all with the same actuators and steps in time.

        Args:
            models: N arms.
            parameters: of all, or of each: the drives' gains and the limits may differ.
            engine: 'mujoco' or 'analytical'.

        Raises:
            ArmError: what BatchForwardModel refuses, no such engine, an integrator of `mujoco`
                that is not implicitfast, or parameters that may not differ.
        """
        several = isinstance(parameters, Sequence)
        each = list(parameters) if isinstance(parameters, Sequence) else [parameters]
        if not each:
            raise ArmError('a batch has no parameters')
        parameters = each[0]
        for index, other in enumerate(each):
            if any(getattr(other, name) != getattr(parameters, name) for name in _ALIKE):
                raise ArmError(f'arm {index} of a batch has another one of: {", ".join(_ALIKE)}')
        one_of('engine', engine, RIGID_BODY_ENGINES)
        soft = None
        if engine == 'mujoco':
            one_of(
                'integrator of a batch (engine mujoco)', parameters.integrator, ('implicitfast',)
            )
            soft = mujoco_friction(parameters.timestep)
        if parameters.contacts:
            raise ArmError('contacts is true; a batch has no contacts')
        one_of('actuator of a batch', parameters.actuator, ('servo', 'torque'))
        arms = iter(models)
        first = next(arms, None)
        if first is None:
            raise ArmError('a batch has no arms')
        # One object for one: an arm's parameters are made once, however many share them.
        forward = {id(own): _forward_parameters(own, engine) for own in each}
        every = [forward[id(own)] for own in each]
        self._forward = BatchForwardModel(chain([first], arms), every, soft)
        self.size = self._forward.size
        if several and self.size != len(each):
            raise ArmError(f'{self.size} arms of a batch have {len(each)} parameters')
        self.parameters, self.joint_names = parameters, first.joint_names
        self.command_interface = COMMAND_INTERFACE[parameters.actuator]
        self._model = BatchModel(first)
        bounded = engine == 'mujoco'
        self._bounds = (first.position_lower, first.position_upper) if bounded else None
        self._wrenches: dict[str, Array] = {}
        shape = (self.size, first.nv)
        self.q, self.v, self._pushes = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.effort = self._forward.effort
        self.beyond = np.zeros(self.size, dtype=bool)
        self._drives: BatchDrives | None = None
        for own in each:
            own.check_drives(self.command_interface, False)
        if any(own.drives() for own in each):
            self._drives = BatchDrives(
                each, self.joint_names, self.size, parameters.period_ns * 1e-9
            )

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
        self._forward.reset()
        self.q[:], self.v[:] = q, v
        self.beyond[:] = False
        if self._drives is not None:
            self._drives.reset(self.q, self.v)

    def go_on_from(self, before: 'BatchPlant') -> None:
        """Take over the states of another batch, its wrenches, and its drives."""
        self.reset(before.q, before.v)
        self._wrenches = before._wrenches
        if before._drives is not None:
            self._drives = before._drives

    def step(self, command: Array) -> None:
        """Send commands (N, n) to the drives, which hold what they make of it over a period."""
        if self._drives is None:
            self._act(command)
            return
        self._act(self._drives.effect(command))
        self._drives.read(self.q, self.v)

    def _act(self, command: Array) -> None:
        p = self.parameters
        self._note_beyond()
        if not self._wrenches:
            self._advance(command, p.control_decimation)
            return
        for _ in range(p.control_decimation):
            pushes = [self._model.wrench_torque(self.q, w, f) for f, w in self._wrenches.items()]
            self._pushes[:] = sum(pushes)
            self._advance(command, 1)
        self._pushes[:] = 0.0

    def apply_wrench(self, frame: str, wrench: ArrayLike) -> None:
        """Push on a frame of all arms, or of each, until told otherwise.

        Args:
            frame: name of a link.
            wrench: (6,) or (N, 6) force [N] and torque [N.m] at the frame's origin, in
                base-aligned axes; zeros end it.
        """
        self._model.frame_id(frame)
        shape = (6,) if np.ndim(wrench) == 1 else (self.size, 6)
        wrenches = {**self._wrenches, frame: finite(f'wrench on {frame!r}', wrench, shape)}
        self._wrenches = {name: each for name, each in wrenches.items() if each.any()}

    def _advance(self, command: Array, count: int) -> None:
        step = self.parameters.timestep
        self._forward.advance(self.q, self.v, command, step, count, self._pushes)

    def _note_beyond(self) -> None:
        if self._bounds is not None:
            lower, upper = self._bounds
            self.beyond |= ((self.q < lower) | (self.q > upper)).any(-1)
            self.beyond |= not self._forward.friction_found


def _forward_parameters(parameters: PlantParameters, engine: str) -> ForwardModelParameters:
    names = ['actuator', 'integrator', 'servo_kp', 'servo_kd', 'effort_limits']
    if engine != 'mujoco':
        names += ['limit_stiffness', 'limit_damping']
        if not isinstance(parameters, AnalyticalParameters):
            parameters = AnalyticalParameters(**vars(parameters))
    told: dict[str, Any] = {name: getattr(parameters, name) for name in names}
    return ForwardModelParameters(**told)


def mujoco_friction(timestep: float) -> SoftFriction:
    """Return MuJoCo's friction loss with its default solref (0.02, 1) and solimp (0.9, 0.95)."""
    time_constant = max(0.02, 2.0 * timestep)
    return SoftFriction(rate=2.0 / (0.95 * time_constant), stiffness=0.9 / (1.0 - 0.9))
