"""What an arm is: model, kinematics, inverse kinematics, dynamics, motors, integrators, paths."""

from arm_dynamics.checks import ArmError, JointLimitError
from arm_dynamics.found import on_demand
from arm_dynamics.model import RobotModel

__all__ = ['ArmError', 'JointLimitError', 'RobotModel']

__getattr__ = on_demand(
    __name__,
    FiveJointArm='published.five_joint_arm',
    ForwardModel='compiled',
    JointSpaceMotionModel='published.motion_models',
    TaskSpaceMotionModel='published.motion_models',
    solve_ik='inverse_kinematics.solve',
)
