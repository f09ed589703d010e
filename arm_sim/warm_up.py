"""Compiles ahead what the first use of a shipped robot would wait for: `python -m arm_sim.warm_up`."""

import time

from arm_dynamics.inverse_kinematics import Solver, solve_ik
from arm_dynamics.model import RobotModel
from arm_dynamics.path_inverse_kinematics import solve_path_ik
from arm_dynamics.robots import find_urdf
from arm_sim.analytical_plant import AnalyticalPlant
from arm_sim.plant import PlantParameters


def main() -> None:
    """Compile inverse kinematics and the UR5e's analytical dynamics into their caches."""
    start = time.monotonic()
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    pose = model.forward_kinematics(model.neutral())
    solvers: tuple[Solver, ...] = ('auto', 'damped_least_squares')
    for solver in solvers:
        solve_ik(model, pose, model.neutral(), solver=solver)
    solve_path_ik(model, [pose, pose], model.neutral())
    AnalyticalPlant(model, PlantParameters())
    print(f'numeric code compiled in {time.monotonic() - start:.0f} s')


if __name__ == '__main__':
    main()
