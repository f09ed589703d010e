"""Compile ahead what the first use of the UR5e would wait for: python -m arm_sim.warm_up."""

import time

from arm_dynamics.inverse_kinematics import warm_up
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.plants.analytical_plant import AnalyticalPlant
from arm_sim.plants.plant import PlantParameters


def main() -> None:
    """Compile the kinematics of all arms and the dynamics of the UR5e into their caches."""
    start = time.monotonic()
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    warm_up(model)
    AnalyticalPlant(model, PlantParameters())
    print(f'numeric code compiled in {time.monotonic() - start:.0f} s')


if __name__ == '__main__':
    main()
