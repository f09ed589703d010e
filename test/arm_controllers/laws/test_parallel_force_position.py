"""Parallel force and position control: its poles on a spring, and which of the two wins."""

import numpy as np
from scipy.integrate import solve_ivp
from simulated_law import rest_reference, run

from arm_controllers.laws import Measurement
from arm_controllers.laws.parallel_force_position import (
    ParallelForcePosition,
    ParallelForcePositionParameters,
)
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

ARM = RobotModel(find_urdf('ur5e'), armature=0.1)
Q = np.array([0.1, -1.4, 1.9, -2.0, -1.5, 0.2])
HEIGHT = ARM.forward_kinematics(Q).translation[2]
STIFFNESS, FORCE, DT = 1e4, 10.0, 5e-4
GAINS = {'force_kp': 0.4, 'force_ki': 15.0}


class Touching:
    """The law on an arm whose tool touches a spring below it."""

    def __init__(self):
        self.law, self.state = (
            ParallelForcePosition(ARM, ParallelForcePositionParameters(**GAINS)),
            None,
        )

    def reset(self, q, v):
        """Start with the first measurement."""

    def force(self, q):
        return STIFFNESS * (HEIGHT - ARM.forward_kinematics(q).translation[2])

    def torque(self, q):
        return ARM.jacobian(q)[2] * self.force(q)

    def __call__(self, q, v, reference, dt):
        rotation = ARM.forward_kinematics(q, ARM.tool_carrier).rotation
        felt = np.append(rotation.T @ [0.0, 0.0, self.force(q)], np.zeros(3))
        measured = Measurement(q, v, None, felt)
        if self.state is None:
            self.state = self.law.start(measured, reference)
        tau, self.state = self.law(self.state, measured, reference, dt)
        return tau


def reference():
    found = rest_reference(Q)
    found.set_wrench(np.array([0.0, 0.0, -FORCE, 0.0, 0.0, 0.0]))
    return found


def test_on_a_spring_the_force_obeys_the_equation_of_third_order_and_ends_without_error():
    jacobian = ARM.jacobian(Q)[2]
    mass = 1.0 / (jacobian @ np.linalg.solve(ARM.mass_matrix(Q), jacobian))
    kf, ki = GAINS.values()

    def rate(t, state):
        x, v, integral = state
        error = FORCE - STIFFNESS * x
        push = FORCE + kf * error + integral - STIFFNESS * x
        return v, push / mass - 40.0 * v - 400.0 * x, ki * error

    touching, wanted = Touching(), reference()
    found = [
        (t, touching.force(q))
        for t, q, _ in run(
            ARM, touching, lambda t: wanted, Q, np.zeros(6), 0.8, touching.torque, DT
        )
    ]
    times, forces = np.array(found).T
    expected = solve_ivp(rate, (0.0, 0.8), np.zeros(3), t_eval=times, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(forces, STIFFNESS * expected.y[0], atol=0.015 * FORCE)
    assert np.ptp(expected.y[0]) * STIFFNESS > FORCE
    np.testing.assert_allclose(forces[-1], FORCE, rtol=1e-4)


def test_without_a_wrench_the_position_takes_over_smoothly():
    own = ParallelForcePosition(ARM, ParallelForcePositionParameters(force_ki=10.0))
    measured = Measurement(Q, np.zeros(6), None, np.zeros(6))
    wanted = reference()
    _, state = own(own.start(measured, wanted), measured, wanted, 0.1)
    assert state[0][2] == -FORCE
    held, state = own(state, measured, rest_reference(Q), 0.1)
    expected = ARM.gravity_torque(Q) + ARM.jacobian(Q).T @ [0.0, 0.0, -FORCE, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(held, expected, atol=1e-9)
    np.testing.assert_allclose(state[0][2], -FORCE * np.exp(-1.0))
