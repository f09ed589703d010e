"""Torques at the joints: motors, limit springs, actuators. Plain Python and compiled alike."""

from numba.extending import register_jitable

from arm_dynamics.joint_table import (
    ARMATURE,
    ARMATURE_RESISTANCE,
    BACK_EMF_CONSTANT,
    BRUSH_DROP,
    DAMPING,
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
from arm_dynamics.plant_context import SERVO, TORQUE


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
    return table[TORQUE_CONSTANT, i] * driving / table[ARMATURE_RESISTANCE, i]


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
def joint_torques(q, v, context):
    """Write context.effort, .torque and .diagonal at the state q, v.

    With an implicit step h, the diagonal gets h times the damping of all that resists velocity:
    v+ = v + h (M + armature + h D)^-1 (tau - bias), which is MuJoCo's `implicitfast`. A saturated
    actuator's torque does not depend on velocity and adds nothing.
    """
    table = context.table
    h = context.implicit_step[0]
    for i in range(q.size):
        command = context.command[i]
        damping = table[DAMPING, i]
        if context.actuator == SERVO:
            effort = table[SERVO_KP, i] * (command - q[i]) - table[SERVO_KD, i] * v[i]
            slope = table[SERVO_KD, i]
        elif context.actuator == TORQUE:
            effort = command
            slope = 0.0
        else:
            effort = motor_torque(command, v[i], table, i)
            slope = table[TORQUE_CONSTANT, i] * table[BACK_EMF_CONSTANT, i]
            slope /= table[ARMATURE_RESISTANCE, i]
        bound = table[EFFORT_LIMIT, i]
        if abs(effort) < bound:
            damping += slope
        else:
            effort = bound if effort > 0.0 else -bound
        limit = limit_torque(q[i], v[i], table, i)
        if limit != 0.0:
            damping += table[LIMIT_DAMPING, i]
        context.effort[i] = effort
        passive = limit - table[DAMPING, i] * v[i] + context.dry_friction[i]
        context.torque[i] = effort + passive
        context.diagonal[i] = table[ARMATURE, i] + h * damping
