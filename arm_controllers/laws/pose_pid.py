"""Holding a pose with voltages: P, PI and PID on the joint error, as published."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.laws import Array, Law, Measurement, Reference, State
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

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the sum of the errors (..., n) [rad], at zero, and the present error (..., n)."""
        return np.zeros_like(measured.q), self.model.difference(measured.q, reference.q)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the voltages (..., n) [V]; the sum of the errors, and the last of them."""
        total, last = state
        error = self.model.difference(measured.q, reference.q)
        total, gains = total + error, self.parameters
        voltage = gains.p * error + gains.i * total + gains.d * (error - last)
        return voltage, (total, error)
