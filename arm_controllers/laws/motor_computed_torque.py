"""Computed torque for arms driven by DC motors: the torque, and the voltage that gives it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arm_controllers.reference import Reference
from arm_dynamics.checks import per_joint
from arm_dynamics.model import RobotModel
from arm_dynamics.motors import DCMotors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MotorComputedTorqueParameters(DCMotors):
    """Gains and motors; each is one number for all joints or one a joint.

    Attributes:
        kp: [1/s^2].
        kd: [1/s]; 2 sqrt(kp) is critically damped.
        torque_constant, back_emf_constant, armature_resistance, brush_drop, half_drop_voltage: of
            the motors, see arm_dynamics.motors.
    """

    kp: tuple[float, ...] = (400.0,)
    kd: tuple[float, ...] = (40.0,)


class MotorComputedTorque:
    """V that makes tau = M(q) (a_r + kd (v_r - v) + kp (q_r - q)) + C(q, v) v + g(q) + effort_r.

    The error obeys e'' + kd e' + kp e = 0 at every pose, whatever gravity asks for there:
    V = Ra tau / Kt + Ke v, brush drop added, cancels back-EMF and load.
    """

    command_interface = 'voltage'
    lookahead = 0
    gains_act_on = 'acceleration'
    Parameters = MotorComputedTorqueParameters

    def __init__(self, model: RobotModel, parameters: MotorComputedTorqueParameters):
        """Raises ArmError for gains or motor constants that are not allowed."""
        names = model.joint_names
        self._model = model
        self._kp = per_joint('kp', parameters.kp, names, minimum=0.0)
        self._kd = per_joint('kd', parameters.kd, names, minimum=0.0)
        per_joint('torque_constant', parameters.torque_constant, names, 0.0, exclusive=True)
        self._motors = parameters.constants(names)

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past: this law has none."""

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the voltages (n,) [V]."""
        error = self._model.difference(q, reference.q)
        a = reference.a + self._kd * (reference.v - v) + self._kp * error
        tau = self._model.inverse_dynamics(q, v, a) + reference.effort
        return self._motors.voltage(tau, v)
