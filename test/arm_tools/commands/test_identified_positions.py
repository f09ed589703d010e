"""Table of servos that were identified from positions."""

from types import SimpleNamespace

import numpy as np

from arm_tools.commands.identified_positions import servo_table


def test_errors_have_one_digit_and_no_exponent():
    found = SimpleNamespace(
        errors=np.array([0.7, 0.034, 12.0, 0.00021]),
        of_joints=lambda: np.array([[400.0], [20.0], [0.5], [0.1]]),
        motion=np.ones(1),
        fit=np.ones(1),
        validation=np.ones(1),
    )
    robot = SimpleNamespace(model=SimpleNamespace(nv=1, joint_names=('elbow',)))
    (row,) = servo_table(found, robot).rows
    assert row[1:5] == ['400 ± 70 %', '20 ± 3 %', '0.5 ± 1000 %', '0.1 ± 0.02 %']
