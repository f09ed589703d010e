"""An arm that MuJoCo simulates as its MJCF has it, with the file's own sensors and actuators."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from arm_dynamics.checks import Array, unit
from arm_dynamics.descriptions.mjcf_files import compiled
from arm_dynamics.descriptions.mjcf_model import check_springs
from arm_sim.simulation.model_check import MODEL_TOLERANCE
from arm_sim.simulation.mujoco_arm import ArmDescription
from arm_sim.simulation.mujoco_mjcf import home_of, loose_links, mjcf_spec
from arm_sim.simulation.mujoco_mjcf_parts import MujocoMjcfParts, ReadMjcfParts
from arm_sim.simulation.mujoco_scene import add_surroundings
from arm_sim.simulation.plant import Plant, PlantParameters


class Mjcf(ArmDescription):
    """The MJCF of an arm."""

    def spec(self, parameters: PlantParameters, shapes: bool = True) -> mujoco.MjSpec:
        """Return the arm and its surroundings.

        A plane of the file that belongs to no body is the floor.
        """
        spec = mjcf_spec(self.model)
        for geom in spec.worldbody.geoms:
            if geom.type == mujoco.mjtGeom.mjGEOM_PLANE and not spec.geom('floor'):
                geom.name = 'floor'
        touch = [geom for geom in spec.geoms if geom.contype or geom.conaffinity]
        links = [geom for geom in touch if geom.parent.name != 'world']
        add_surroundings(spec, self.model, parameters, links)
        return spec

    def check_convertible(self) -> None:
        """Raise ArmError where an engine that simulates the URDF would miss a spring."""
        check_springs(compiled(Path(self.model.mjcf))[0], self.model)

    def refused_inertias(self) -> dict[str, tuple[Array, Array]]:
        """Return no links: MuJoCo has compiled the file."""
        return {}

    def home(self, mj_model: mujoco.MjModel) -> mujoco.MjData:
        """Return the state of the file's key frame."""
        return home_of(self.model, mj_model)

    def parts(
        self, mj_model: mujoco.MjModel, controls: Array, data: mujoco.MjData | None = None
    ) -> MujocoMjcfParts:
        """Return the file's own actuators, with the `data` of one arm also its sensors."""
        if data is None:
            return MujocoMjcfParts(self.model, mj_model, controls)
        return ReadMjcfParts(self.model, mj_model, controls, data)

    def loose_links(self) -> dict[str, Array]:
        """Return the links that joints without a controller move."""
        return loose_links(self.model)

    def notes(self, plant: Plant, data: mujoco.MjData, dofs: Any) -> tuple[str, ...]:
        """Say how large what the controllers' model lacks is: springs, tendons."""
        model, rng, most, joint = self.model, np.random.default_rng(0), 0.0, 0
        for _ in range(10):
            plant.reset(model.random_configuration(rng))
            torque = np.abs(data.qfrc_passive[dofs])
            if torque.max() > most:
                most, joint = float(torque.max()), int(torque.argmax())
        return (
            f'springs and tendons of the MJCF, which the controllers do not know, give '
            f'up to {most:.3g} {unit("torque", model.prismatic[joint])} at joint '
            f'{model.joint_names[joint]!r}',
        ) * (most > MODEL_TOLERANCE)
