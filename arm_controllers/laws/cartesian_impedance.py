"""Cartesian impedance: a spring and a damper at the tool, and a force where one is desired."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arm_controllers.laws import Array, LawEvaluation, Measurement, Reference, RobotModel, State
from arm_controllers.modal_damping import modal_damping
from arm_controllers.task_space import (
    TASK_AXES,
    PostureParameters,
    ToolLaw,
    ToolParameters,
    directions,
    pose_error,
)
from arm_dynamics.parameters import PerJoint, parameter
from arm_dynamics.small_matrices import times, transposed

_LEAST_MOBILITY = 0.01  # below this a direction is left to the posture smoothly [1/kg]
_LEAST_STIFFNESS = 1.0  # from which a stiffness grows by its rate [N/m | N.m/rad]
_TOUCH = 0.5  # force that counts as a contact [N]


@dataclass(frozen=True)
class CartesianImpedanceParameters(PostureParameters, ToolParameters):
    """Stiffness and damping of the tool, and the way to a desired force."""

    stiffness: PerJoint = parameter(
        (1000.0, 1000.0, 1000.0, 100.0, 100.0, 100.0),
        'stiffness K along and about the axes of the base, 6 numbers or one for all '
        '[N/m | N.m/rad]',
        min=0,
        per=TASK_AXES,
    )
    damping_ratio: float = parameter(
        0.7, 'damping ratio of each mode of the mass at the tool and K [1]', min=0, max=10
    )
    stiffness_rate: float = parameter(
        5.0, 'largest relative rate of change of the stiffness while the law runs [1/s]', above=0
    )
    force_damping: float = parameter(
        300.0, 'additional damping in the directions of a desired force [N.s/m]', min=0
    )
    force_ki: float = parameter(
        0.0, 'integral gain of the force error [1/s]; 0: the law needs no force-torque sensor',
        min=0,
    )  # fmt: skip
    rise_time: float = parameter(
        0.5, 'time in which the spring gives way to a desired force, and returns [s]', above=0
    )


class ImpedanceState(NamedTuple):
    """Memory of the law.

    Attributes:
        stiffness: (..., 6) the present one [N/m | N.m/rad].
        directions: (..., 6, 6) projection onto the newest directions of a desired wrench.
        share: (..., 1) how far the spring has given way there, 0 to 1.
        integral: (..., 6) of the force error [N | N.m].
    """

    stiffness: Array
    directions: Array
    share: Array
    integral: Array


class CartesianImpedance(ToolLaw):
    """tau = M a_r + C v_r + g + friction(v) + J^T F + (M - J^T L J) a_0 + effort_r.

        F = Q K Q e + D (x_r' - x') + s (F_d + e_i) - s d S x',   Q = 1 - s S.

    The tool keeps its own inertia L = (J M^-1 J^T)^-1: pushed by F_e, its error obeys
    L e'' + D e' + K e = -F_e around a reference at rest, which is passive in every posture, since
    C is that of M and nothing is inverted. At rest e = -F_e / K. D gives every mode of (L, K) the
    same damping ratio (Albu-Schaeffer et al., ICRA 2003, double diagonalisation). a_0 holds the
    posture in the null space.

    A desired wrench F_d is fed forward. In its directions S the spring gives way, over rise_time
    (s from 0 to 1), and there is a damping d: in contact the force at rest is F_d, in free space
    the tool moves at F_d / d. With force_ki the integral e_i of the measured error is added.

    The stiffness may change while the law runs. It moves to its new value by a factor of at most
    exp(stiffness_rate dt) per period: with a relative rate below
    4 zeta wn / (1 + 2 zeta^2), wn the slowest mode, a tool in free space comes to rest
    (Kronander and Billard, IEEE Trans. Robotics 32(5), 2016).
    """

    evaluation = LawEvaluation(model_use=21)
    wrench_goal = ('force', 'torque')
    Parameters = CartesianImpedanceParameters

    def __init__(self, model: RobotModel, parameters: CartesianImpedanceParameters):
        super().__init__(model, parameters)
        self.needs = ('wrench',) if np.any(self.parameters.force_ki) else ()

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the memory with the stiffness of the parameters, and no force."""
        arms = measured.q.shape[:-1]
        stiffness = np.zeros((*arms, 6)) + self.parameters.stiffness
        zero = np.zeros((*arms, 6))
        return ImpedanceState(stiffness, np.zeros((*arms, 6, 6)), zero[..., :1], zero)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N], and the memory."""
        space, p, q, v = self._space, self.parameters, measured.q, measured.v
        state = self._next(ImpedanceState(*state), reference, dt)
        before = state.integral
        target, tip = space.target(reference), space.motion(measured)
        jacobian, mass = space.jacobian(measured), self.model.mass_matrix(q)

        wanted = state.directions * state.share[..., np.newaxis]
        rest = np.eye(6) - wanted
        force = times(rest, pose_error(target, tip))
        force = times(rest, state.stiffness * force)
        roots = np.sqrt(state.stiffness)
        right = transposed(jacobian) * roots[..., np.newaxis, :]
        modes, weights = modal_damping(mass, right, roots, p.damping_ratio)
        slip = target.velocity - tip.velocity
        force += times(modes, weights * times(transposed(modes), slip))
        if reference.wrench is not None:
            felt = space.wrench(measured, tip)
            state = self._integrated(state, reference.wrench, felt, tip.velocity, dt)
            force += times(wanted, reference.wrench + state.integral)
        force[..., :3] -= p.force_damping * times(wanted, tip.velocity)[..., :3]

        along = times(jacobian, reference.a)  # the null space does without it
        tau = space.torque(p, measured, reference, jacobian, along, _LEAST_MOBILITY, force)
        tau += times(self.model.coriolis_matrix(q, v), reference.v - v)
        tau += reference.effort
        integral = self.integrated(tau, before, state.integral)
        return tau, state._replace(integral=integral)

    def _next(self, state: ImpedanceState, reference: Reference, dt: float) -> ImpedanceState:
        """Return the memory with stiffness, directions and share of this period."""
        p, stiffness = self.parameters, state.stiffness + _LEAST_STIFFNESS
        factor = np.exp(p.stiffness_rate * dt)
        highest, lowest = stiffness * factor, stiffness / factor
        stiffness = np.minimum(np.maximum(p.stiffness + _LEAST_STIFFNESS, lowest), highest)
        stiffness -= _LEAST_STIFFNESS
        selected = directions(reference)
        step = dt / p.rise_time
        if selected is None:
            share = np.maximum(state.share - step, 0.0)
            return state._replace(stiffness=stiffness, share=share, integral=0.0 * state.integral)
        share = np.minimum(state.share + step, 1.0)
        return state._replace(
            stiffness=stiffness, directions=selected + 0.0 * state.directions, share=share
        )

    def _integrated(
        self, state: ImpedanceState, goal: Array, felt: Array, speed: Array, dt: float
    ) -> ImpedanceState:
        """Return the memory with the integral of the force error, which fades out of contact.

        What a tool feels that is faster than the goal moves it is its own inertia.
        """
        p, selected = self.parameters, state.directions
        drag = p.force_damping * times(selected, speed)[..., :3]
        touches = np.linalg.norm(times(selected, felt), axis=-1, keepdims=True) > _TOUCH
        touches &= (drag**2).sum(-1, keepdims=True) <= (goal[..., :3] ** 2).sum(-1, keepdims=True)
        grown = state.integral + dt * p.force_ki * times(selected, goal + felt)
        faded = state.integral * np.exp(-p.force_ki * dt)
        return state._replace(integral=np.where(touches, grown, faded))
