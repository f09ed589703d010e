"""DC motors that drive joints from a voltage: tau = Kt (V - drop(V) - Ke v) / Ra.

The brush drop grows with the voltage to its full size, drop (1 - 2^(-|V| / half)).
compiled/joint_torques.py has the same equation for compiled plants.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import Parameters, PerJoint, parameter, with_arrays


class MotorConstants(NamedTuple):
    """Constants of each joint's motor, all (n,); see DCMotors for their units."""

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
class DCMotors(Parameters):
    """The motors of an arm. Rotor inertia is the model's `armature`."""

    torque_constant: PerJoint = parameter((10.0,), 'torque constant Kt [N.m/A]', min=0)
    back_emf_constant: PerJoint = parameter((), 'back-EMF constant Ke [V.s/rad]; empty: Kt', min=0)
    armature_resistance: PerJoint = parameter((1.0,), 'armature resistance Ra [Ohm]', above=0)
    brush_drop: PerJoint = parameter((0.0,), 'voltage drop of the brushes [V]', min=0)
    half_drop_voltage: PerJoint = parameter(
        (1.0,), 'voltage at half of the brush drop [V]', above=0
    )

    def constants(self, joint_names: tuple[str, ...]) -> MotorConstants:
        """Return the constants of each joint; raises ArmError for values out of range."""
        p = with_arrays(self, joint_names)
        back_emf = p.back_emf_constant if len(p.back_emf_constant) else p.torque_constant
        # Beyond this the effective voltage would fall while the terminal voltage rises.
        least = p.brush_drop * np.log(2.0)
        for i in np.flatnonzero(least >= p.half_drop_voltage):
            raise ArmError(
                f'half_drop_voltage of joint {joint_names[i]!r} is {p.half_drop_voltage[i]:g} V; '
                f'for its brush_drop of {p.brush_drop[i]:g} V it must be > {least[i]:.4g} V'
            )
        return MotorConstants(
            p.torque_constant,
            back_emf,
            1.0 / p.armature_resistance,
            p.brush_drop,
            p.half_drop_voltage,
        )
