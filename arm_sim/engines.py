"""The physics engines by name. A new engine is one file and one line here."""

from collections.abc import Callable

from arm_dynamics.checks import one_of
from arm_dynamics.model import RobotModel
from arm_sim.mujoco_plant import MujocoPlant
from arm_sim.plant import Plant, PlantParameters

ENGINES: dict[str, Callable[[RobotModel, PlantParameters], Plant]] = {'mujoco': MujocoPlant}


def make_plant(engine: str, model: RobotModel, parameters: PlantParameters) -> Plant:
    """Return a plant of the named engine. Raises ArmError for a name that is not in ENGINES."""
    one_of('engine', engine, tuple(ENGINES))
    return ENGINES[engine](model, parameters)
