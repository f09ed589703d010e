"""What drives a joint: DC motors fed with a voltage, torque motors, position servos.

Compiled code does the same from joint_table.py; joint_torques.py is shared.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_dynamics.checks import per_joint
from arm_dynamics.compiled.joint_table import (
    ARMATURE_CONDUCTANCE,
    BACK_EMF_CONSTANT,
    BRUSH_DROP,
    HALF_DROP_VOLTAGE,
    TORQUE_CONSTANT,
    joint_table,
)
from arm_dynamics.compiled.joint_torques import motor_torque
from arm_dynamics.errors import ArmError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DCMotors:
    """DC motors at the joints: tau = Kt (V - drop(V) - Ke v) / Ra.

    The brush drop grows with the voltage to its full size, drop (1 - 2^(-|V| / half)). Each is one
    number for all joints or one a joint. Rotor inertia is the plant's `armature`.

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

    def rows(self, joint_names: tuple[str, ...]) -> dict[int, Array]:
        """Return the motors' rows of the joint table.

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
            for field in fields(self)
        }
        # Beyond this the effective voltage would fall while the terminal voltage rises.
        steep = values['brush_drop'] * np.log(2.0) >= values['half_drop_voltage']
        if steep.any():
            i = int(np.flatnonzero(steep)[0])
            raise ArmError(
                f'half_drop_voltage of joint {joint_names[i]!r} is '
                f'{values["half_drop_voltage"][i]:g} V; for its brush_drop of '
                f'{values["brush_drop"][i]:g} V it must be > '
                f'{values["brush_drop"][i] * np.log(2.0):.4g} V'
            )
        return {
            TORQUE_CONSTANT: values['torque_constant'],
            BACK_EMF_CONSTANT: values['back_emf_constant'],
            ARMATURE_CONDUCTANCE: 1.0 / values['armature_resistance'],
            BRUSH_DROP: values['brush_drop'],
            HALF_DROP_VOLTAGE: values['half_drop_voltage'],
        }


class MotorModel:
    """The motors of one arm, both ways round.

    Attributes:
        table: joint numbers, the motors' rows filled.
    """

    def __init__(self, motors: DCMotors, joint_names: tuple[str, ...]):
        """Raises ArmError for motor constants that are not allowed."""
        self.table = joint_table(len(joint_names), motors.rows(joint_names))

    def torque(self, voltage: ArrayLike, v: ArrayLike) -> Array:
        """Return the torques (n,) [N.m] at voltages (n,) [V] and joint velocities (n,) [rad/s]."""
        pairs = zip(np.asarray(voltage, dtype=float), np.asarray(v, dtype=float), strict=True)
        return np.array([motor_torque(u, w, self.table, i) for i, (u, w) in enumerate(pairs)])

    def voltage(self, torque: ArrayLike, v: ArrayLike) -> Array:
        """Return the voltages (n,) [V] that give torques (n,) [N.m] at velocities (n,) [rad/s].

        V - drop(V) = Ra tau / Kt + Ke v, by Newton's method where there is a brush drop.
        """
        table = self.table
        current = np.asarray(torque, dtype=float) / table[TORQUE_CONSTANT]
        driving = current / table[ARMATURE_CONDUCTANCE]
        driving = driving + np.asarray(v, dtype=float) * table[BACK_EMF_CONSTANT]
        drop, half = table[BRUSH_DROP], table[HALF_DROP_VOLTAGE]
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
