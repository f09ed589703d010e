"""Feedforward for position servos: the command whose servo torque moves the arm along."""

from dataclasses import dataclass
from typing import Any

from arm_controllers.laws import Array, Law, Reference, RobotModel
from arm_controllers.second_order_gains import Numbers, second_order_gains
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import PerJoint, Stepping, parameter

FEEDFORWARD = ('none', 'gravity', 'gravity_velocity', 'inverse_dynamics', 'discrete')


@dataclass(frozen=True)
class ServoParameters(Stepping):
    """Choice of feedforward, and what the servo drive in the plant does."""

    feedforward: str = parameter(
        'inverse_dynamics', 'what is added to the reference, see Servo', one_of=FEEDFORWARD
    )
    servo_kp: PerJoint = parameter((2000.0,), 'position gain of the servo [N.m/rad]', above=0)
    servo_kd: PerJoint = parameter((400.0,), 'its velocity gain [N.m.s/rad]', min=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feedforward == 'discrete' and self.control_decimation != 1:
            raise ArmError(
                f"feedforward 'discrete' needs control_decimation 1, not {self.control_decimation}"
            )


class Servo(Law):
    """Position command u for drives with tau = kp (u - q) - kd v.

    Levels, each of which adds to the one before:
        none: u = q_r.
        gravity: u = q_r + b(q, v)/kp, with b the gravity and velocity torques: no droop.
        gravity_velocity: ... + (kd v_r + friction(v_r))/kp: no lag behind a moving reference.
        inverse_dynamics: u = q_r + (tau(q_r, v_r, a_r) + kd v_r)/kp, the whole model.
        discrete: the command that brings the plant's next sample onto the reference's (deadbeat).

    The discrete level inverts the plant's semi-implicit step with implicit damping (MuJoCo's
    implicitfast),

        (M + h D)(v+ - v) = h (kp (u - q) - D v - b),  q+ = q + h v+,  D = kd + damping,

    for q+ = q_r(t + h): v+ = (q_r+ - q)/h, a = (v+ - v)/h, and u = q + (M a + b + D v+)/kp;
    Coulomb friction is that at v+ too. The drive's gains and the step are the plant's own. It
    corrects any error within one step, with whatever torque that takes: for exact models and
    lock-step.
    """

    command_interface = 'position'
    lookahead = 0  # unless the feedforward is discrete
    knows = 30
    Parameters = ServoParameters

    def __init__(self, model: RobotModel, parameters: ServoParameters):
        super().__init__(model, parameters)
        self._kp, self._kd = self.parameters.servo_kp, self.parameters.servo_kd
        self._rate = 1.0 / parameters.timestep
        self._command = getattr(self, f'_{parameters.feedforward}')
        # The discrete level asks for the reference at the sample that the command leads to.
        self.lookahead = 1 if parameters.feedforward == 'discrete' else 0

    @classmethod
    def designed(cls, model: RobotModel, q: Array, wn: Numbers, zeta: Numbers) -> Any:
        """Return the feedforward for drives with M_jj(q) wn^2 and 2 zeta wn M_jj(q)."""
        kp, kd = second_order_gains(wn, zeta, model.mass_matrix(q).diagonal())
        return ServoParameters(servo_kp=kp, servo_kd=kd)

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the position command (..., n) [rad | m]."""
        return self._command(q, v, reference)

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
        a = v_next - v
        a *= self._rate
        tau = self.model.inverse_dynamics(q, v, a)
        tau += self.model.friction_torque(v_next)
        tau -= self.model.friction_torque(v)
        tau += self._kd * v_next
        tau /= self._kp
        tau += q
        return tau
