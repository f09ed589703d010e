"""Steps of many arms: soft friction by its definition."""

import numpy as np
from arms import load_arm
from numpy.testing import assert_allclose

from arm_dynamics.compiled import BatchForwardModel, ForwardModelParameters, SoftFriction

SOFT, H = SoftFriction(rate=105.3, stiffness=9.0), 1e-3


def test_soft_friction_is_a_damper_of_acceleration_and_velocity_within_its_bound():
    plain, rng, size = load_arm('planar_3r'), np.random.default_rng(1), 200
    bound = np.array([2.0, 0.0, 0.3])
    model = plain.with_joints(np.array([0.1, 0.2, 0.05]), np.zeros(3), bound)
    q, v = rng.uniform(-2.0, 2.0, (size, 3)), rng.normal(0.0, 3e-3, (size, 3))
    gravity = np.array([model.gravity_torque(x) for x in q])
    command = gravity + rng.uniform(-2.0, 2.0, (size, 3)) * (bound + 0.1)
    batch = BatchForwardModel(
        [model] * size,
        ForwardModelParameters(actuator='torque', integrator='semi_implicit_euler'),
        SOFT,
    )
    now = v.copy()
    batch.advance(q.copy(), now, command, H, 1, np.zeros_like(q))
    assert batch.friction_found
    a = (now - v) / H
    torques = zip(q, v, a, strict=True)
    inertial = [model.mass_matrix(x) @ z + model.bias_torque(x, y) for x, y, z in torques]
    stiffness = SOFT.stiffness / np.linalg.inv(model.mass_matrix(np.zeros(3))).diagonal()
    expected = np.clip(-stiffness * (a + SOFT.rate * v), -bound, bound)
    assert_allclose(inertial - command, expected, atol=1e-9)
    at_bound = np.abs(expected) == bound
    assert at_bound[:, [0, 2]].mean(axis=0).min() > 0.2
    assert at_bound[:, [0, 2]].mean(axis=0).max() < 0.8
