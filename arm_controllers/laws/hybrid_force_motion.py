"""Hybrid force and motion control: a force along the normal of a surface, motion across it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.contact import (
    Contact,
    ContactParameters,
    across,
    expected_normal,
    next_contact,
    pace,
    sides_of,
)
from arm_controllers.laws import Array, LawEvaluation, Measurement, Reference, State
from arm_controllers.task_space import PostureParameters, ToolLaw, ToolParameters, pose_error
from arm_dynamics.parameters import parameter
from arm_dynamics.small_matrices import times

_AVERAGED = 2.0  # product of integral gain and time at rest
_OFF = 0.2  # force error as a share of the goal that ends the rest
_LEAST_MOBILITY = 0.01  # below this a direction of the task is given up smoothly [1/kg]


@dataclass(frozen=True)
class HybridForceMotionParameters(ContactParameters, PostureParameters, ToolParameters):
    """Error dynamics across the surface, and the loop of the force."""

    kp: float = parameter(900.0, 'position gain across the normal [1/s^2]', min=0)
    kd: float = parameter(60.0, 'velocity gain across the normal [1/s]', min=0)
    orientation_kp: float = parameter(900.0, 'orientation gain [1/s^2]', min=0)
    orientation_kd: float = parameter(60.0, 'angular velocity gain [1/s]', min=0)
    force_damping: float = parameter(700.0, 'damping along the normal [N.s/m]', min=0)
    force_ki: float = parameter(20.0, 'integral gain of the force error [1/s]', min=0)
    force_ki_at_rest: float = parameter(
        0.5,
        'integral gain of the force error after a long time of a constant reference [1/s]; '
        'the smaller, the less noise of the sensor reaches the force',
        min=0,
    )
    cancel_friction: bool = parameter(
        True,
        'if true, the law cancels the measured force across the normal while the reference moves',
    )


class HybridState(NamedTuple):
    """Memory of the law; zero normals are not known yet.

    Attributes:
        normal: (..., 3) out of the surface, in base axes.
        integral: (..., 1) e_i [N].
        age: (..., 1) time since the first contact [s]; -1: there was none.
        approach: (..., 1) speed towards the surface before the first contact [m/s].
        seen: (..., 3, 3) weighted mean of v v^T of the tip, times its time [m^2/s].
        rest: (..., 1) time of contact with a constant reference [s].
        sides: (..., 3) e_i in the other directions that a wrench goal selects, in base axes [N].
    """

    normal: Array
    integral: Array
    age: Array
    approach: Array
    seen: Array
    rest: Array
    sides: Array


class HybridForceMotion(ToolLaw):
    """tau = M (Jbar x'' + N a_0) + C v + g + friction(v) + J^T (F n - P f) + effort_r.

    The law is that of operational space with P x'' in place of x'', P = 1 - n n^T: the tip is not
    accelerated along the normal n of the surface. Along n there is the force

        F = -(f_d + e_i) - kd_f v                    in contact
        F = -(kd_f approach_speed + e_i) - kd_f v    before

    with kd_f the force_damping, ki the force_ki, v the speed of the tip along n, f the measured
    force along n, f_d the desired one, and e_i the integral of ki (f_d - f) in contact, of ki kd_f
    (approach_speed + v) before. The force across n, friction, is measured too, and cancelled while
    the reference moves: at rest friction holds the tool. At rest ki falls as 2/t, so that e_i
    becomes the mean of all measured forces, with less and less noise. Feeding f_d forward and
    damping the speed leaves the contact a spring with the arm's inertia m: no force passes through
    a differentiation or a proportional gain, so that the loop does not depend on the stiffness k,
    and an impact at v has at most the peak v sqrt(k m).

    On a surface that is not where it is expected the tip moves along the true surface, since the
    force keeps it there: n is the direction in which the tip has moved least. The desired motion
    is that which looks the same along the desired force.

    Sources: Raibert and Craig, J. Dynamic Systems, Measurement and Control 102, 1981 (hybrid
    control); Khatib, IEEE J. Robotics and Automation 3(1), 1987 (unified operational space).
    """

    evaluation = LawEvaluation(model_use=55)
    needs, wrench_goal = ('wrench',), ('force',)
    Parameters = HybridForceMotionParameters

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return a memory of no contact."""
        arms = measured.q.shape[:-1]
        integral, rest, sides = (np.zeros((*arms, size)) for size in (1, 1, 3))
        return HybridState(
            **Contact.none(arms)._asdict(), integral=integral, rest=rest, sides=sides
        )

    def resumed(self, state: State) -> State | None:
        """Return None: a new contact begins."""
        return None

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N], and the memory."""
        space, p = self._space, self.parameters
        target, tip = space.target(reference), space.motion(measured)
        state, force = self._force(HybridState(*state), measured, reference, target, tip, dt)
        normal, expected = state.normal, expected_normal(reference, state.normal)
        error = pose_error(target, tip)

        linear = target.acceleration[..., :3] + p.kd * target.velocity[..., :3]
        linear += p.kp * error[..., :3]
        linear = across(linear, normal, expected)
        linear -= p.kd * across(tip.velocity[..., :3], normal, normal)
        if (sides := sides_of(reference, expected)) is not None:
            linear = linear - times(sides, linear)
        angular = target.acceleration[..., 3:] + p.orientation_kd * (
            target.velocity[..., 3:] - tip.velocity[..., 3:]
        )
        angular += p.orientation_kp * error[..., 3:]
        tip_a = np.concatenate([linear, angular], axis=-1) - tip.acceleration  # its Jdot v
        wrench = np.concatenate([force, np.zeros_like(force)], axis=-1)
        jacobian = space.jacobian(measured)
        tau = space.torque(p, measured, reference, jacobian, tip_a, _LEAST_MOBILITY, wrench)
        tau += reference.effort
        return tau, state

    def _force(
        self,
        state: HybridState,
        measured: Measurement,
        reference: Reference,
        target: Any,
        tip: Any,
        dt: float,
    ) -> tuple[HybridState, Array]:
        """Return the next memory, and the force (..., 3) in addition to that of the motion."""
        p = self.parameters
        if reference.wrench is None:
            return state._replace(normal=np.zeros_like(state.normal)), np.zeros_like(state.normal)
        felt = self._space.wrench(measured, tip)[..., :3]
        speed = tip.velocity[..., :3]
        before = Contact(state.normal, state.age, state.approach, state.seen)
        moving = pace(target)
        contact, touch = next_contact(p, before, reference, felt, speed, moving, dt)
        normal, age, approach, seen = contact
        sides, kept, touches = touch.sides, touch.kept, touch.touches

        along = (felt * normal).sum(-1, keepdims=True)
        goal = np.linalg.norm(reference.wrench[..., :3], axis=-1, keepdims=True)
        goal = goal * np.clip(age / p.rise_time, 0.0, 1.0)
        integral = np.where(kept, state.integral, 0.0)
        rate = (speed * normal).sum(-1, keepdims=True)
        push = np.where(age < 0.0, p.force_damping * approach, goal)
        error = np.where(
            age < 0.0, push + p.force_damping * rate, np.where(touches, goal - along, 0.0)
        )
        still = (target.velocity == 0.0).all(-1, keepdims=True)
        steady = still & (age > p.rise_time) & (np.abs(error) < _OFF * goal)
        rest = np.where(steady, state.rest + dt, 0.0)
        ki = np.minimum(
            p.force_ki, np.maximum(_AVERAGED / np.maximum(rest, dt), p.force_ki_at_rest)
        )
        integral = integral + dt * ki * error
        force = -(push + integral + p.force_damping * rate) * normal
        friction = across(felt, normal, normal)
        others = np.where(kept, state.sides, 0.0)
        if sides is not None:
            goals = times(sides, reference.wrench[..., :3] + 0.0 * felt)
            reaction = times(sides, felt)
            pressed = np.linalg.norm(reaction, axis=-1, keepdims=True) > p.contact_force
            goals = goals * np.clip(age / p.rise_time, 0.0, 1.0)
            others = others + dt * ki * np.where(pressed, goals + reaction, 0.0)
            force = force + goals + others - p.force_damping * times(sides, speed)
            friction = friction - reaction
        if p.cancel_friction:
            force = force - friction * moving
        return HybridState(normal, integral, age, approach, seen, rest, others), force
