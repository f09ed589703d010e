"""Many arms in compiled code, and which batch steps the arms of an engine."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, one_of
from arm_dynamics.compiled import (
    BatchForwardModel,
    BatchModel,
    ForwardModelParameters,
    SoftFriction,
)
from arm_dynamics.model import RobotModel
from arm_sim.devices import link_side, needs_motion
from arm_sim.engines.analytical import AnalyticalParameters
from arm_sim.loop.many_arms import ManyArms, OneOrEach, of_each
from arm_sim.simulation.integration import CONTINUOUS, integration_of, mean_effort, rk4_step
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, PlantParameters


class BatchPlant(ManyArms):
    """N arms of one geometry, stepped as one of the engines steps each of them.

    As `mujoco` it is the equations of MuJoCo's `implicitfast` step, soft Coulomb friction
    included, in compiled code: equal to MuJoCo but for rounding, as long as no joint leaves its
    position limits; `beyond` says of which arms one did. As `analytical` it is that engine.
    """

    def __init__(
        self, models: Sequence[RobotModel], parameters: OneOrEach, engine: str = 'analytical'
    ):
        """Take the arms, all with the same actuators and steps in time.

        Args:
            models: N arms.
            parameters: of all, or of each: the drives' gains and the limits may differ.
            engine: 'mujoco' or 'analytical'.

        Raises:
            ArmError: what BatchForwardModel refuses, no such engine, an integrator of `mujoco`
                that is neither continuous nor implicitfast, contacts, or parameters that may not
                differ.
        """
        each = of_each(parameters)
        one_of('engine', engine, RIGID_BODY_ENGINES)
        soft = None
        if engine == 'mujoco':
            integrator = 'integrator of a batch (engine mujoco)'
            one_of(integrator, each[0].integrator, (CONTINUOUS, 'implicitfast'))
        if touching := max(own.touching for own in each):
            raise ArmError(f'{touching}; a batch has no contacts')
        if not models:
            raise ArmError('a batch has no arms')
        first, links = models[0], models
        kinds = each[0].actuators(first.joint_names)
        one_of('actuator of a batch', kinds[0], ('servo', 'velocity', 'torque'))
        # Sensors and drive trains need the model of each arm.
        known = models if needs_motion(each[0]) or each[0].has_drive_trains else models[:1]
        if each[0].has_drive_trains:
            links = [link_side(one, own)[0] for one, own in zip(models, cycle(each), strict=False)]
            each = [link_side(first, own)[1] for own in each]
        integration = integration_of(links, each)
        self._smooth, count = integration.integrator == 'rk4', integration.steps
        self._step, self._steps = each[0].timestep / count, each[0].control_decimation * count
        if engine == 'mujoco':
            soft = mujoco_friction(self._step)
        # rk4 takes the accelerations of Euler's explicit step.
        method = 'explicit_euler' if self._smooth else integration.integrator
        # One object for one: an arm's parameters are made once, however many share them.
        forward = {id(own): _forward_parameters(own, engine, method) for own in each}
        every = [forward[id(own)] for own in each]
        self._forward = BatchForwardModel(links, every, soft)
        super().__init__(known, len(models), parameters)
        self._mean_effort = mean_effort(models, each)
        self._batch_model = BatchModel(first)
        bounded = engine == 'mujoco'
        self._bounds = first.stops if bounded else None
        shape = (self.size, first.nv)
        self.q, self.v, self._pushes = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.effort = self._forward.effort
        self.reset(self.q)

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to states q, v, each (N, n) or (n,), and forget everything else."""
        super().reset(q, v)
        self._forward.reset()

    def act(self, command: Array) -> None:
        """Hold commands (N, n) on the joints over one control period."""
        self._note_beyond()
        self._command = command
        if self._smooth:
            for _ in range(self._steps):
                rk4_step(self._accelerations, self.q, self.v, self._step)
            if self._before is not None or self._mean_effort is None:
                self._end = self._accelerations(self.q, self.v)
        elif not self.wrenches and self._before is None:
            self._advance(command, self._steps)
        else:
            for _ in range(self._steps):
                self._push(self.q)
                if self._before is not None:
                    self._before[:] = self.v
                self._advance(command, 1)
            self._pushes[:] = 0.0

    def _advance(self, command: Array, count: int) -> None:
        self._forward.advance(self.q, self.v, command, self._step, count, self._pushes)

    def _push(self, q: Array) -> None:
        """Let the external wrenches act at q (N, n)."""
        torque = self._batch_model.wrench_torque
        self._pushes[:] = sum(torque(q, wrench, f) for f, wrench in self.wrenches.items())

    def _accelerations(self, q: Array, v: Array) -> Array:
        """Return dv/dt (N, n) under the newest command."""
        self._push(q)
        after, step = v.copy(), self._step
        self._forward.advance(q.copy(), after, self._command, step, 1, self._pushes)
        return (after - v) / step

    def _acceleration(self, before: Array) -> Array:
        """Return dv/dt (N, n) at the end of a period."""
        if not self._smooth:
            return super()._acceleration(before)
        return self._end

    @property
    def integration_step(self) -> float:
        """The integration step [s]."""
        return self._step

    def set_damping(self, damping: Array) -> None:
        """Damp the joints by `damping` (N, n) from now on."""
        self._forward.set_damping(damping)

    def _note_beyond(self) -> None:
        if self._bounds is not None:
            lower, upper = self._bounds
            self.beyond |= ((self.q < lower) | (self.q > upper)).any(-1)
            self.beyond |= not self._forward.friction_found


def _forward_parameters(
    parameters: PlantParameters, engine: str, integrator: str
) -> ForwardModelParameters:
    names = ['actuator', 'servo_kp', 'servo_kd', 'effort_limits']
    if engine != 'mujoco':
        names += ['limit_stiffness', 'limit_damping']
        if not isinstance(parameters, AnalyticalParameters):
            parameters = AnalyticalParameters(**vars(parameters))
    values: dict[str, Any] = {name: getattr(parameters, name) for name in names}
    return ForwardModelParameters(integrator=integrator, **values)


def mujoco_friction(timestep: float) -> SoftFriction:
    """Return MuJoCo's friction loss with its default solref (0.02, 1) and solimp (0.9, 0.95)."""
    time_constant = max(0.02, 2.0 * timestep)
    return SoftFriction(rate=2.0 / (0.95 * time_constant), stiffness=0.9 / (1.0 - 0.9))


def batch_of(models: Sequence[RobotModel], parameters: OneOrEach, engine: str) -> ManyArms:
    """Return N arms of an engine: in compiled code, or in MuJoCo what only MuJoCo has.

    Args:
        models: N arms.
        parameters: of all, or of each.
        engine: 'mujoco' or 'analytical'.

    Raises:
        ArmError: what BatchPlant and MujocoBatch refuse.
    """
    each = of_each(parameters)
    touching = any(own.touching for own in each)
    only = touching or each[0].integrator not in (CONTINUOUS, 'implicitfast')
    if engine == 'mujoco' and (only or any(m.mjcf or m.mimic for m in models)):
        from arm_sim.loop.mujoco_batch import MujocoBatch  # not loaded for what needs no MuJoCo

        return MujocoBatch(models, parameters)
    return BatchPlant(models, parameters, engine)
