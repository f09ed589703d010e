"""Adaptive control after Slotine and Li: the inertial parameters are learnt while moving."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.adaptation import Adaptation
from arm_controllers.laws import (
    Array,
    Law,
    LawEvaluation,
    Measurement,
    Reference,
    RobotModel,
    State,
)
from arm_controllers.second_order_gains import Numbers, frequency_and_ratio, numbers
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_dynamics.small_matrices import times


@dataclass(frozen=True)
class AdaptiveComputedTorqueParameters(Parameters):
    """Gains of the sliding variable, and speed of adaptation.

    Slope and damping_rate of 20 are computed torque with kp = 400, kd = 40.
    """

    slope: PerJoint = parameter((20.0,), 'decay rate Lambda of the error where s = 0 [1/s]', min=0)
    damping_rate: float = parameter(
        20.0, 'decay rate kappa of s with exact parameters [1/s]', above=0
    )
    adaptation_gain: float = parameter(100.0, 'gain gamma of the adaptation [1/(kg m^2)]', min=0)
    expected_payload: float = parameter(
        0.5,
        'largest expected mass at the tool [kg]; bounds what the last link may learn',
        min=0,
        max=1000,
    )


class AdaptiveComputedTorque(Law):
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
    while a joint is at its effort limit or driven into its stop, and what was learnt fades with
    kappa: an estimate that asks for more than the joints have would otherwise keep them there for
    ever.
    """

    gains = ('slope', 'damping_rate')
    evaluation = LawEvaluation(model_use=90, tuned=('slope', 'damping_rate', 'adaptation_gain'))
    Parameters = AdaptiveComputedTorqueParameters

    def __init__(self, model: RobotModel, parameters: AdaptiveComputedTorqueParameters):
        super().__init__(model, parameters)
        self._nominal = model.inertial_parameters()
        p = self.parameters
        payloads = np.atleast_1d(p.expected_payload).ravel()
        metric = np.array([natural_metric(model, payload) for payload in payloads])
        if np.ndim(p.expected_payload) == 0:
            metric = metric[0]
        gamma = np.reshape(p.adaptation_gain, (*np.shape(p.adaptation_gain)[:-1], 1, 1, 1))
        self.gain, self._adaptation = gamma * metric, Adaptation(metric)

    @classmethod
    def designed(
        cls, model: RobotModel, q: Array, wn: Numbers, zeta: Numbers
    ) -> AdaptiveComputedTorqueParameters:
        """Return slope, damping_rate = wn (zeta -+ sqrt(zeta^2 - 1)): two real poles.

        Raises:
            ArmError: zeta < 1, or joints with different damping rates.
        """
        wn, zeta = np.asarray(wn, dtype=float), np.asarray(zeta, dtype=float)
        if (zeta < 1.0).any():
            raise ArmError(f'damping_ratio is {zeta.min():g}; with this law it must be >= 1')
        root = np.sqrt(zeta**2 - 1.0)
        slope, rate = wn * (zeta - root), wn * (zeta + root)
        if rate.min() < rate.max():
            raise ArmError(
                f'natural_frequency and damping_ratio give damping rates from {rate.min():g} to'
                f' {rate.max():g} 1/s; with this law all joints have the same'
            )
        return AdaptiveComputedTorqueParameters(numbers(slope), float(rate.max()))

    @classmethod
    def frequency_and_ratio(
        cls, model: RobotModel, q: Array, first: Array, second: Array
    ) -> tuple[Array, Array]:
        """Return wn = sqrt(slope rate) and zeta = (slope + rate) / (2 wn)."""
        return frequency_and_ratio(first * second, first + second)

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the inertial parameters pi (..., 10 n), which are the model's at first."""
        return (np.tile(self._nominal, (*measured.q.shape[:-1], 1)),)

    def resumed(self, state: State) -> State | None:
        """Go on with the inertial parameters that were learnt."""
        return state

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N], and the adapted inertial parameters."""
        model, p, (estimate,), (q, v, *_) = self.model, self.parameters, state, measured
        w = reference.v + p.slope * model.difference(q, reference.q)
        dw = reference.a + p.slope * (reference.v - v)
        s = v - w
        regressor = model.regressor(q, v, w, dw)
        mass = model.mass_matrix(q)
        tau = times(regressor, estimate)
        tau -= p.damping_rate * times(mass, s)
        tau += model.armature * dw
        tau += model.friction_torque(w)
        tau += reference.effort

        learnt, speed = self._adaptation(regressor, mass, s)  # Gamma Y^T s / gamma
        speed = p.adaptation_gain * speed  # tr(M^-1 Y Gamma Y^T)
        within = np.abs(tau) <= model.effort_limit
        within &= np.maximum(q, reference.q) >= model.position_lower
        within &= np.minimum(q, reference.q) <= model.position_upper
        within = within.all(-1, keepdims=True)
        step = within * dt * p.adaptation_gain / (1.0 + dt * speed / p.damping_rate)
        fades = ~within * -np.expm1(-dt * p.damping_rate)
        return tau, (estimate - step * learnt - fades * (estimate - self._nominal),)


def pseudo_inertia(parameters: Array) -> Array:
    """Return P = [[tr(I)/2 - I, h], [h^T, m]] (4 x 4), linear in the ten inertial parameters.

    Args:
        parameters: (10,) m, m c, and the inertia about the joint frame's origin (Ixx, Ixy, Iyy,
            Ixz, Iyz, Izz), as Pinocchio has them.
    """
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = parameters
    moment = np.array([[hx, hy, hz]])
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    spread = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    return np.block([[spread, moment.T], [moment, m]])


def _parameters(matrix: Array) -> Array:
    """Return the parameters (10,) whose pseudo-inertia is nearest to a matrix (4 x 4)."""
    symmetric = 0.5 * (matrix + matrix.T)
    spread = symmetric[:3, :3]
    (xx, xy, xz), (_, yy, yz), (*_, zz) = np.trace(spread) * np.eye(3) - spread
    return np.array([symmetric[3, 3], *symmetric[:3, 3], xx, xy, yy, xz, yz, zz])


def natural_metric(model: RobotModel, payload: float) -> Array:
    """Return the natural gain (links, 10, 10) of every link, the last one with a payload [kg]."""
    links = model.inertial_parameters(payload).reshape(-1, 10)
    return np.array([natural_gain(link) for link in links])


def natural_gain(link: Array) -> Array:
    """Return Gamma (10 x 10): the gradient y = tr(Y P(.)) gives the step Gamma y = P^-1(P Y P).

    `link` (10,) are its inertial parameters.
    """
    units = np.eye(16).reshape(16, 4, 4)
    to_parameters = np.column_stack([_parameters(unit) for unit in units])
    here = pseudo_inertia(link)
    return to_parameters @ np.kron(here, here) @ to_parameters.T
