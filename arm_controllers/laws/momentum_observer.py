"""Computed torque with a momentum observer, which cancels what the model does not explain."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.laws import Array, Law, Model, Reference
from arm_controllers.second_order_gains import acceleration_gains
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_dynamics.small_matrices import times, transposed


@dataclass(frozen=True)
class MomentumObserverParameters(Parameters):
    """Gains of the error dynamics and of the observer."""

    kp: PerJoint = parameter((400.0,), 'position gain [1/s^2]', min=0)
    kd: PerJoint = parameter((40.0,), 'velocity gain [1/s]', min=0)
    observer_gain: PerJoint = parameter(
        (150.0,), 'bandwidth of the disturbance estimate [1/s], well below 1/dt', min=0
    )


class MomentumObserver(Law):
    """tau = computed torque - r, with r the estimate of every torque the model does not know.

    The generalised momentum p = M v obeys dp/dt = tau + C^T v - g - friction(v) + d. Therefore

        r = L (p - p(0) - integral of (tau + C^T v - g - friction(v) + r)),  dr/dt = L (d - r):

    a first-order low-pass of d, without any measured acceleration (De Luca and Mattone, ICRA 2003,
    Actuator failure detection; the law: Mohammadi et al., Control Eng. Practice 21, 2013).
    The torque that counts is the one within the model's effort limits.
    """

    gains = ('kp', 'kd')
    designed = acceleration_gains  # kp = wn^2, kd = 2 zeta wn
    knows = 80
    Parameters = MomentumObserverParameters

    def __init__(self, model: Model, parameters: MomentumObserverParameters):
        super().__init__(model, parameters)
        self.disturbance = np.zeros(model.nv)  # r, the estimate [N.m | N]
        self._predicted: Array | None = None  # p(0) + the integral

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past: the next state is the observer's start."""
        self._predicted = None

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the torque (..., n) [N.m | N]."""
        model, p, limit = self.model, self.parameters, self.model.effort_limit
        momentum = times(model.mass_matrix(q), v)
        predicted = momentum if self._predicted is None else self._predicted
        r = self.disturbance = p.observer_gain * (momentum - predicted)

        e, de = model.difference(q, reference.q), reference.v - v
        a = reference.a + p.kd * de + p.kp * e
        tau = model.inverse_dynamics(q, v, a)
        tau += reference.effort
        tau -= r

        rate = np.minimum(np.maximum(tau, -limit), limit) + r
        rate += times(transposed(model.coriolis_matrix(q, v)), v)
        rate -= model.gravity_torque(q)
        rate -= model.friction_torque(v)
        self._predicted = predicted + dt * rate
        return tau
