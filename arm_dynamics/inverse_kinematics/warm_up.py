"""Compile the kinematics, so that no first call waits: compiled code serves all arms."""

from arm_dynamics.inverse_kinematics.path import solve_path_ik
from arm_dynamics.inverse_kinematics.solve import solve_ik
from arm_dynamics.model import RobotModel


def warm_up(model: RobotModel) -> None:
    """Use every compiled solver once; what is on disk already costs a fraction of a second."""
    q = model.neutral()
    pose = model.forward_kinematics(q)
    solve_ik(model, pose, q)
    solve_ik(model, pose, q, solver='levenberg_marquardt')
    solve_ik(model, pose, q, position_only=True)
    solve_ik(model, pose, q, prefer='manipulability')
    solve_path_ik(model, [pose, pose], q)
