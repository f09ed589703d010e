"""Hand guiding: a hand at the tool moves the arm as a body of a stated mass and damping."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arm_controllers.laws import Array, LawEvaluation, Measurement, Reference, RobotModel, State
from arm_controllers.task_space import AxesParameters, ToolLaw, ToolParameters, damped
from arm_dynamics.parameters import parameter
from arm_dynamics.small_matrices import inverse_axes, solve_positive, times, transposed

_LEAST_MOBILITY = 0.05  # below this a direction is given up smoothly [1/kg]
_OF_SPEED = 0.5  # largest share of a joint's speed limit


@dataclass(frozen=True)
class HandGuidingParameters(AxesParameters, ToolParameters):
    """The body that the hand feels, and how well the arm follows it."""

    apparent_mass: float = parameter(8.0, 'apparent mass of the tool [kg]', above=0)
    apparent_damping: float = parameter(40.0, 'apparent damping of the tool [N.s/m]', above=0)
    apparent_inertia: float = parameter(
        0.5, 'apparent moment of inertia of the tool [kg.m^2]', above=0
    )
    apparent_rotational_damping: float = parameter(
        3.0, 'apparent damping of the rotation of the tool [N.m.s/rad]', above=0
    )
    dead_band: float = parameter(1.5, 'force that moves nothing: error of the sensor [N]', min=0)
    torque_dead_band: float = parameter(
        0.15, 'torque that moves nothing: error of the sensor [N.m]', min=0
    )
    deceleration: float = parameter(
        2.0, 'deceleration before a joint limit [rad/s^2 | m/s^2]', above=0
    )
    kp: float = parameter(900.0, 'gain of the joint positions [1/s^2]', min=0)
    kd: float = parameter(60.0, 'gain of the joint velocities [1/s]', min=0)


class GuidedState(NamedTuple):
    """Memory of the law: the guided body.

    Attributes:
        q: (..., n) joint positions to which the hand has moved the arm [rad | m].
        v: (..., n) their velocities [rad/s | m/s].
        speed: (..., 6) of the tool, in base axes [m/s], [rad/s].
    """

    q: Array
    v: Array
    speed: Array


class HandGuiding(ToolLaw):
    """tau = M (a_g + kd (v_g - v) + kp (q_g - q)) + C v + g + friction(v) - J^T F + effort_r.

    The wrench F of the hand, less the dead band, moves a body of mass m and damping d:

        m x'' + d x' = F,   x' = J v_g,

    whose solution over a period is exact, and the arm follows that body. A hand that holds still
    leaves the body at rest: noise and bias within the dead band move nothing, whatever the model
    error. v_g is the motion of the joints with the least kinetic energy. In a singularity the
    lost direction is given up smoothly; towards a joint limit the body comes to rest with the
    stated deceleration. The law does not follow trajectories.

    Source: Hogan, J. Dynamic Systems, Measurement and Control 107, 1985 (impedance control).
    """

    evaluation = LawEvaluation(model_use=22)
    needs = ('wrench',)
    Parameters = HandGuidingParameters

    def __init__(self, model: RobotModel, parameters: HandGuidingParameters):
        super().__init__(model, parameters)
        self._guided = np.array(self.parameters.axes)

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return a body at rest where the arm is."""
        speed = np.zeros((*measured.q.shape[:-1], 6))
        return GuidedState(measured.q.copy(), np.zeros_like(measured.v), speed)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N], and the memory."""
        space, p, now = self._space, self.parameters, GuidedState(*state)
        felt = space.wrench(measured, space.motion(measured))
        wrench = np.concatenate(
            [_beyond(felt[..., :3], p.dead_band), _beyond(felt[..., 3:], p.torque_dead_band)], -1
        )
        zero = np.zeros_like(felt[..., :3])
        mass = np.concatenate([p.apparent_mass + zero, p.apparent_inertia + zero], -1)
        damping = np.concatenate(
            [p.apparent_damping + zero, p.apparent_rotational_damping + zero], -1
        )
        left = np.exp(-damping / mass * dt)
        speed = now.speed * left + self._guided * wrench / damping * (1.0 - left)
        guided = self._motion(now, speed, dt)
        a_g = (guided.v - now.v) / dt + p.kd * (now.v - measured.v)
        a_g += p.kp * self.model.difference(measured.q, now.q)
        tau = self.model.inverse_dynamics(measured.q, measured.v, a_g)
        tau -= times(transposed(space.jacobian(measured)), wrench)
        tau += reference.effort
        return tau, guided

    def _motion(self, now: GuidedState, speed: Array, dt: float) -> GuidedState:
        """Return the body a period later: at a speed of the tool, as far as joints allow it."""
        model, q = self.model, now.q
        jacobian = model.jacobian(q, self._space.frame)
        mass = model.mass_matrix(q)
        mobility = inverse_axes(mass, transposed(jacobian))
        torque = times(transposed(jacobian), damped(mobility, speed, _LEAST_MOBILITY))
        v = solve_positive(mass, torque[..., np.newaxis])[..., 0]
        ahead = np.maximum(model.position_upper - q, 0.0)
        behind = np.maximum(q - model.position_lower, 0.0)
        distance = np.where(v > 0.0, ahead, behind)
        a, half = self.parameters.deceleration, 0.5 * dt * self.parameters.deceleration
        fastest = np.sqrt(half**2 + 2.0 * a * distance) - half  # v^2 / 2 a + v dt / 2 = distance
        fastest = np.minimum(np.minimum(fastest, distance / dt), _OF_SPEED * model.velocity_limit)
        share = np.where(np.abs(v) > fastest, fastest / np.maximum(np.abs(v), 1e-12), 1.0)
        v = v * share.min(-1, keepdims=True)
        return GuidedState(q + dt * v, v, times(jacobian, v) * self._guided)


def _beyond(vector: Array, band: Array | float) -> Array:
    """Return vectors (..., 3), shorter by the band; those within it are zero."""
    size = np.linalg.norm(vector, axis=-1, keepdims=True)
    return vector * np.maximum(1.0 - band / np.maximum(size, 1e-12), 0.0)
