"""Computed torque for arms driven by DC motors: the torque, and the voltage that gives it."""

from dataclasses import dataclass

from arm_controllers.laws import Array, LawEvaluation, Measurement, Reference, RobotModel, State
from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_dynamics.checks import per_joint
from arm_dynamics.motors import DCMotors


@dataclass(frozen=True)
class MotorComputedTorqueParameters(DCMotors, ComputedTorqueParameters):
    """Gains and motors."""


class MotorComputedTorque(ComputedTorque):
    """V that makes tau = M(q) (a_r + kd (v_r - v) + kp (q_r - q)) + C(q, v) v + g(q) + effort_r.

    The error obeys e'' + kd e' + kp e = 0 at every pose, whatever gravity asks for there:
    V = Ra tau / Kt + Ke v, brush drop added, cancels back-EMF and load.
    """

    command_interface = 'voltage'
    evaluation = LawEvaluation(model_use=100)
    Parameters = MotorComputedTorqueParameters

    def __init__(self, model: RobotModel, parameters: MotorComputedTorqueParameters):
        super().__init__(model, parameters)
        per_joint('torque_constant', self.parameters.torque_constant, model.joint_names, 0.0, True)
        self._motors = self.parameters.constants(model.joint_names)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the voltages (..., n) [V]."""
        tau, state = super().__call__(state, measured, reference, dt)
        return self._motors.voltage(tau, measured.v), state
