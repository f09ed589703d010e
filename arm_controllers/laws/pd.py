"""PD with gravity compensation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arm_controllers.reference import Reference
from arm_dynamics.checks import per_joint
from arm_dynamics.model import RobotModel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PDParameters:
    """Gains; each is one number for all joints or one a joint.

    Attributes:
        kp: position gain [N.m/rad | N/m].
        kd: velocity gain [N.m.s/rad | N.s/m].
        gravity_compensation: add g(q).
    """

    kp: tuple[float, ...] = (400.0,)
    kd: tuple[float, ...] = (40.0,)
    gravity_compensation: bool = True


class PD:
    """tau = kp (q_r - q) + kd (v_r - v) + g(q) + effort_r.

    Globally asymptotically stable for a reference at rest (Siciliano et al., Robotics, section
    8.5.1). Without the gravity term the arm droops by g/kp.
    """

    command_interface = 'effort'
    lookahead = 0
    gains_act_on = 'torque'
    Parameters = PDParameters

    def __init__(self, model: RobotModel, parameters: PDParameters):
        """Raises ArmError for a gain that is negative or not finite."""
        self._model = model
        self.kp = per_joint('kp', parameters.kp, model.joint_names, minimum=0.0)
        self.kd = per_joint('kd', parameters.kd, model.joint_names, minimum=0.0)
        self._gravity_compensation = parameters.gravity_compensation

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past: this law has none."""

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the torque (n,) [N.m | N]."""
        tau = self.kp * self._model.difference(q, reference.q)
        tau += self.kd * (reference.v - v)
        tau += reference.effort
        if self._gravity_compensation:
            tau += self._model.gravity_torque(q)
        return tau
