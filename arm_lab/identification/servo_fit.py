"""Parameters of an arm with position servos, as they were identified."""

from dataclasses import dataclass

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

OF_SERVO = ('servo_kp', 'servo_kd', 'Coulomb friction', 'rotor inertia')


@dataclass(frozen=True)
class ServoFit:
    """Parameters of an arm and its servos.

    Attributes:
        names: (p,) of the parameters; four of each joint, the mass of each link, the delay.
        values, errors: (p,) and standard errors, prior included; relative to `values` but for
            the delay's.
        share_left: (p,) `errors` over the prior's; near 1: the motion does not show them.
        unknown: directions in the parameters that positions do not show, in words.
        fit, validation: (n,) RMS error of the simulated positions in the used and in the held-back
            part [rad | m]; nan: nothing was held back.
        motion: (n,) RMS of the positions about their mean [rad | m].
        rollouts: number of simulated recordings.
        simulated: (m, n) positions.
    """

    names: tuple[str, ...]
    values: Array
    errors: Array
    share_left: Array
    unknown: list[str]
    fit: Array
    validation: Array
    motion: Array
    rollouts: int
    simulated: Array

    def of_joints(self) -> Array:
        """Return servo_kp, servo_kd, Coulomb friction and rotor inertia (4, n)."""
        n = len(self.motion)
        return self.values[: 4 * n].reshape(4, n)

    @property
    def mass_scales(self) -> Array:
        """Masses (n,) of the links over those of the given model."""
        n = len(self.motion)
        return self.values[4 * n : 5 * n]

    @property
    def delay(self) -> float:
        """Time from a command to its effect [s]."""
        return float(self.values[-1])


def servo_names(model: RobotModel, links: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names (p,) of the parameters."""
    joints = [f'{joint} {name}' for name in OF_SERVO for joint in model.joint_names]
    return (*joints, *(f'{link} mass' for link in links), 'delay')


def servo_pi(model: RobotModel, found: ServoFit) -> Array:
    """Return JointRegressor's parameters (14 n,) of the identified arm."""
    _, _, friction, rotors = found.of_joints()
    links = model.inertial_parameters().reshape(-1, 10) * found.mass_scales[:, np.newaxis]
    return np.concatenate([links.ravel(), rotors, model.damping, friction, np.zeros(model.nv)])
