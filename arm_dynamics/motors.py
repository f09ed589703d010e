"""DC motors that drive joints from a voltage: tau = Kt (V - drop(V) - Ke v) / Ra.

The brush drop grows with the voltage to its full size, drop (1 - 2^(-|V| / half)).
Compiled plants have the same equation in compiled/joint_torques.py.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.arrays import Array
from arm_dynamics.checks import per_joint
from arm_dynamics.errors import ArmError


class MotorConstants(NamedTuple):
    """One number per joint, all (n,); see DCMotors."""

    torque_constant: Array
    back_emf_constant: Array
    armature_conductance: Array  # 1 / Ra [S]
    brush_drop: Array
    half_drop_voltage: Array

    def voltage(self, torque: ArrayLike, v: ArrayLike) -> Array:
        """Return the voltages (..., n) [V] that give torques at velocities, each (..., n).

        V - drop(V) = Ra tau / Kt + Ke v, by Newton's method where there is a brush drop.
        """
        current = np.asarray(torque, dtype=float) / self.torque_constant
        driving = current / self.armature_conductance
        driving = driving + np.asarray(v, dtype=float) * self.back_emf_constant
        drop, half = self.brush_drop, self.half_drop_voltage
        if not drop.any():
            return driving
        size = np.abs(driving) + drop
        for _ in range(50):
            share = 0.5 ** (size / half)
            error = size - drop * (1.0 - share) - np.abs(driving)
            step = error / (1.0 - drop * share * np.log(2.0) / half)
            size = np.maximum(size - step, 0.0)
            if np.abs(step).max() <= 1e-15 * (1.0 + size.max()):
                break
        return np.copysign(size, driving)


@dataclass(frozen=True)
class DCMotors:
    """The motors of an arm; each is one number for all joints or one per joint.

    Rotor inertia is the model's `armature`.

    Attributes:
        torque_constant: Kt [N.m/A].
        back_emf_constant: Ke [V.s/rad]; empty: equal to Kt.
        armature_resistance: Ra [Ohm].
        brush_drop: [V].
        half_drop_voltage: voltage at which half the brush drop is there [V].
    """

    torque_constant: tuple[float, ...] = (10.0,)
    back_emf_constant: tuple[float, ...] = ()
    armature_resistance: tuple[float, ...] = (1.0,)
    brush_drop: tuple[float, ...] = (0.0,)
    half_drop_voltage: tuple[float, ...] = (1.0,)

    def constants(self, joint_names: tuple[str, ...]) -> MotorConstants:
        """Return the numbers of each joint.

        Raises:
            ArmError: a wrong count, a value that is not finite or out of range.
        """
        values = {
            field.name: per_joint(
                field.name,
                getattr(self, field.name) or self.torque_constant,
                joint_names,
                minimum=0.0,
                exclusive=field.name in ('armature_resistance', 'half_drop_voltage'),
            )
            for field in fields(DCMotors)
        }
        resistance = values.pop('armature_resistance')
        constants = MotorConstants(armature_conductance=1.0 / resistance, **values)
        # Beyond this the effective voltage would fall while the terminal voltage rises.
        least = constants.brush_drop * np.log(2.0)
        for i in np.flatnonzero(least >= constants.half_drop_voltage):
            raise ArmError(
                f'half_drop_voltage of joint {joint_names[i]!r} is '
                f'{constants.half_drop_voltage[i]:g} V; for its brush_drop of '
                f'{constants.brush_drop[i]:g} V it must be > {least[i]:.4g} V'
            )
        return constants
