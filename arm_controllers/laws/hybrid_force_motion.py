"""Hybrid force and motion control: a force along the normal of a surface, motion across it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arm_controllers.contact import CONTACT_NUMBERS, ContactParameters, numbers_of, rows
from arm_controllers.hybrid_rows import AGE, INTEGRAL, LEFT, MEMORY, REST, SIDES, hybrid_rows
from arm_controllers.laws import Array, LawEvaluation, Measurement, Reference, State
from arm_controllers.task_rows import joint_numbers
from arm_controllers.task_space import PostureParameters, ToolLaw, ToolParameters
from arm_dynamics.link_rows import frame_on_link, link_table
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import parameter

_NUMBERS = (
    *CONTACT_NUMBERS, 'kp', 'kd', 'orientation_kp', 'orientation_kd', 'force_damping', 'force_ki',
    'force_ki_at_rest', 'cancel_friction',
)  # fmt: skip
_NONE = np.empty((0, 0))  # no selection


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
    """Memory of the law, in one row; zero normals are not known yet.

    Attributes:
        row: (..., MEMORY) what the properties show.
    """

    row: Array

    @property
    def normal(self) -> Array:
        """(..., 3) out of the surface, in base axes."""
        return self.row[..., :3]

    @property
    def age(self) -> Array:
        """(..., 1) time since the first contact [s]; -1: there was none."""
        return self.row[..., AGE : AGE + 1]

    @property
    def integral(self) -> Array:
        """(..., 1) e_i [N]."""
        return self.row[..., INTEGRAL : INTEGRAL + 1]

    @property
    def rest(self) -> Array:
        """(..., 1) time of contact with a constant reference [s]."""
        return self.row[..., REST : REST + 1]


class HybridForceMotion(ToolLaw):
    """tau = M (Jbar x'' + N a_0) + C v + g + friction(v) + J^T (F n - P f) + effort_r.

    The law is that of operational space with P x'' in place of x'', P = 1 - n n^T: the tip is not
    accelerated along the normal n of the surface. Along n there is the force

        F = -(f_d + e_i) - kd_f v                    from the first contact on
        F = -(kd_f approach_speed + e_i) - kd_f v    before

    with kd_f the force_damping, ki the force_ki, v the speed of the tip along n, f the measured
    force along n, f_d the desired one, and e_i the integral of ki (f_d - f) in contact, of ki kd_f
    (approach_speed + v) before, of ki (f_d + kd_f v) where the contact is lost. The force across
    n, friction, is measured too, and cancelled while the reference moves: at rest friction holds
    the tool. At rest ki falls as 2/t, so that e_i becomes the mean of all measured forces, with
    less and less noise. Feeding f_d forward and damping the speed leaves the contact a spring with
    the arm's inertia m: no force passes through a differentiation or a proportional gain, so that
    the loop does not depend on the stiffness k, and an impact at v has at most the peak v sqrt(k
    m).

    On a surface that is not where it is expected the tip moves along the true surface, since the
    force keeps it there: n is the direction in which the tip has moved least. The desired motion
    is that which looks the same along the desired force. After the goal the tip returns to the
    reference with approach_speed.

    Sources: Raibert and Craig, J. Dynamic Systems, Measurement and Control 102, 1981 (hybrid
    control); Khatib, IEEE J. Robotics and Automation 3(1), 1987 (unified operational space).
    """

    evaluation = LawEvaluation(model_use=55)
    needs, wrench_goal = ('wrench',), ('force',)
    Parameters = HybridForceMotionParameters

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return a memory of no contact."""
        return HybridState(_no_contact(measured.q.shape[:-1]))

    def resumed(self, state: State) -> State | None:
        """Begin a new contact; the return after a goal goes on."""
        after = _no_contact(state[0].shape[:-1])
        after[..., LEFT:] = state[0][..., LEFT:]
        return HybridState(after)

    def __init__(self, model: RobotModel, parameters: HybridForceMotionParameters):
        super().__init__(model, parameters)
        p, space = self.parameters, self._space
        frames = [frame_on_link(model, name) for name in (space.frame, space.sensor)]
        self._arm = link_table(model), joint_numbers(model), np.array(frames)
        self._numbers = numbers_of(p, _NUMBERS), numbers_of(p, ('posture_kp', 'posture_kd'))
        q = model.neutral()
        rest = Measurement(q, np.zeros(model.nv))
        self((np.zeros(MEMORY),), rest, Reference(model.nv), 1e-3)  # compiles before a deadline

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N], and the memory."""
        (memory,), felt, goal = state, measured.wrench, reference.wrench
        none, selection = np.zeros((*measured.q.shape[:-1], 6)), _NONE
        if reference.selection is not None:
            selection = np.array(reference.selection)
        parts = (
            measured.q, measured.v, reference.row, none if felt is None else felt,
            none if goal is None else np.broadcast_to(goal, none.shape),
        )  # fmt: skip
        tau, after = hybrid_rows(
            *self._arm, *self._numbers, dt, goal is not None, selection,
            rows(np.concatenate(parts, axis=-1)), rows(memory),
        )  # fmt: skip
        tau, after = tau.reshape(measured.q.shape), after.reshape(memory.shape)
        for part in (slice(INTEGRAL, REST), slice(SIDES, LEFT)):
            after[..., part] = self.integrated(tau, memory[..., part], after[..., part])
        return tau, HybridState(after)


def _no_contact(shape: tuple[int, ...]) -> Array:
    memory = np.zeros((*shape, MEMORY))
    memory[..., AGE] = -1.0
    return memory
