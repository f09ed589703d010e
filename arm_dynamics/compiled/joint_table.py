"""Numbers of the joints as compiled code takes them: a row per quantity, a column per joint."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import Array

SERVO_KP = 0  # [N.m/rad]
SERVO_KD = 1  # [N.m.s/rad]
TORQUE_CONSTANT = 2  # [N.m/A]
BACK_EMF_CONSTANT = 3  # [V.s/rad]
ARMATURE_CONDUCTANCE = 4  # 1 / Ra [S]
BRUSH_DROP = 5  # [V]
HALF_DROP_VOLTAGE = 6  # voltage at which half the brush drop is there [V]
ARMATURE = 7  # rotor inertia at the joint [kg m^2]
DAMPING = 8  # viscous friction [N.m.s/rad]
FRICTION = 9  # Coulomb friction [N.m]
EFFORT_LIMIT = 10  # [N.m]
LOWER = 11  # position limit [rad | m]
UPPER = 12
LIMIT_STIFFNESS = 13  # spring beyond a position limit [N.m/rad]
LIMIT_DAMPING = 14  # [N.m.s/rad]
ROWS = 15

_NEUTRAL = {
    'armature_conductance': 1.0,
    'half_drop_voltage': 1.0,
    'effort_limit': np.inf,
    'lower': -np.inf,
    'upper': np.inf,
}


def filled(count: int, rows: Mapping[str, ArrayLike]) -> Array:
    """Return the table (ROWS, count) of `rows`, by the names above; rows left out do nothing."""
    table = np.zeros((ROWS, count))
    for name, values in {**_NEUTRAL, **rows}.items():
        table[globals()[name.upper()]] = values
    return table
