"""Torques at the joints: motors, limit springs, actuators. Plain Python and compiled alike."""

from numba.extending import register_jitable

from arm_dynamics.compiled.joint_table import (
    ARMATURE_CONDUCTANCE,
    BACK_EMF_CONSTANT,
    BRUSH_DROP,
    EFFORT_LIMIT,
    HALF_DROP_VOLTAGE,
    LIMIT_DAMPING,
    LIMIT_STIFFNESS,
    LOWER,
    SERVO_KD,
    SERVO_KP,
    TORQUE_CONSTANT,
    UPPER,
)
from arm_dynamics.compiled.plant_context import SERVO, TORQUE


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
    """Return the torque of actuator i [N.m | N] and how much it falls with velocity.

    A saturated actuator's torque does not depend on velocity.
    """
    if actuator == SERVO:
        slope = table[SERVO_KD, i]
        effort = table[SERVO_KP, i] * (command - position) - slope * velocity
    elif actuator == TORQUE:
        slope = 0.0
        effort = command
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
