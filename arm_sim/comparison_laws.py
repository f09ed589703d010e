"""The laws that are compared, each designed for the same error dynamics."""

from typing import Any

from arm_controllers.adaptive_computed_torque import (
    AdaptiveComputedTorque,
    AdaptiveComputedTorqueParameters,
)
from arm_controllers.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.computed_torque_pid import ComputedTorquePid, ComputedTorquePidParameters
from arm_controllers.independent_joint import IndependentJoint, IndependentJointParameters
from arm_controllers.joint_impedance import JointImpedance, JointImpedanceParameters
from arm_controllers.laws import Law
from arm_controllers.momentum_observer import MomentumObserver, MomentumObserverParameters
from arm_controllers.operational_space import OperationalSpace, OperationalSpaceParameters
from arm_controllers.pd import PD, PDParameters
from arm_controllers.pd_feedforward import PDFeedforward, PDFeedforwardParameters
from arm_controllers.servo import Servo, ServoParameters
from arm_dynamics.checks import in_range, one_of, per_joint
from arm_sim.comparison_tasks import Robot

# From the least to the most that a law knows of the arm.
COMPARED_LAWS = (
    'independent_joint',
    'pd',
    'pd_gravity',
    'joint_impedance',
    'servo',
    'pd_feedforward',
    'operational_space',
    'computed_torque',
    'computed_torque_pid',
    'momentum_observer',
    'adaptive_computed_torque',
)


def make_law(name: str, robot: Robot, natural_frequency: float = 20.0) -> Law:
    """Return a law whose errors are to decay critically damped at this frequency [rad/s].

    Laws with gains in N.m/rad get them from the diagonal of the mass matrix at the robot's start,
    so that each joint alone has the same error dynamics under every law.

    Raises:
        ArmError: no such law, or a frequency that is not positive.
    """
    one_of('law', name, COMPARED_LAWS)
    in_range('natural_frequency', natural_frequency, 0.0, 1e4, exclusive=True)
    model, w = robot.model, natural_frequency
    side: dict[str, Any] = {'armature': robot.armature, 'damping': robot.damping}
    kp, kd = joint_gains(robot, w)
    dynamics: dict[str, Any] = {'kp': (w**2,), 'kd': (2.0 * w,), **side}
    if name == 'independent_joint':
        parameters = IndependentJointParameters((w,), integral_rate=w / 5, armature=robot.armature)
        return IndependentJoint(model, parameters)
    if name in ('pd', 'pd_gravity'):
        return PD(model, PDParameters(kp, kd, gravity_compensation=name == 'pd_gravity'))
    if name == 'joint_impedance':
        return JointImpedance(model, JointImpedanceParameters(kp, 1.0, **side))
    if name == 'servo':
        return Servo(model, ServoParameters('inverse_dynamics', servo_kp=kp, servo_kd=kd, **side))
    if name == 'pd_feedforward':
        return PDFeedforward(model, PDFeedforwardParameters(kp, kd, **side))
    if name == 'operational_space':
        return OperationalSpace(model, OperationalSpaceParameters(**dynamics))
    if name == 'computed_torque':
        return ComputedTorque(model, ComputedTorqueParameters(**dynamics))
    if name == 'computed_torque_pid':
        return ComputedTorquePid(model, ComputedTorquePidParameters(ki=(w**3 / 4,), **dynamics))
    if name == 'momentum_observer':
        return MomentumObserver(model, MomentumObserverParameters(**dynamics))
    return AdaptiveComputedTorque(model, AdaptiveComputedTorqueParameters((w,), w, **side))


def joint_gains(robot: Robot, natural_frequency: float) -> tuple[tuple[float, ...], ...]:
    """Return kp, kd [N.m/rad], [N.m.s/rad] that give each joint alone this critical damping."""
    armature = per_joint('armature', robot.armature, robot.model.joint_names, minimum=0.0)
    inertia = robot.model.mass_matrix(robot.start).diagonal() + armature
    kp = natural_frequency**2 * inertia
    return tuple(map(float, kp)), tuple(map(float, 2.0 * kp / natural_frequency))


def actuator_of(law: Law) -> str:
    """Return the plant's actuator for what the law commands."""
    return {'position': 'servo', 'effort': 'torque'}[law.command_interface]
