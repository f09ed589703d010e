"""The arm together with its position controller as a motion model: the engine of low fidelity."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, one_of
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import PerJoint, parameter
from arm_dynamics.published.motion_models import MOTION_TYPES, JointSpaceMotionModel
from arm_sim.plants.plant import Plant, PlantParameters


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


class MotionModelPlant(Plant):
    """Its command is the position reference of the motion model.

    The reference moves evenly from one command to the next, so that its velocity is known too;
    one that jumps, faster than a joint can move, is a step of the position at zero velocity.
    Runge-Kutta's classical method integrates, once per time step; gains of type 'pd' that are too
    stiff for it are refused.
    """

    Parameters = MotionModelParameters
    takes_goals = True

    def __init__(self, model: RobotModel, parameters: PlantParameters):
        super().__init__(model, parameters)
        p = self.parameters
        self.period = p.period_ns * 1e-9
        self.motion = JointSpaceMotionModel(
            model, p.motion_type, p.natural_frequency, p.damping_ratio, *p.servo_gains(model)
        )
        if any(p.settling_time):
            self.motion.update_error_dynamics_from_step(p.settling_time, p.overshoot)
        if p.motion_type == 'pd':
            self._check_step()
        n = model.nv
        self._state, self._command = np.zeros(2 * n), np.zeros(n)
        self.q, self.v = self._state[:n], self._state[n:]
        self.effort = np.zeros(n)
        self.reset(model.neutral())

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to state q, v, where a reference has come that moves with v."""
        super().reset(q, v)
        self._command[:] = self.q - self.period * self.v

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
            self.effort[:] = self._model.inverse_dynamics(self.q, self.v, k1[n:], self.wrenches)
            self._state += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        self._command[:] = command

    def _derivative(self, state: Array, position: Array, rate: Array) -> Array:
        return self.motion.derivative(state, np.concatenate([position, rate]), self.wrenches)

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
        """Push on a frame; refused with independent joints, which have no dynamics."""
        if self.motion.motion_type == 'independent_joint':
            raise ArmError('independent joints have no dynamics that a wrench could act on')
        super().apply_wrench(frame, wrench)
