"""Holding a pose with voltages: P, PI and PID on the joint error, as published."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.laws import Array, Law, Reference, RobotModel
from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class PosePIDParameters(Parameters):
    """Gains. A joint without gains gets 0 V.

    Sums and differences of errors are taken per control period, not per second.
    """

    p: PerJoint = parameter((0.0,), 'gain on the position error [V/rad]', min=0)
    i: PerJoint = parameter((0.0,), 'gain on the sum of position errors [V/rad]', min=0)
    d: PerJoint = parameter((0.0,), 'gain on the change of error per period [V/rad]', min=0)


class PosePID(Law):
    """V = p e + i sum(e) + d (e - previous e), with e = q_r - q."""

    command_interface = 'voltage'
    Parameters = PosePIDParameters

    def __init__(self, model: RobotModel, parameters: PosePIDParameters):
        super().__init__(model, parameters)
        self.reset(np.zeros(model.nv), np.zeros(model.nv))

    def reset(self, q: Array, v: Array) -> None:
        """Forget the sum and the previous error."""
        self._total = np.zeros_like(q)
        self._last: Array | None = None

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the voltages (..., n) [V]."""
        error = self.model.difference(q, reference.q)
        last = error if self._last is None else self._last
        self._total = self._total + error
        self._last = error
        gains = self.parameters
        return gains.p * error + gains.i * self._total + gains.d * (error - last)
