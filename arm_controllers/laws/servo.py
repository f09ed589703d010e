"""Feedforward for position servos: the command whose servo torque moves the arm along."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arm_controllers.delayed_drives import DelayedDrives, Prediction
from arm_controllers.laws import (
    Array,
    Law,
    LawEvaluation,
    Measurement,
    Reference,
    RobotModel,
    State,
)
from arm_controllers.second_order_gains import Numbers, second_order_gains
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import PerJoint, Stepping, parameter

FEEDFORWARD = ('none', 'gravity', 'gravity_velocity', 'inverse_dynamics', 'discrete', 'observed')
_ONE_STEP = FEEDFORWARD[-2:]
RECOVERY = 20.0  # natural frequency of errors that a joint lacks the effort for [rad/s]


@dataclass(frozen=True)
class ServoParameters(Stepping):
    """Choice of feedforward, and what the servo drive in the plant does."""

    feedforward: str = parameter(
        'inverse_dynamics', 'model terms added to the reference (see Servo)', one_of=FEEDFORWARD
    )
    servo_kp: PerJoint = parameter((2000.0,), 'position gain of the servo [N.m/rad]', above=0)
    servo_kd: PerJoint = parameter((400.0,), 'velocity gain of the servo [N.m.s/rad]', min=0)
    observer_pole: float = parameter(
        0.8,
        "observer pole of 'observed' [1]: 0 trusts the sensors; from 0.75 on one period of delay "
        'that `delay` lacks leaves the arm stable',
        min=0,
        max=0.95,
    )
    delay: int = parameter(
        0,
        "delay from command to drive that 'observed' compensates [control periods]",
        min=0,
        max=20,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        level = self.feedforward
        if level == 'discrete' and self.control_decimation != 1:
            raise ArmError(
                f"feedforward 'discrete' needs control_decimation 1, not {self.control_decimation}"
            )
        for name in ('observer_pole', 'delay'):
            value = getattr(self, name)
            if value != getattr(ServoParameters, name) and level != 'observed':
                raise ArmError(
                    f"{name} is {value:g}; only feedforward 'observed' has it, not {level!r}"
                )


class ObservedState(NamedTuple):
    """Memory of the observed level.

    Attributes:
        disturbance: d (..., n), the torque that the model lacks [N.m | N].
        expected: what the last period is expected to have led to.
        passed: the references (..., n) of the last two periods; empty without a delay.
        pending: commands and efforts, each (..., n), that the drives have not applied yet.
    """

    disturbance: Array
    expected: Prediction
    passed: tuple[Array, ...]
    pending: tuple[tuple[Array, Array], ...]


class Servo(Law):
    """Position command u for drives with tau = kp (u - q) - kd v.

    Levels, each of which adds to the one before:
        none: u = q_r.
        gravity: u = q_r + b(q, v)/kp, with b the gravity and velocity torques: no droop.
        gravity_velocity: ... + (kd v_r + friction(v_r))/kp: no lag behind a moving reference.
        inverse_dynamics: u = q_r + (tau(q_r, v_r, a_r) + kd v_r)/kp, the whole model.
        discrete: the command that brings the plant's next sample onto the reference's (deadbeat).
        observed: discrete, for a state and a torque d that are estimated: the model may be wrong.

    The discrete level inverts the plant's semi-implicit step with implicit damping (MuJoCo's
    implicitfast),

        (M + h D)(v+ - v) = h (kp (u - q) - D v - b),  q+ = q + h v+,  D = kd + damping,

    for q+ = q_r(t + h): v+ = (q_r+ - q)/h, a = (v+ - v)/h, and u = q + (M a + b + D v+)/kp;
    Coulomb friction is that at v+ too, and the reference's effort is added to M a + b. The drive's
    gains and the step are the plant's own. It corrects an error within one step: for exact models
    and lock-step. Where a joint lacks the effort for that, v+ is that of critically damped errors
    with RECOVERY, within the limits of speed: a full step back and forth would never end.

    The observed level expects q+ and v+ and corrects them by what is measured then. What the
    velocity missed is a torque that the model lacks, d = (M + h D)(v_measured - v+)/h, and the
    next step has it. With p = `observer_pole` the observer's poles are at p: q+ takes 1 - p of
    what it missed, v+ takes 1 - p^2, and d (1 - p)^2 (Luenberger, IEEE Trans. Automatic Control
    16, 1971). Where the plant integrates several times per control period, the step of the level
    is the period, and what that leaves out is a part of d. A model that is heavier than the arm
    shakes the arm beyond a margin: 14 % for p = 0, 84 % for 0.54, a factor of 3 for 0.8. Below
    p = 0.5 unknown Coulomb friction makes joints that stick jump to and fro.

    With a delay the observed level predicts the state at which its command takes effect, and
    aims at the reference there. That is a prediction, so what is left of an error is not taken
    back in one step: its poles are at p too. With p = 0.8 the loop stays stable for one period of
    delay more than configured.
    """

    command_interface = 'position'
    lookahead = 0  # unless the feedforward is discrete
    evaluation = LawEvaluation(model_use=30, tuned=('servo_kp', 'servo_kd'), variant='feedforward')
    Parameters = ServoParameters

    def __init__(self, model: RobotModel, parameters: ServoParameters):
        super().__init__(model, parameters)
        self._kp, self._kd = self.parameters.servo_kp, self.parameters.servo_kd
        # An array: NumPy takes twice as long to multiply by a float.
        self._rate = np.full(model.nv, 1.0 / self.parameters.period)
        self._per_effort = 1.0 / model.effort_limit
        self._recovered = -math.expm1(-2.0 * RECOVERY * self.parameters.period)
        p = self.parameters
        # One-step levels follow the reference at the sample that the command leads to.
        self.lookahead = 1 + p.delay if p.feedforward in _ONE_STEP else 0
        self._observes = p.feedforward == 'observed'
        if self._observes:  # imports SciPy
            self._drives = DelayedDrives(model, self._kp, self._kd, p.period, p.delay)
        else:
            self._command = getattr(self, f'_{p.feedforward}')

    @classmethod
    def designed(cls, model: RobotModel, q: Array, wn: Numbers, zeta: Numbers) -> ServoParameters:
        """Return the feedforward for drives with M_jj(q) wn^2 and 2 zeta wn M_jj(q)."""
        kp, kd = second_order_gains(wn, zeta, model.mass_matrix(q).diagonal())
        return ServoParameters(servo_kp=kp, servo_kd=kd)

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the memory of the observed level: the arm is where it is expected, without d."""
        if not self._observes:
            return ()
        q, v = measured.q, measured.v
        free = np.ones((*q.shape[:-1], 1))
        expected = Prediction(q.copy(), v.copy(), self._drives.late_inertia(q), free)
        passed: tuple[Array, ...] = ()
        if self.parameters.delay:
            wanted = reference.ahead(self.lookahead)
            back = wanted.v / self._rate
            passed = wanted.q - back, wanted.q - 2.0 * back
        return ObservedState(np.zeros_like(q), expected, passed, ())

    def resumed(self, state: State) -> State | None:
        """Go on with what the observed level has learnt, unless the delay is another one."""
        if not self._observes or not state:
            return None
        before = ObservedState(*state)
        late = max(len(before.pending) - 1, 0)
        return before if late == self.parameters.delay else None

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the position command (..., n) [rad | m], and the memory of the next period."""
        if self.lookahead:
            reference = reference.ahead(self.lookahead)
        if self._observes:
            return self._observed(ObservedState(*state), measured, reference)
        return self._command(measured.q, measured.v, reference), state

    def _none(self, q: Array, v: Array, reference: Reference) -> Array:
        return reference.q + reference.effort / self._kp

    def _gravity(self, q: Array, v: Array, reference: Reference) -> Array:
        return reference.q + (self.model.bias_torque(q, v) + reference.effort) / self._kp

    def _gravity_velocity(self, q: Array, v: Array, reference: Reference) -> Array:
        drag = self._kd * reference.v + self.model.friction_torque(reference.v)
        return self._gravity(q, v, reference) + drag / self._kp

    def _inverse_dynamics(self, q: Array, v: Array, reference: Reference) -> Array:
        tau = self.model.inverse_dynamics(reference.q, reference.v, reference.a)
        tau += self._kd * reference.v
        tau += reference.effort
        tau /= self._kp
        tau += reference.q
        return tau

    def _discrete(self, q: Array, v: Array, reference: Reference) -> Array:
        v_next = self.model.difference(q, reference.q)
        v_next *= self._rate
        tau, v_next = self._reaching(q, v, v_next, reference, reference.effort)
        tau += self._kd * v_next
        tau /= self._kp
        tau += q
        return tau

    def _reaching(
        self, q: Array, v: Array, v_next: Array, reference: Reference, added: Array
    ) -> tuple[Array, Array]:
        """Return the torque that leads to a velocity (..., n) in one step, and the velocity.

        Where a joint lacks the effort for it, all joints go to the reference with RECOVERY: the
        more the more it lacks, and altogether where it is asked for twice its effort limit.
        """
        tau = self._torque(q, v, v_next)
        tau += added
        share = tau * self._per_effort
        one = share.ravel()
        if one.dot(one) <= 1.0:
            return tau, v_next
        asked = np.abs(share).max(-1, keepdims=True)
        if (asked <= 1.0).all():
            return tau, v_next
        fastest = self.model.velocity_limit
        aim = reference.v + 0.5 * RECOVERY * self.model.difference(q, reference.q)
        aim = np.minimum(np.maximum(aim, -fastest), fastest)
        aim = v + self._recovered * (aim - v)
        less = np.minimum(np.maximum(asked - 1.0, 0.0), 1.0)
        v_next = v_next + less * (aim - v_next)
        return self._torque(q, v, v_next) + added, v_next

    def _torque(self, q: Array, v: Array, v_next: Array) -> Array:
        """Return the torque (..., n) that leads from v to v_next in one step."""
        model, a = self.model, v_next - v
        a *= self._rate
        tau = model.inverse_dynamics(q, v, a)
        if model.has_friction:
            tau += model.friction_torque(v_next)
            tau -= model.friction_torque(v)
        return tau

    def _observed(
        self, state: ObservedState, measured: Measurement, reference: Reference
    ) -> tuple[Array, State]:
        drives, pending = self._drives, state.pending
        q, v, disturbance = drives.estimate(
            measured.q,
            measured.v,
            state.expected,
            state.disturbance,
            self.parameters.observer_pole,
        )
        q_ahead, v_ahead = drives.ahead(q, v, disturbance, pending)
        aim = self._aim(q_ahead, v_ahead, reference, state.passed)
        added = reference.effort - disturbance
        torque, v_next = self._reaching(q_ahead, v_ahead, aim, reference, added)
        command = q_ahead + (torque + self._kd * v_next) / self._kp
        if self.parameters.delay:
            pending = drives.given(pending, command, reference.effort)
            expected = drives.next(q, v, disturbance, pending)
            passed: tuple[Array, ...] = (reference.q.copy(), state.passed[0])
        else:
            free = drives.free(torque, v, v_next)
            reached = np.where(v_next == aim, reference.q, q + v_next / self._rate)
            expected = Prediction(reached, v_next, drives.late_inertia(q), free)
            passed = ()
        return command, ObservedState(disturbance, expected, passed, pending)

    def _aim(self, q: Array, v: Array, reference: Reference, passed: tuple[Array, ...]) -> Array:
        """Return the velocity (..., n) one period after the state at which the command acts."""
        difference, rate, pole = self.model.difference, self._rate, self.parameters.observer_pole
        if not passed:
            return difference(q, reference.q) * rate
        one, two = passed
        v_now, v_next = difference(two, one) * rate, difference(one, reference.q) * rate
        lag = (1.0 - pole) ** 2 * difference(q, one) * rate
        return v + v_next - v_now - (1.0 - pole**2) * (v - v_now) + lag
