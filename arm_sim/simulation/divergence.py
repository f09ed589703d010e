"""Physics that has diverged: it stops with the joint, the time and what helps."""

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_sim.simulation.plant import Plant
from arm_sim.simulation.speed_guard import ABSURD_SPEED

# A command of more than this multiple of the effort limit is named as the cause.
_ABSURD_EFFORT = 100.0


class PhysicsDivergedError(ArmError):
    """The integration left the finite numbers, or all that an arm can do."""


def check_physics(plant: Plant, model: RobotModel, time_ns: int, command: Array) -> None:
    """Raise PhysicsDivergedError if a joint is nowhere or absurdly fast after a command (n,)."""
    bad = ~(np.isfinite(plant.q) & (np.abs(plant.v) < ABSURD_SPEED))
    if bad.any():
        raise PhysicsDivergedError(
            f'joint {plant.joint_names[bad.argmax()]!r}: physics diverged at t = '
            f'{time_ns * 1e-9:.4f} s; {_remedy(plant, model, command)}, then reset'
        )


def _remedy(plant: Plant, model: RobotModel, command: Array) -> str:
    """Return what is to be done about it."""
    if plant.wrenches:
        return f'reduce external_wrench on {", ".join(map(repr, plant.wrenches))}'
    torques = np.array(plant.command_interfaces) == 'effort'
    if torques.any():
        asked = np.where(torques, np.abs(command) / model.effort_limit, 0.0)
        joint = int(asked.argmax())
        if asked[joint] > _ABSURD_EFFORT:
            return f'a command asked for {command[joint]:.3g} of {plant.joint_names[joint]!r}'
    return f'reduce timestep ({plant.parameters.timestep:g} s) or the gains'
