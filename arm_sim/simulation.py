"""One arm, its time and its brake: what the simulator node runs."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_sim.brake import Brake
from arm_sim.plant import JointSide, Plant

Array = NDArray[np.float64]

# An arm slower than this is at rest [rad/s | m/s].
REST_SPEED = 1e-3


class PhysicsDivergedError(ArmError):
    """The integration left the finite numbers: step too long or gains too high for it."""


class Simulation:
    """A plant that is always under somebody's command: a controller's or its own brake's.

    Attributes:
        plant: the arm.
        time_ns: simulated time of the present state [ns].
        steps: control periods since the last reset.
        braking: True while nobody commands.
        saturated_samples: control periods in which some joint was at its effort limit.
    """

    def __init__(self, plant: Plant, model: RobotModel, initial_q: ArrayLike):
        """Put the arm at rest at `initial_q`, braked.

        Raises:
            ArmError: `initial_q` has the wrong length or is beyond the position limits.
        """
        self.plant = plant
        self.model = model
        self.period_ns = plant.parameters.period_ns
        self._brake = Brake(model, plant.parameters)
        self._effort_limit = JointSide.of(model, plant.parameters).effort_limit
        self._initial_q = model.check_configuration(initial_q, 'initial_positions')
        self.reset()

    def reset(self) -> None:
        """Return to the initial state at time zero, braked."""
        self.plant.reset(self._initial_q)
        self.time_ns = 0
        self.steps = 0
        self.saturated_samples = 0
        self.brake()

    def brake(self) -> None:
        """Take the arm from whoever commanded it; `advance(None)` then brings it to rest."""
        self.braking = True
        self._brake.start(self.plant.q, self.plant.v)

    @property
    def at_rest(self) -> bool:
        """Whether no joint moves faster than REST_SPEED."""
        return bool(np.abs(self.plant.v).max() < REST_SPEED)

    def advance(self, command: Array | None) -> None:
        """Go on by one control period under `command` (n,), or braked (None).

        Raises:
            ArmError: the command is not finite; nothing has moved.
            PhysicsDivergedError: the new state is not finite; only `reset` helps.
        """
        plant = self.plant
        if command is None:
            if not self.braking:
                self.brake()
            command = self._brake.command(plant.q, plant.v)
        else:
            if not np.isfinite(command).all():
                joint = int(np.flatnonzero(~np.isfinite(command))[0])
                raise ArmError(
                    f'joint {plant.joint_names[joint]!r}: {plant.command_interface} command '
                    f'{command[joint]} is not a finite number; the command is dropped'
                )
            self.braking = False
        plant.step(command)
        self.time_ns += self.period_ns
        self.steps += 1
        if (np.abs(plant.effort) >= self._effort_limit).any():
            self.saturated_samples += 1
        if not (np.isfinite(plant.q).all() and np.isfinite(plant.v).all()):
            bad = ~(np.isfinite(plant.q) & np.isfinite(plant.v))
            name = plant.joint_names[int(np.flatnonzero(bad)[0])]
            raise PhysicsDivergedError(
                f'joint {name!r}: physics diverged at t = {self.time_ns * 1e-9:.4f} s; reduce '
                f'timestep ({plant.parameters.timestep:g} s) or the gains, then reset'
            )
