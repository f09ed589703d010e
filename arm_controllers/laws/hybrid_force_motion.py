"""Hybrid force and motion control: a force along the normal of a surface, motion across it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arm_controllers.contact import (
    CONTACT_NUMBERS,
    Contact,
    ContactParameters,
    numbers_of,
    owned,
    rows,
    selection_of,
    shaped,
)
from arm_controllers.contact_rows import hybrid_rows
from arm_controllers.laws import Array, LawEvaluation, Measurement, Reference, State
from arm_controllers.task_space import PostureParameters, ToolLaw, ToolParameters, pose_error
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import parameter

_NUMBERS = (
    *CONTACT_NUMBERS, 'kp', 'kd', 'orientation_kp', 'orientation_kd', 'force_damping', 'force_ki',
    'force_ki_at_rest', 'cancel_friction',
)  # fmt: skip
_FREE = np.empty((1, 0))  # no wrench goal
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

    def __init__(self, model: RobotModel, parameters: HybridForceMotionParameters):
        super().__init__(model, parameters)
        self._numbers = numbers_of(self.parameters, _NUMBERS)
        rest = Reference(model.nv)
        memory = self.start(Measurement(rest.q, rest.v), rest)
        felt, tip = np.zeros(6), np.zeros(12)
        # Compiles before a deadline.
        self._next(HybridState(*memory), rest, felt, tip, tip, felt, 1e-3)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N], and the memory."""
        space, p = self._space, self.parameters
        target, tip = space.target(reference), space.motion(measured)
        felt = space.wrench(measured, tip)
        wanted, moves = (
            np.concatenate([each.velocity, each.acceleration], axis=-1) for each in (target, tip)
        )
        state, wrench, tip_a = self._next(
            HybridState(*state), reference, felt, wanted, moves, pose_error(target, tip), dt
        )
        jacobian = space.jacobian(measured)
        tau = space.torque(p, measured, reference, jacobian, tip_a, _LEAST_MOBILITY, wrench)
        tau += reference.effort
        return tau, state

    def _next(
        self,
        state: HybridState,
        reference: Reference,
        felt: Array,
        target: Array,
        tip: Array,
        error: Array,
        dt: float,
    ) -> tuple[HybridState, Array, Array]:
        """Return the memory, the wrench (..., 6) of the force loop, and the tip's acceleration.

        The latter (..., 6) is the desired one minus the tip's Jdot v.

        Args:
            state: of the period before.
            reference: with the wrench goal.
            felt: (..., 6) measured wrench on the tool, in base axes.
            target, tip: (..., 12) velocity and acceleration of the tip in the reference; of the
                tip without joint accelerations.
            error: (..., 6) of its pose.
            dt: [s].
        """
        goal = _FREE if reference.wrench is None else rows(reference.wrench)
        memory = owned(state, felt.ndim - 1)
        wrench, tip_a = hybrid_rows(
            self._numbers, dt, goal, selection_of(reference), rows(felt), rows(target), rows(tip),
            rows(error), *memory,
        )  # fmt: skip
        found = wrench.reshape(felt.shape), tip_a.reshape(felt.shape)
        return HybridState(*shaped(memory, state)), *found
