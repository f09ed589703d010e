"""The physics engines by name. A new engine is one file and one line here."""

from importlib import import_module
from typing import Any

from arm_dynamics.checks import one_of
from arm_dynamics.model import RobotModel
from arm_sim.plants.plant import Plant, PlantParameters

# Imported when asked for: each engine brings libraries that the others do without. A plant class
# is built as plant(model, plant.Parameters(...)).
ENGINES = {
    'mujoco': ('arm_sim.plants.mujoco_plant', 'MujocoPlant'),
    'analytical': ('arm_sim.plants.analytical_plant', 'AnalyticalPlant'),
    'motion_model': ('arm_sim.plants.motion_model_plant', 'MotionModelPlant'),
}


# The plant's actuator for what a law commands.
ACTUATOR_FOR = {'position': 'servo', 'effort': 'torque', 'voltage': 'voltage'}

# The engines with the full dynamics: their results must agree.
RIGID_BODY_ENGINES = ('mujoco', 'analytical')


def make_plant(engine: str, model: RobotModel, parameters: PlantParameters) -> Plant:
    """Return a plant of the named engine. Raises ArmError for a name that is not in ENGINES."""
    return plant_class(engine)(model, parameters)


def plant_class(engine: str) -> Any:
    """Return the plant class of an engine. Raises ArmError for a name that is not in ENGINES."""
    one_of('engine', engine, tuple(ENGINES))
    module, name = ENGINES[engine]
    return getattr(import_module(module), name)
