"""What an arm is: model, kinematics, inverse kinematics, dynamics, motors, integrators, paths."""

from importlib import import_module
from typing import Any

from arm_dynamics.errors import ArmError, JointLimitError
from arm_dynamics.model import RobotModel

__all__ = ['ArmError', 'JointLimitError', 'RobotModel']

# Imported when asked for: they bring compilers and solvers that a node may do without.
_ON_DEMAND = {
    'FiveJointArm': 'published.five_joint_arm',
    'ForwardModel': 'compiled',
    'JointSpaceMotionModel': 'published.motion_models',
    'TaskSpaceMotionModel': 'published.motion_models',
    'solve_ik': 'inverse_kinematics.solve',
}


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return getattr(import_module(f'arm_dynamics.{_ON_DEMAND[name]}'), name)
    raise AttributeError(f'module arm_dynamics has no {name!r}')
