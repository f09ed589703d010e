"""An arm as MuJoCo reads it: its URDF, or what a part of `mujoco_parts` makes of another file."""

from typing import Any

import mujoco

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_sim.simulation.mjcf_parts import MjcfParts
from arm_sim.simulation.mujoco_inertias import refused_inertias
from arm_sim.simulation.mujoco_parts import PARTS
from arm_sim.simulation.mujoco_scene import scene_of
from arm_sim.simulation.plant import Plant, PlantParameters


class ArmDescription:
    """The URDF of an arm.

    Attributes:
        model: of the arm.
    """

    def __init__(self, model: RobotModel):
        self.model = model

    def spec(self, parameters: PlantParameters, shapes: bool = True) -> mujoco.MjSpec:
        """Return the arm and its surroundings, see `scene_of`."""
        return scene_of(self.model, parameters, shapes)

    def refused_inertias(self) -> dict[str, tuple[Array, Array]]:
        """Return links with inertias that MuJoCo does not compile, see `refused_inertias`."""
        return refused_inertias(self.model)

    def home(self, mj_model: mujoco.MjModel) -> mujoco.MjData | None:
        """Return the state where a reset puts what is no joint of the arm; None: nothing is."""
        return None

    def parts(self, mj_model: mujoco.MjModel, controls: Array, data: Any = None) -> MjcfParts:
        """Return sensors and actuators that no controller commands; `data`: of one arm."""
        return MjcfParts()

    def loose_links(self) -> dict[str, Array]:
        """Return links that move against the URDF, and their origins in their bodies [m]."""
        return {}

    def notes(self, plant: Plant, data: mujoco.MjData, dofs: Any) -> tuple[str, ...]:
        """Return what a user should know of the plant, whose joints have these `dofs`."""
        return ()


def description_of(model: RobotModel) -> ArmDescription:
    """Return what MuJoCo simulates of an arm: the MJCF that the model names, else its URDF."""
    kind: type[ArmDescription] = PARTS.load('mjcf') if model.mjcf else ArmDescription
    return kind(model)
