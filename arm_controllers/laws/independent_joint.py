"""Independent joint control: one PID per joint, to which the arm's coupling is a disturbance."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.laws import (
    Array,
    Law,
    LawEvaluation,
    Measurement,
    Reference,
    RobotModel,
    State,
)
from arm_controllers.second_order_gains import Numbers, numbers
from arm_dynamics.checks import ArmError, entries
from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class IndependentJointParameters(Parameters):
    """Design of each joint's loop as if it were alone."""

    natural_frequency: PerJoint = parameter((20.0,), 'natural frequency wn [rad/s]', above=0)
    damping_ratio: PerJoint = parameter((1.0,), 'damping ratio zeta [1]', above=0)
    integral_rate: float = parameter(4.0, 'integral rate ki / kp [1/s], below 2 zeta wn', min=0)
    integral_limit: float = parameter(
        1.0, 'largest torque of the integral term as a share of the effort limit [1]', min=0, max=1
    )
    inertia: PerJoint = parameter(
        (),
        'constant joint inertias [kg m^2 | kg]; empty: diagonal of the mass matrix at activation',
        above=0,
    )


class IndependentJoint(Law):
    """tau_i = m_i (a_r + 2 zeta wn de + wn^2 (e + rate E)) + tau_0 + effort_r, m_i constant.

    Every joint is a double integrator of its own constant inertia m_i; the rest of the arm's
    dynamics is a disturbance that the integral term answers (Siciliano et al., Robotics, section
    8.3). tau_0 is the torque that holds the arm where the controller took over.
    """

    evaluation = LawEvaluation(
        model_use=0, tuned=('natural_frequency', 'damping_ratio', 'integral_rate')
    )
    Parameters = IndependentJointParameters

    def __init__(self, model: RobotModel, parameters: IndependentJointParameters):
        super().__init__(model, parameters)
        p = self.parameters
        self.kp, self.kd = p.natural_frequency**2, 2.0 * p.damping_ratio * p.natural_frequency
        self.ki = p.integral_rate * self.kp
        for (*_, i), (rate, bound) in entries(p.integral_rate, self.kd):
            if rate >= bound:
                raise ArmError(
                    f'integral_rate is {rate:g}; '
                    f'joint {model.joint_names[i]!r} is stable below 2 zeta wn = {bound:g}'
                )
        self._limit = p.integral_limit * model.effort_limit

    @classmethod
    def designed(
        cls, model: RobotModel, q: Array, wn: Numbers, zeta: Numbers
    ) -> IndependentJointParameters:
        """Return these dynamics with an integral rate of a fifth of the (slowest) frequency."""
        rate = float(np.min(wn)) / 5.0
        return IndependentJointParameters(numbers(wn), numbers(zeta), rate)

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the inertias m (..., n) and the torque tau_0 (..., n) that holds the arm."""
        inertia = self.parameters.inertia
        if not len(inertia):
            inertia = np.diagonal(self.model.mass_matrix(measured.q), axis1=-2, axis2=-1).copy()
        return inertia, self.model.gravity_torque(measured.q)

    def resumed(self, state: State) -> State | None:
        """Go on with the integral torque."""
        inertia = self.parameters.inertia
        return (inertia if len(inertia) else state[0], state[1])

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N], the inertias, and the next integral torque."""
        (m, integral), (q, v, *_), limit = state, measured, self._limit
        e, de = self.model.difference(q, reference.q), reference.v - v
        tau = m * (reference.a + self.kd * de + self.kp * e)
        tau += integral
        tau += reference.effort
        integral = integral + m * self.ki * dt * e
        return tau, (m, np.minimum(np.maximum(integral, -limit), limit))
