"""Inverse kinematics: joint positions for poses of the tool frame and for paths of poses."""

from arm_dynamics.inverse_kinematics.arm import inverse_kinematics
from arm_dynamics.inverse_kinematics.path import solve_path_ik
from arm_dynamics.inverse_kinematics.solve import solve_ik
from arm_dynamics.inverse_kinematics.solver import Solutions, Solver, solver_names
from arm_dynamics.model import RobotModel

__all__ = [
    'Solutions',
    'Solver',
    'inverse_kinematics',
    'solve_ik',
    'solve_path_ik',
    'solver_names',
]


def warm_up(model: RobotModel) -> None:
    """Compile the kinematics of all arms, so that no first call waits for it.

    Loading code from the cache takes a fraction of a second.
    """
    q = model.neutral()
    pose = model.forward_kinematics(q)
    solve_ik(model, pose, q)
    solve_ik(model, pose, q, solver='levenberg_marquardt')
    solve_ik(model, pose, q, position_only=True)
    solve_ik(model, pose, q, prefer='manipulability')
    solve_path_ik(model, [pose, pose], q)
