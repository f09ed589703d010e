"""Forward model of an arm with its actuators: next state from state and command."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.actuators import ActuatorParameters, linear_gains, servo_gains
from arm_dynamics.checks import ArmError, Array, finite
from arm_dynamics.compiled import integrators, joint_torques
from arm_dynamics.compiled.compiled_model import CompiledModel
from arm_dynamics.compiled.joint_torques import LINEAR, TORQUE, VOLTAGE, kind_of
from arm_dynamics.compiled.plant_context import PlantContext
from arm_dynamics.compiled.stability import largest_stable_step
from arm_dynamics.model import RobotModel
from arm_dynamics.motors import DCMotors
from arm_dynamics.parameters import JointWords, PerJoint, like, parameter, with_arrays

# 'implicitfast' is semi-implicit Euler with implicit damping, as MuJoCo's. 'lagged_euler' is the
# published five-joint arm's step: explicit Euler whose acceleration is part of the state, so that
# a voltage acts one step late, with its motors' stiction.
INTEGRATORS = (*integrators.INTEGRATORS, 'implicitfast', 'lagged_euler')
FRICTIONLESS = ('lagged_euler',)  # integrators with neither damping nor Coulomb friction


@dataclass(frozen=True)
class ForwardModelParameters(ActuatorParameters):
    """Actuators and limits of the joints."""

    actuator: JointWords = like(ActuatorParameters, 'actuator', 'torque')
    integrator: str = parameter(
        'implicitfast', 'integration method (docs/integrators.md)', one_of=INTEGRATORS
    )
    motors: DCMotors = parameter(DCMotors(), 'parameters of the DC motors')
    limit_stiffness: PerJoint = parameter(
        (0.0,), 'stiffness beyond position limits [N.m/rad]', min=0
    )
    limit_damping: PerJoint = parameter(
        (0.0,), 'damping beyond position limits [N.m.s/rad]', min=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.integrator == 'lagged_euler' and {*np.atleast_1d(self.actuator)} != {'voltage'}:
            raise ArmError(
                f"integrator 'lagged_euler' needs actuator 'voltage', not {self.actuator!r}"
            )

    def table(self, model: RobotModel) -> Array:
        """Return the joint table for `model`; raises ArmError for wrong counts or values."""
        p, names = with_arrays(self, model.joint_names), model.joint_names
        actuators = self.actuators(names)
        kp, kd = servo_gains(actuators, p.servo_kp, p.servo_kd, names)
        own = ('servo_kp', 'servo_kd', 'limit_stiffness', 'limit_damping')
        rows = {name: getattr(p, name) for name in own}
        if kind_of(actuators) == LINEAR:
            gains = linear_gains(actuators, kp, kd)
            rows |= {'command_gain': gains.command, 'servo_kp': gains.position}
            rows |= {'servo_kd': gains.velocity}
        rows |= {name: getattr(model, name) for name in ('armature', 'damping', 'friction')}
        rows |= self.motors.constants(names)._asdict()
        rows |= dict(zip(('lower', 'upper'), model.stops, strict=True))
        if self.effort_limits:
            rows['effort_limit'] = model.effort_limit
        return joint_torques.filled(model.nv, rows)


class ForwardModel:
    """Next state of an arm from state, command and step. Not thread-safe (scratch).

    A state is q and v (2 n,); with 'lagged_euler' q, v, a, stiction flags and previous velocities
    (5 n,). The next state depends on nothing else: calls keep no memory.

    Attributes:
        model, parameters: the arguments.
        compiled: the arm's generated code.
        table: joint numbers.
        damping, friction: (n,) of the joints [N.m.s/rad | N.s/m], [N.m | N], as in `table`.
        state_size: length of a state.
        effort: (n,) actuator torque in the last step of the last call [N.m | N].
    """

    def __init__(self, model: RobotModel, parameters: ForwardModelParameters, loops: str = ''):
        """Generate or load the arm's code; `loops` as for CompiledModel.

        Raises:
            ArmError: parameters that are not allowed.
        """
        self.model, self.parameters = model, parameters
        self.compiled = CompiledModel(model, loops)
        self.table = parameters.table(model)
        self.damping = self.table[joint_torques.DAMPING]
        self.friction = self.table[joint_torques.FRICTION]
        self._lagged = parameters.integrator == 'lagged_euler'
        if self._lagged and model.mimic is not None:
            raise ArmError("integrator 'lagged_euler' has no joints that follow others by <mimic>")
        if parameters.integrator in FRICTIONLESS:
            self._check_ignored_parameters()
        self._implicit = parameters.integrator == 'implicitfast'
        method = 'semi_implicit_euler' if self._implicit else parameters.integrator
        self._integrator = INTEGRATORS.index(method)
        self.state_size = (5 if self._lagged else 2) * model.nv
        self._context = PlantContext.of(self.table, self.compiled.links)
        self.effort = self._context.effort
        self._has_friction = bool(self.friction.any())
        self._actuator = kind_of(parameters.actuators(model.joint_names))
        self._motor_scratch = self.new_scratch()

    def _check_ignored_parameters(self) -> None:
        """Raise ArmError for parameters that the published step would ignore."""
        integrator = self.parameters.integrator
        for name in ('friction', 'damping'):
            values = getattr(self, name)
            if values.any():
                raise ArmError(
                    f'{name} is {values.tolist()}; integrator {integrator!r} has none, as '
                    'published: set it to 0, or choose another integrator'
                )
        if self.parameters.effort_limits:
            raise ArmError(
                f'effort_limits is true; integrator {integrator!r} has none, as published: '
                'set it to false, or choose another integrator'
            )

    @functools.cached_property
    def largest_step(self) -> float:
        """The largest stable time step [s]."""
        table = self.table
        stiffness, damping = np.zeros(self.model.nv), self.damping
        if self._actuator == VOLTAGE:
            slope = table[joint_torques.TORQUE_CONSTANT] * table[joint_torques.BACK_EMF_CONSTANT]
            damping = damping + slope * table[joint_torques.ARMATURE_CONDUCTANCE]
        elif self._actuator != TORQUE:
            stiffness = table[joint_torques.SERVO_KP]
            damping = damping + table[joint_torques.SERVO_KD]
        return largest_stable_step(self.model, self.parameters.integrator, stiffness, damping)

    def check_step(self, dt: float) -> None:
        """Raise ArmError for a time step [s] that is not > 0 or not stable."""
        if not np.isfinite(dt) or dt <= 0.0:
            raise ArmError(f'time step is {dt:g} s; it must be finite and > 0')
        if dt > self.largest_step:
            longest = f'at most {self.largest_step:.3g} s'
            raise ArmError(
                f'time step {dt:g} s is not stable with {self.parameters.integrator}: '
                f'{longest if self.largest_step else "no step is, with these actuators"}'
            )

    def new_scratch(self) -> tuple[Array, ...]:
        """Return scratch arrays of the module's `motor_step`, not to be shared by threads.

        Torque, limits, sine, cosine, free, load, held acceleration; rotor inertias [kg m^2].
        """
        armature = self.table[joint_torques.ARMATURE].copy()
        return *np.zeros((7, self.model.nv)), armature

    def initial_state(self, q: ArrayLike, v: ArrayLike | None = None) -> Array:
        """Return the state at q (n,) and v (n,), rest by default."""
        n = self.model.nv
        state = np.zeros(self.state_size)
        state[:n] = q
        state[n : 2 * n] = 0.0 if v is None else v
        if self._lagged:
            state[4 * n :] = state[n : 2 * n]
        return state

    def step(
        self,
        state: ArrayLike,
        command: ArrayLike,
        dt: float,
        count: int = 1,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """Return the state after `count` steps of `dt` [s] under `command` (n,).

        Args:
            state: (state_size,).
            command: (n,) positions, velocities, torques or voltages.
            dt: time step [s].
            count: number of steps.
            wrenches: (6,) force [N] and torque [N.m] on frames, by name, at the frame's origin in
                base-aligned axes.

        Raises:
            ArmError: wrong lengths, values that are not finite, no such frame, or a step that
                is not > 0 or not stable.
        """
        state = finite('state', state, (self.state_size,))
        command = finite('command', command, (self.model.nv,))
        self.check_step(dt)
        self.set_wrenches(wrenches or {})
        self.advance(state, command, dt, count)
        self.set_wrenches({})
        return state

    def set_wrenches(self, wrenches: Mapping[str, ArrayLike]) -> None:
        """Let these wrenches act in `advance` from now on, in place of those before.

        Args:
            wrenches: as `step` takes them.

        Raises:
            ArmError: no such frame, not six finite numbers, or any wrench with 'lagged_euler'.
        """
        if self._lagged and wrenches:
            raise ArmError("integrator 'lagged_euler' has no external wrenches")
        links, rows = [], []
        for frame, wrench in wrenches.items():
            link, point = self.compiled.point_on_link(frame)
            links.append(link)
            rows.append(np.concatenate([point, finite(f'wrench on {frame!r}', wrench, (6,))]))
        self._context.wrench_torque[:] = 0.0
        self._context.extra[:] = 0.0
        self._context = self._context._replace(
            wrench_link=np.array(links, dtype=np.int64),
            wrench=np.array(rows, dtype=float).reshape(-1, 9),
        )

    def advance(
        self, state: Array, command: Array, dt: float, count: int, integrator: str | None = None
    ) -> None:
        """Advance `state` in place: `step` without its checks and its copy.

        `integrator`: in place of the parameters' one, of those in `integrators`.
        """
        n, module = self.model.nv, self.compiled.module
        if self._lagged:
            torque, limits, *_ = scratch = self._motor_scratch
            module.motor_advance(*state.reshape(5, n), command, dt, count, self.table, scratch)
            np.subtract(torque, 2.0 * limits, out=self.effort)
            return
        context = self._context
        context.command[:] = command
        method = self._integrator if integrator is None else INTEGRATORS.index(integrator)
        module.advance(
            self._actuator, method, dt, dt if self._implicit else 0.0, count,
            self._has_friction, state[:n], state[n:], context,
        )  # fmt: skip

    def compile(self) -> None:
        """Compile the functions that `advance` needs, or load them."""
        self.advance(self.initial_state(self.model.neutral()), np.zeros(self.model.nv), 0.0, 1)
        self.effort[:] = 0.0
