"""What an arm is: model, kinematics, inverse kinematics, dynamics, motors, integrators, paths."""

from arm_dynamics.checks import ArmError, JointLimitError
from arm_dynamics.model import RobotModel

__all__ = ['ArmError', 'JointLimitError', 'RobotModel']
