"""Computed torque: cancel the arm's dynamics, impose second-order error dynamics."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arm_controllers.reference import Reference
from arm_dynamics.checks import per_joint
from arm_dynamics.model import RobotModel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ComputedTorqueParameters:
    """Gains of the error dynamics, each one number for all joints or one per joint.

    Attributes:
        kp: position gain [1/s^2], the square of the natural frequency.
        kd: velocity gain [1/s], twice damping ratio times natural frequency.
    """

    kp: tuple[float, ...] = (400.0,)
    kd: tuple[float, ...] = (40.0,)


class ComputedTorque:
    """tau = M (a_r + kd (v_r - v) + kp (q_r - q)) + C v + g + friction(v) + effort_r.

    With an exact model the error obeys e'' + kd e' + kp e = 0 at every joint
    (Siciliano et al., Robotics, section 8.5.2; Lynch and Park, Modern Robotics, eq. 11.35).
    """

    command_interface = 'effort'
    lookahead = 0
    gains_act_on = 'acceleration'
    Parameters = ComputedTorqueParameters

    def __init__(self, model: RobotModel, parameters: ComputedTorqueParameters):
        """Raises ArmError for a gain that is negative or not finite."""
        names = model.joint_names
        self._model = model
        self.kp = per_joint('kp', parameters.kp, names, minimum=0.0)
        self.kd = per_joint('kd', parameters.kd, names, minimum=0.0)

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past: this law has none."""

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the torque (n,) [N.m | N]."""
        a = (
            reference.a
            + self.kd * (reference.v - v)
            + self.kp * self._model.difference(q, reference.q)
        )
        tau = self._model.inverse_dynamics(q, v, a)
        tau += reference.effort
        return tau
