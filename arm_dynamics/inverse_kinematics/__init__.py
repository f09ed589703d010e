"""Joint positions for poses of the tool frame: single poses and whole paths."""

from arm_dynamics.found import on_demand

__getattr__ = on_demand(
    __name__,
    IkResult='arm',
    IkTask='task',
    InverseKinematics='arm',
    Solutions='solver',
    Solver='solver',
    ik_task='task',
    inverse_kinematics='arm',
    solve_ik='solve',
    solve_path_ik='path',
    solver_names='solver',
)
