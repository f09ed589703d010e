"""Compiled motion and forces of links: against Pinocchio, for joints of every kind."""

import numpy as np
import pytest
from arms import load_arm
from mimic_arm import mimic_arm

from arm_dynamics.link_rows import (
    FOUND,
    frame_jacobian,
    frame_motion,
    frame_on_link,
    inward,
    link_table,
    mass_matrix,
    outward,
)


@pytest.fixture(params=['ur5e', 'with slides', 'endless and skew', 'Panda', 'mimics'])
def arm(request):
    return mimic_arm() if request.param == 'mimics' else load_arm(request.param)


def test_motion_jacobian_mass_and_torque_are_those_of_pinocchio(arm):
    rng, n = np.random.default_rng(0), arm.nv
    table, frame = link_table(arm), frame_on_link(arm, arm.tip_frame)
    rows, scratch = np.empty((len(table), FOUND)), np.empty((len(table), 10))
    motion, jacobian, mass, tau = np.empty(24), np.empty((6, n)), np.empty((n, n)), np.empty(n)
    for _ in range(5):
        q, v, a = arm.random_configuration(rng), rng.normal(size=n), rng.normal(size=n)
        outward(table, q, v, a, rows)
        frame_motion(table, rows, frame, motion)
        wanted = arm.frame_motion(q, v, a)
        parts = wanted.rotation.ravel(), *wanted[1:]
        np.testing.assert_allclose(motion, np.concatenate(parts), atol=1e-12)
        frame_jacobian(table, rows, frame, motion[9:12], jacobian)
        np.testing.assert_allclose(jacobian, arm.jacobian(q), atol=1e-13)
        mass_matrix(table, rows, scratch, mass)
        np.testing.assert_allclose(mass + np.diag(arm.armature), arm.mass_matrix(q), atol=1e-12)
        inward(table, rows, tau)
        tau += arm.armature * a + arm.friction_torque(v)
        np.testing.assert_allclose(tau, arm.inverse_dynamics(q, v, a), atol=1e-11)
