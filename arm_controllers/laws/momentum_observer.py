"""Computed torque with a momentum observer, which cancels what the model does not explain."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arm_controllers.laws import Array, LawEvaluation, Measurement, Reference, State
from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.momentum import momentum, predicted_momentum
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import PerJoint, parameter


@dataclass(frozen=True)
class MomentumObserverParameters(ComputedTorqueParameters):
    """Gains of the error dynamics and of the observer."""

    observer_gain: PerJoint = parameter(
        (150.0,), 'bandwidth of the disturbance estimate [1/s], well below 1/dt', min=0
    )


class ObserverState(NamedTuple):
    """Memory of the observer.

    Attributes:
        predicted: (..., n) momentum that the model predicts [N.m.s | N.s].
        disturbance: (..., n) r, the estimate of the last period [N.m | N].
    """

    predicted: Array
    disturbance: Array


class MomentumObserver(ComputedTorque):
    """tau = computed torque - r, with r the estimate of every torque the model does not know.

    The generalised momentum p = M v obeys dp/dt = tau + C^T v - g - friction(v) + d. Therefore

        r = L (p - p(0) - integral of (tau + C^T v - g - friction(v) + r)),  dr/dt = L (d - r):

    a first-order low-pass of d, without any measured acceleration (De Luca and Mattone, ICRA 2003,
    Actuator failure detection; the law: Mohammadi et al., Control Eng. Practice 21, 2013).
    The torque that counts is the one within the model's effort limits, without the reference's
    effort: that answers what the model lacks, and the observer sees what is left of it.
    """

    evaluation = LawEvaluation(model_use=80, tuned=('kp', 'kd', 'observer_gain'))
    Parameters = MomentumObserverParameters

    def check_period(self, dt: float) -> None:
        """Raise ArmError where the estimate grows from period [s] to period: L dt >= 2."""
        gain = self.parameters.observer_gain
        joint = int(np.argmax(gain))
        if gain[joint] * dt >= 2.0:
            raise ArmError(
                f'observer_gain of joint {self.model.joint_names[joint]!r} is {gain[joint]:g}; '
                f'with a control period of {dt:g} s it must be < {2.0 / dt:g}'
            )

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the observer's memory: the momentum as measured, and no disturbance."""
        now = momentum(self.model, measured.q, measured.v)
        return ObserverState(now, np.zeros_like(now))

    def resumed(self, state: State) -> State | None:
        """Go on with the estimate."""
        return state

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N], and the observer's memory."""
        (q, v, *_), (predicted, _) = measured, state
        model, limit = self.model, self.model.effort_limit
        r = self.parameters.observer_gain * (momentum(model, q, v) - predicted)

        tau, _ = super().__call__((), measured, reference, dt)
        tau -= r
        effort = np.minimum(np.maximum(tau, -limit), limit) + r - reference.effort
        return tau, ObserverState(predicted_momentum(model, predicted, q, v, effort, dt), r)
