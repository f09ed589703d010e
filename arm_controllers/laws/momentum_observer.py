"""Computed torque with a momentum observer, which cancels what the model does not explain."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.laws import Array, Reference, RobotModel
from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_dynamics.parameters import PerJoint, parameter
from arm_dynamics.small_matrices import times, transposed


@dataclass(frozen=True)
class MomentumObserverParameters(ComputedTorqueParameters):
    """Gains of the error dynamics and of the observer."""

    observer_gain: PerJoint = parameter(
        (150.0,), 'bandwidth of the disturbance estimate [1/s], well below 1/dt', min=0
    )


class MomentumObserver(ComputedTorque):
    """tau = computed torque - r, with r the estimate of every torque the model does not know.

    The generalised momentum p = M v obeys dp/dt = tau + C^T v - g - friction(v) + d. Therefore

        r = L (p - p(0) - integral of (tau + C^T v - g - friction(v) + r)),  dr/dt = L (d - r):

    a first-order low-pass of d, without any measured acceleration (De Luca and Mattone, ICRA 2003,
    Actuator failure detection; the law: Mohammadi et al., Control Eng. Practice 21, 2013).
    The torque that counts is the one within the model's effort limits, without the reference's
    effort: that answers what the model lacks, and the observer sees what is left of it.
    """

    tuned = ('kp', 'kd', 'observer_gain')
    knows = 80
    Parameters = MomentumObserverParameters

    def __init__(self, model: RobotModel, parameters: MomentumObserverParameters):
        super().__init__(model, parameters)
        self.disturbance = np.zeros(model.nv)  # r, the estimate [N.m | N]
        self._predicted: Array | None = None  # p(0) + the integral

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past: the next state is the observer's start."""
        self._predicted = None

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the torque (..., n) [N.m | N]."""
        model, limit = self.model, self.model.effort_limit
        momentum = times(model.mass_matrix(q), v)
        predicted = momentum if self._predicted is None else self._predicted
        r = self.disturbance = self.parameters.observer_gain * (momentum - predicted)

        tau = super().__call__(q, v, reference, dt)
        tau -= r
        rate = np.minimum(np.maximum(tau, -limit), limit) + r - reference.effort
        rate += times(transposed(model.coriolis_matrix(q, v)), v)
        rate -= model.gravity_torque(q)
        rate -= model.friction_torque(v)
        self._predicted = predicted + dt * rate
        return tau
