"""Adaptive control after Slotine and Li: the inertial parameters are learnt while moving."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.linalg import block_diag
from scipy.linalg.lapack import dposv

from arm_controllers.reference import Reference
from arm_dynamics.checks import in_range, per_joint
from arm_dynamics.model import Array, RobotModel


@dataclass(frozen=True)
class AdaptiveComputedTorqueParameters:
    """Gains of the sliding variable, and speed of adaptation.

    Slope is one number for all joints or one per joint.

    Attributes:
        slope: Lambda [1/s], the error decays like exp(-slope t) where s = 0.
        damping_rate: kappa [1/s], s decays like exp(-kappa t) with the right parameters. Slope
            and damping_rate of 20 are computed torque with kp = 400, kd = 40.
        adaptation_gain: gamma [1/(kg m^2)]; 0 does not adapt.
        expected_payload: mass that the tool may carry [kg]; what the last link may learn grows
            with it.
    """

    slope: tuple[float, ...] = (20.0,)
    damping_rate: float = 20.0
    adaptation_gain: float = 100.0
    expected_payload: float = 0.5

    def __post_init__(self):
        """Raises ArmError."""
        in_range('damping_rate', self.damping_rate, 0.0, exclusive=True)
        in_range('adaptation_gain', self.adaptation_gain, 0.0)
        in_range('expected_payload', self.expected_payload, 0.0, 1000.0)


class AdaptiveComputedTorque:
    """tau = Y(q, v, w, dw) pi + A dw + friction(w) - kappa M s + effort_r, dpi/dt = -Gamma Y^T s.

    With e = q_r - q: w = v_r + Lambda e, s = v - w, and Y pi = (M - A) dw + C w + g is linear in
    the ten inertial parameters of every link, pi; the rotors' inertias A, which are part of M, are
    known and not learnt. Whatever the links' true parameters are,

        V = (s^T M s + (pi - pi_true)^T Gamma^-1 (pi - pi_true)) / 2

    never rises, so s and the tracking error go to zero (Slotine and Li, Int. J. Robotics Research
    6(3), 1987). The gain kappa M(q), with the model's M, keeps that proof and damps every joint
    alike. The parameters need not converge to the true ones.

    Gamma is gamma times the natural metric of each link's pseudo-inertia P (4 x 4): dP = P Y P. It
    weighs masses, moments and inertias by the link's own size (Lee, Kwon and Park, A natural
    adaptive control law for robot manipulators, IROS 2018).

    Sampled with period dt the loop of s and pi is stable while g dt < kappa, where g = tr(M^-1 Y
    Gamma Y^T); the step is divided by 1 + g dt / kappa, which keeps it there. Nothing is learnt
    while a joint is at its effort limit.
    """

    command_interface = 'effort'
    lookahead = 0
    gains_act_on = 'sliding_variable'
    Parameters = AdaptiveComputedTorqueParameters

    def __init__(self, model: RobotModel, parameters: AdaptiveComputedTorqueParameters):
        """Raises ArmError for gains that are negative or not finite."""
        names = model.joint_names
        self._model = model
        self._slope = per_joint('slope', parameters.slope, names, minimum=0.0)
        self._rate = parameters.damping_rate
        self._weightless = model.pin_model.copy()
        self._weightless.gravity.linear = np.zeros(3)
        self._weightless_data = self._weightless.createData()
        self._nominal = np.concatenate(
            [inertia.toDynamicParameters() for inertia in model.pin_model.inertias[1:]]
        )
        self.estimate = self._nominal.copy()  # pi (10 n,)
        links = list(model.pin_model.inertias[1:])
        tip = model.pin_model.frames[model.frame_id()]
        ball = pin.Inertia.FromSphere(parameters.expected_payload, _PAYLOAD_RADIUS)
        links[tip.parentJoint - 1] += tip.placement.act(ball)
        self.gain = parameters.adaptation_gain * np.array([natural_gain(link) for link in links])
        values, vectors = np.linalg.eigh(self.gain)
        roots = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors
        self._root = block_diag(*roots)  # Gamma = root root^T

    def reset(self, q: Array, v: Array) -> None:
        """Forget what was learnt: the estimate is the model's."""
        self.estimate[:] = self._nominal

    def regressor(self, q: Array, v: Array, w: Array, dw: Array) -> Array:
        """Return Y (n x 10 n) with Y pi = (M(q) - A) dw + C(q, v) w + g(q).

        C(q, x) y is bilinear and symmetric in x and y, so that
        C(q, v) w = C(q, m) m - C(q, d) d with m = (v + w)/2, d = (v - w)/2.
        """
        model = self._model
        pin_q = model.to_pin(q)
        whole = pin.computeJointTorqueRegressor(
            model.pin_model, model.pin_data, pin_q, 0.5 * (v + w), dw
        ).copy()
        whole -= pin.computeJointTorqueRegressor(
            self._weightless, self._weightless_data, pin_q, 0.5 * (v - w), np.zeros(model.nv)
        )
        return whole

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the torque (n,) [N.m | N]; the estimate moves on to the next period."""
        w = reference.v + self._slope * self._model.difference(q, reference.q)
        dw = reference.a + self._slope * (reference.v - v)
        s = v - w
        regressor = self.regressor(q, v, w, dw)
        mass = self._model.mass_matrix(q)
        tau = regressor @ self.estimate
        tau -= self._rate * (mass @ s)
        tau += self._model.armature * dw
        tau += self._model.friction_torque(w)
        tau += reference.effort
        if (np.abs(tau) <= self._model.effort_limit).all():
            scaled = regressor @ self._root
            _, accelerations, _ = dposv(mass, scaled)
            speed = np.vdot(scaled, accelerations)  # tr(M^-1 Y Gamma Y^T)
            step = dt / (1.0 + dt * speed / self._rate)
            self.estimate -= step * (self._root @ (s @ scaled))
        return tau


_PAYLOAD_RADIUS = 0.05  # [m]


def pseudo_inertia(parameters: Array) -> Array:
    """Return P = [[tr(I)/2 - I, h], [h^T, m]] (4 x 4), linear in the ten inertial parameters.

    Args:
        parameters: (10,) m, m c, and the inertia about the joint frame's origin (Ixx, Ixy, Iyy,
            Ixz, Iyz, Izz), as Pinocchio has them.
    """
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = parameters
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    result = np.empty((4, 4))
    result[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    result[:3, 3] = result[3, :3] = hx, hy, hz
    result[3, 3] = m
    return result


def natural_gain(link: pin.Inertia) -> Array:
    """Return Gamma (10 x 10): the gradient y = tr(Y P(.)) gives the step Gamma y = P^-1(P Y P)."""
    to_matrix = np.column_stack([pseudo_inertia(unit).ravel() for unit in np.eye(10)])
    to_parameters = np.linalg.pinv(to_matrix)
    here = pseudo_inertia(link.toDynamicParameters())
    return to_parameters @ np.kron(here, here) @ to_parameters.T
