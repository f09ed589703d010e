"""Joint torques from a table of joint numbers: a row per quantity, a column per joint.

The functions run both as plain Python and inside compiled code.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numba.extending import register_jitable
from numpy.typing import ArrayLike

from arm_dynamics.actuators import ACTUATORS
from arm_dynamics.checks import Array

# How the joints of an arm are computed together: LINEAR are velocity servos, and any mixture.
_SERVO, TORQUE, VOLTAGE, LINEAR = range(4)

SERVO_KP = 0  # [N.m/rad]
SERVO_KD = 1  # [N.m.s/rad]
TORQUE_CONSTANT = 2  # [N.m/A]
BACK_EMF_CONSTANT = 3  # [V.s/rad]
ARMATURE_CONDUCTANCE = 4  # 1 / Ra [S]
BRUSH_DROP = 5  # [V]
HALF_DROP_VOLTAGE = 6  # voltage at which half the brush drop is reached [V]
ARMATURE = 7  # rotor inertia at the joint [kg m^2]
DAMPING = 8  # viscous friction [N.m.s/rad]
FRICTION = 9  # Coulomb friction [N.m]
EFFORT_LIMIT = 10  # [N.m]
LOWER = 11  # position limit [rad | m]
UPPER = 12
LIMIT_STIFFNESS = 13  # spring beyond a position limit [N.m/rad]
LIMIT_DAMPING = 14  # [N.m.s/rad]
FRICTION_INERTIA = 15  # of MuJoCo's soft friction, see lane_steps.py [kg m^2]
COMMAND_GAIN = 16  # of a LINEAR actuator
ROWS = 17

_NEUTRAL = {
    'armature_conductance': 1.0,
    'half_drop_voltage': 1.0,
    'effort_limit': np.inf,
    'lower': -np.inf,
    'upper': np.inf,
}


def filled(count: int, rows: Mapping[str, ArrayLike]) -> Array:
    """Return the table (ROWS, count) of named `rows`; missing rows have no effect."""
    table = np.zeros((ROWS, count))
    for name, values in {**_NEUTRAL, **rows}.items():
        table[globals()[name.upper()]] = values
    return table


def kind_of(actuators: Sequence[str]) -> int:
    """Return how joints with these actuators are computed together."""
    return ACTUATORS.index(actuators[0]) if len(set(actuators)) == 1 else LINEAR


@register_jitable
def motor_torque(voltage, velocity, table, i):
    """Return the torque of DC motor i: Kt (V - drop - Ke v) / Ra [N.m].

    The brush drop grows to its full size as drop (1 - 2^(-|V| / half)).
    """
    drop = table[BRUSH_DROP, i]
    if drop != 0.0 and voltage != 0.0:
        drop *= 1.0 - 0.5 ** (abs(voltage) / table[HALF_DROP_VOLTAGE, i])
        voltage -= drop if voltage > 0.0 else -drop
    driving = voltage - velocity * table[BACK_EMF_CONSTANT, i]
    return table[TORQUE_CONSTANT, i] * driving * table[ARMATURE_CONDUCTANCE, i]


@register_jitable
def limit_torque(position, velocity, table, i):
    """Return the torque of the spring and damper beyond joint i's position limits [N.m]."""
    if position < table[LOWER, i]:
        bound = table[LOWER, i]
    elif position > table[UPPER, i]:
        bound = table[UPPER, i]
    else:
        return 0.0
    return table[LIMIT_STIFFNESS, i] * (bound - position) - table[LIMIT_DAMPING, i] * velocity


@register_jitable
def actuator_torque(actuator, command, position, velocity, table, i):
    """Return the torque of actuator i [N.m | N], and its decrease per unit of velocity.

    A saturated actuator's torque does not depend on velocity.
    """
    if actuator == _SERVO:
        slope = table[SERVO_KD, i]
        effort = table[SERVO_KP, i] * (command - position) - slope * velocity
    elif actuator == TORQUE:
        slope = 0.0
        effort = command
    elif actuator == LINEAR:
        slope = table[SERVO_KD, i]
        effort = table[COMMAND_GAIN, i] * command
        effort -= table[SERVO_KP, i] * position + slope * velocity
    else:
        slope = table[TORQUE_CONSTANT, i] * table[BACK_EMF_CONSTANT, i]
        slope *= table[ARMATURE_CONDUCTANCE, i]
        effort = motor_torque(command, velocity, table, i)
    bound = table[EFFORT_LIMIT, i]
    if effort >= bound:
        return bound, 0.0
    if effort <= -bound:
        return -bound, 0.0
    return effort, slope


@register_jitable
def joint_loads(actuator, command, table, implicit_step, extra, q, v, loads):
    """Write effort, torque and diagonal (n,) of `loads`: actuators, limits, damping and `extra`.

    The diagonal is the rotors' inertia and, with an implicit step h [s], h times the damping of
    all that resists velocity.
    """
    effort, torque, diagonal = loads
    for i in range(q.size):
        effort[i], slope = actuator_torque(actuator, command[i], q[i], v[i], table, i)
        damping = table[DAMPING, i] + slope
        limit = limit_torque(q[i], v[i], table, i)
        if limit != 0.0:
            damping += table[LIMIT_DAMPING, i]
        torque[i] = effort[i] + limit - table[DAMPING, i] * v[i] + extra[i]
        diagonal[i] = table[ARMATURE, i] + implicit_step * damping
