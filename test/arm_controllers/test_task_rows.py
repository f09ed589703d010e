"""Task-space control in compiled code: equal to that of TaskSpace, in singularities too."""

import numpy as np
import pytest
from arms import load_arm

from arm_controllers.laws import Measurement, Reference
from arm_controllers.task_rows import joint_numbers, task_force, task_torque
from arm_controllers.task_space import PostureParameters, TaskSpace, damped
from arm_dynamics.link_rows import link_table
from arm_dynamics.small_matrices import inverse_axes


@pytest.mark.parametrize('robot', ['ur5e', 'endless and skew', 'Panda'])
def test_the_torque_is_that_of_the_task_space(robot):
    arm, rng, posture = load_arm(robot), np.random.default_rng(0), PostureParameters()
    arm = arm.with_joints(*(rng.uniform(0.1, 0.5, (3, arm.nv))))
    n, space, table, joints = arm.nv, TaskSpace(arm), link_table(arm), joint_numbers(arm)
    reference, tau = Reference(n), np.empty(n)
    for _ in range(5):
        q, v = arm.random_configuration(rng), rng.normal(size=n)
        reference.row[:] = rng.normal(size=4 * n)
        jacobian, wanted, wrench = arm.jacobian(q), rng.normal(size=6), rng.normal(size=6)
        measured = Measurement(q, v)
        expected = space.torque(posture, measured, reference, jacobian, wanted, 0.01, wrench)
        gains = np.array([posture.posture_kp, posture.posture_kd])
        jacobian = np.ascontiguousarray(jacobian)
        task_torque(
            table, joints, gains, 0.01, q, v, reference.row, jacobian, wanted.copy(), wrench, tau
        )
        np.testing.assert_allclose(tau, expected, rtol=1e-9, atol=1e-9)


def test_directions_of_little_mobility_are_given_up_smoothly():
    rng = np.random.default_rng(1)
    for least in (0.0, 1e-9, 0.5e-2, 2e-2):
        jacobian, root = rng.normal(size=(6, 6)), rng.normal(size=(6, 6))
        jacobian[5] = np.sqrt(least) * jacobian[5]
        mass, wanted, force = root @ root.T + np.eye(6), rng.normal(size=6), np.empty(6)
        expected = damped(inverse_axes(mass, jacobian.T), wanted, 0.5)
        task_force(mass.copy(), jacobian, wanted, 0.5, force)
        np.testing.assert_allclose(force, expected, rtol=1e-6, atol=1e-9)
