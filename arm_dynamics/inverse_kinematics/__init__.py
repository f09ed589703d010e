"""Joint positions for poses of the tool frame: single poses and whole paths."""

from arm_dynamics.inverse_kinematics.solve import (
    IkResult,
    IkTask,
    InverseKinematics,
    ik_task,
    inverse_kinematics,
    solve_ik,
)

__all__ = ['IkResult', 'IkTask', 'InverseKinematics', 'ik_task', 'inverse_kinematics', 'solve_ik']
