"""The arm together with its position controller as a motion model: the engine of low fidelity."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.arrays import Array
from arm_dynamics.checks import one_of
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import PerJoint, parameter
from arm_dynamics.published.motion_models import MOTION_TYPES, JointSpaceMotionModel
from arm_sim.plants.plant import PlantParameters


@dataclass(frozen=True)
class MotionModelParameters(PlantParameters):
    """What this engine has beside every plant's parameters.

    The actuator is a servo. `servo_kp` and `servo_kd` are the gains of motion type 'pd', which has
    gravity compensation.
    """

    motion_type: str = parameter('computed_torque', 'fidelity of the motion', one_of=MOTION_TYPES)
    natural_frequency: PerJoint = parameter(
        (20.0,), "of the error dynamics [rad/s] (not 'pd')", above=0
    )
    damping_ratio: PerJoint = parameter((1.0,), "of the error dynamics (not 'pd')", above=0)
    settling_time: PerJoint = parameter(
        (0.0,), '[s], instead of the natural frequency where it is above zero', min=0
    )
    overshoot: PerJoint = parameter(
        (0.0,), 'share of a step, instead of the damping ratio where settling_time is above zero'
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of('actuator (engine motion_model)', self.actuator, ('servo',))


# Real negative eigenvalue times step up to which the classical Runge-Kutta method is stable.
_RK4_LIMIT = 2.78


class MotionModelPlant:
    """See `arm_sim.plants.plant.Plant`. Its command is the position reference of the motion model.

    The reference moves evenly from one command to the next, so that its velocity is known as well;
    one that jumps, faster than a joint can move, is a step of the position at zero velocity.
    Runge-Kutta's classical method integrates, once per time step.
    """

    Parameters: ClassVar[type[PlantParameters]] = MotionModelParameters
    command_interface = 'position'
    takes_goals = True

    def __init__(self, model: RobotModel, parameters: PlantParameters):
        """Build from the model.

        Raises:
            ArmError: a motion type, frequency or damping ratio that is not allowed, or gains too
                stiff for the time step.
        """
        if not isinstance(parameters, MotionModelParameters):
            parameters = MotionModelParameters(**vars(parameters))
        self.parameters: PlantParameters = parameters
        self.joint_names = model.joint_names
        self._model = model
        self.motion = JointSpaceMotionModel(
            model,
            parameters.motion_type,
            parameters.natural_frequency,
            parameters.damping_ratio,
            *parameters.servo_gains(model),
        )
        if any(parameters.settling_time):
            self.motion.update_error_dynamics_from_step(
                parameters.settling_time, parameters.overshoot
            )
        if parameters.motion_type == 'pd':
            self._check_step()
        n = model.nv
        self._state, self._command = np.zeros(2 * n), np.zeros(n)
        self.q, self.v = self._state[:n], self._state[n:]
        self.effort = np.zeros(n)
        self._wrenches: dict[str, Array] = {}
        self.reset(model.neutral())

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to q, v (rest by default); wrenches end."""
        self.q[:] = q
        self.v[:] = 0.0 if v is None else v
        self._command[:] = self.q - self.period * self.v
        self.effort[:] = 0.0
        self._wrenches.clear()

    @property
    def period(self) -> float:
        """The control period [s]."""
        return self.parameters.period_ns * 1e-9

    def step(self, command: Array) -> None:
        """Follow `command` (n,) over one control period."""
        rate = self._model.difference(self._command, command) / self.period
        rate[np.abs(rate) > self._model.velocity_limit] = 0.0
        start = command - rate * self.period
        h, n = self.parameters.timestep, len(self.q)
        for i in range(self.parameters.control_decimation):
            early, middle, late = (start + t * h * rate for t in (i, i + 0.5, i + 1.0))
            k1 = self._derivative(self._state, early, rate)
            k2 = self._derivative(self._state + 0.5 * h * k1, middle, rate)
            k3 = self._derivative(self._state + 0.5 * h * k2, middle, rate)
            k4 = self._derivative(self._state + h * k3, late, rate)
            self.effort[:] = self._model.inverse_dynamics(self.q, self.v, k1[n:], self._wrenches)
            self._state += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        self._command[:] = command

    def _derivative(self, state: Array, position: Array, rate: Array) -> Array:
        return self.motion.derivative(state, np.concatenate([position, rate]), self._wrenches)

    def _check_step(self) -> None:
        """Refuse gains of type 'pd' that are too stiff for the time step."""
        inverse = np.linalg.inv(self._model.mass_matrix(self._model.neutral()))
        fastest = float(np.abs(np.linalg.eigvals(inverse @ self.motion.kd)).max())
        longest = _RK4_LIMIT / fastest if fastest > 0.0 else np.inf
        if self.parameters.timestep > longest:
            raise ArmError(
                f'timestep is {self.parameters.timestep:g} s; with this servo_kd '
                f"motion type 'pd' is stable below {longest:.2g} s"
            )

    def apply_wrench(self, frame: str, wrench: ArrayLike) -> None:
        """Push on a frame: (6,) at its origin, base-aligned axes; zeros end it."""
        self._model.frame_id(frame)
        wrench = np.array(wrench, dtype=float)
        if self.motion.motion_type == 'independent_joint':
            raise ArmError('independent joints have no dynamics that a wrench could act on')
        if wrench.any():
            self._wrenches[frame] = wrench
        else:
            self._wrenches.pop(frame, None)

    def mass_matrix(self) -> Array:
        """Return M(q) + armature (n x n)."""
        return self._model.mass_matrix(self.q)

    def joint_friction(self) -> tuple[Array, Array]:
        """Return damping and Coulomb friction (n,)."""
        return self._model.damping, self._model.friction

    def bias_torque(self) -> Array:
        """Return C(q, v) v + g(q) (n,)."""
        return self._model.bias_torque(self.q, self.v)
