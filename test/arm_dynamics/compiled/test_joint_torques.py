"""Torques of actuators and limits against their formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arm_dynamics.compiled.joint_torques import (
    actuator_torque,
    filled,
    joint_loads,
    kind_of,
    limit_torque,
)

COMMAND, Q, V = 0.7, 0.2, -0.4
MOTOR = {'torque_constant': 2.0, 'back_emf_constant': 0.5, 'armature_conductance': 0.25}
SERVO = {'servo_kp': 100.0, 'servo_kd': 7.0}


@pytest.mark.parametrize(
    ('actuators', 'rows', 'torque', 'slope'),
    [
        (('servo',), SERVO, 100.0 * 0.5 + 7.0 * 0.4, 7.0),
        (('servo',), SERVO | {'effort_limit': 20.0}, 20.0, 0.0),
        (('torque',), {}, 0.7, 0.0),
        (('voltage',), MOTOR, 2.0 * 0.25 * (0.7 + 0.5 * 0.4), 2.0 * 0.25 * 0.5),
        (('voltage',), MOTOR | {'brush_drop': 0.6, 'half_drop_voltage': 0.7},
         2.0 * 0.25 * (0.7 - 0.6 * 0.5 + 0.5 * 0.4), 2.0 * 0.25 * 0.5),
        (('servo', 'torque'), SERVO | {'command_gain': 5.0}, 5.0 * 0.7 - 20.0 + 2.8, 7.0),
    ],
)  # fmt: skip
def test_actuators_have_their_torque_and_its_slope_in_velocity(actuators, rows, torque, slope):
    table = filled(1, rows)
    found = actuator_torque(kind_of(actuators), COMMAND, Q, V, table, 0)
    assert_allclose(found, (torque, slope))
    diagonal, effort, total = np.zeros((3, 1))
    table = filled(1, rows | {'armature': 0.3, 'damping': 2.0})
    state = (np.array([x]) for x in (Q, V))
    joint_loads(
        kind_of(actuators), [COMMAND], table, 0.01, [0.5], *state, (effort, total, diagonal)
    )
    assert_allclose((effort[0], total[0]), (torque, torque + 2.0 * 0.4 + 0.5))
    assert_allclose(diagonal, 0.3 + 0.01 * (2.0 + slope))


def test_limits_are_springs_with_dampers_beyond_them_only():
    table = filled(1, {'lower': -1.0, 'upper': 2.0, 'limit_stiffness': 50.0, 'limit_damping': 3.0})
    positions = (-1.5, -1.0, 2.0, 2.25)
    found = [limit_torque(q, V, table, 0) for q in positions]
    assert_allclose(found, [50.0 * 0.5 + 1.2, 0.0, 0.0, -50.0 * 0.25 + 1.2])
