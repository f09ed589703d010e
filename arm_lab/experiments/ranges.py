"""Distribution of the arms that Monte Carlo, tuning and margins draw."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, links_with_mass
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.devices import SensorParameters


class Draw(NamedTuple):
    """One drawn arm.

    Attributes:
        error: of the arm, compared with the law's model.
        delay: from a state to the effect of its command [control periods].
        sensors: noise, and its seed.
    """

    error: ModelError
    delay: int
    sensors: SensorParameters


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
        return Draw(replace(error, payload=payload), delay, sensors)
