"""Distribution of the arms that Monte Carlo, tuning and margins draw."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, links_with_mass
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.devices import SensorParameters
from arm_sim.simulation.scene import objects_text, read_objects


class Draw(NamedTuple):
    """One drawn arm.

    Attributes:
        error: of the arm, compared with the law's model.
        delay: from a state to the effect of its command [control periods].
        sensors: noise, and its seed.
        stiffness, grip: factors of the stiffness and of the friction coefficient of the task's
            objects [1].
    """

    error: ModelError
    delay: int
    sensors: SensorParameters
    stiffness: float = 1.0
    grip: float = 1.0

    def with_objects(self, plant: Any) -> Any:
        """Return the parameters of a plant, whose objects are of the drawn material.

        Raises:
            ArmError: there are no objects whose material could differ.
        """
        if self.stiffness == self.grip == 1.0:
            return plant
        if not getattr(plant, 'objects', ''):
            raise ArmError(
                'ranges of stiffness and grip are for tasks that bring objects, such as press and '
                'wipe; allowed: stiffness 1, grip 0'
            )
        objects = (
            replace(
                each, stiffness=self.stiffness * each.stiffness, friction=self.grip * each.friction
            )
            for each in read_objects(plant.objects)
        )
        return replace(plant, objects=objects_text(objects))


@dataclass(frozen=True)
class Ranges(Parameters):
    """Ranges of the uniform distributions; every sample draws all of them."""

    mass: float = parameter(
        0.2, "largest relative error of each link's mass and inertia [1]", min=0, max=0.99
    )
    friction: float = parameter(
        0.005, "largest Coulomb friction, as a share of a joint's effort limit [1]", min=0, max=1
    )
    delay: int = parameter(2, 'largest command delay [control periods]', min=0, max=100)
    position_noise: float = parameter(
        1e-5, 'largest standard deviation of the position noise [rad | m]', min=0
    )
    velocity_noise: float = parameter(
        1e-3, 'largest standard deviation of the velocity noise [rad/s | m/s]', min=0
    )
    effort: float = parameter(
        0.6, 'smallest share of the effort limits that an arm has [1]', above=0, max=1
    )
    payload: float = parameter(
        0.0, 'largest load at the tool of which the law does not know [kg]', min=0, max=1000
    )
    stiffness: float = parameter(
        1.0, "largest factor, up and down, of the stiffness of the task's objects [1]",
        min=1, max=1e6,
    )  # fmt: skip
    grip: float = parameter(
        0.0, "largest relative error of the friction coefficient of the task's objects [1]",
        min=0, max=0.99,
    )  # fmt: skip

    def draw(self, model: RobotModel, seed: int, index: int) -> Draw:
        """Return sample `index`, which depends on these arguments alone."""
        rng, n = np.random.default_rng([seed, index]), model.nv
        links = len(links_with_mass(model))
        limit = np.where(np.isfinite(model.effort_limit), model.effort_limit, 0.0)
        error = ModelError(
            mass_scale=tuple(rng.uniform(1 - self.mass, 1 + self.mass, links)),
            friction=tuple(rng.uniform(0.0, self.friction, n) * limit),
            effort_scale=float(rng.uniform(self.effort, 1.0)),
        )
        delay = int(rng.integers(0, self.delay + 1))
        sensors = SensorParameters(
            position_noise=float(rng.uniform(0.0, self.position_noise)),
            velocity_noise=float(rng.uniform(0.0, self.velocity_noise)),
            sensor_seed=int(rng.integers(2**31)),
        )
        payload = float(rng.uniform(0.0, self.payload)) if self.payload else 0.0
        error = replace(error, payload=payload)
        most = np.log(self.stiffness)
        stiffness = float(np.exp(rng.uniform(-most, most))) if most else 1.0
        grip = float(rng.uniform(1.0 - self.grip, 1.0 + self.grip)) if self.grip else 1.0
        return Draw(error, delay, sensors, stiffness, grip)
