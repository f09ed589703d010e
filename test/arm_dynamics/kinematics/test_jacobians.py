"""Three Jacobians agree; manipulability and ellipsoids are what their definitions say."""

import numpy as np
import pytest
from arms import ARMS, load_arm
from numpy.testing import assert_allclose

from arm_dynamics import RobotModel
from arm_dynamics.kinematics.jacobians import (
    condition_number,
    force_ellipsoid,
    geometric_jacobian,
    manipulability,
    numerical_jacobian,
    smallest_singular_value,
    velocity_ellipsoid,
)
from arm_dynamics.robots import find_urdf


@pytest.mark.parametrize('name', ARMS)
def test_three_jacobians_agree(name):
    model = load_arm(name)
    rng = np.random.default_rng(1)
    for _ in range(10):
        q = model.random_configuration(rng)
        expected = model.jacobian(q)
        assert_allclose(geometric_jacobian(model, q), expected, atol=1e-12)
        assert_allclose(numerical_jacobian(model, q), expected, atol=1e-8)


def test_jacobians_agree_for_a_frame_inside_the_chain():
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    q = model.random_configuration(np.random.default_rng(2))
    expected = model.jacobian(q, 'forearm_link')
    assert_allclose(geometric_jacobian(model, q, 'forearm_link'), expected, atol=1e-12)
    assert_allclose(numerical_jacobian(model, q, 'forearm_link'), expected, atol=1e-8)
    assert_allclose(expected[:, 3:], 0.0, atol=0)


def test_manipulability_is_the_root_of_det_j_jt():
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    rng = np.random.default_rng(3)
    for _ in range(20):
        jacobian = model.jacobian(model.random_configuration(rng))
        assert_allclose(
            manipulability(jacobian), np.sqrt(np.linalg.det(jacobian @ jacobian.T)), rtol=1e-7
        )


def test_condition_number_and_smallest_singular_value_bound_tool_speeds():
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    rng = np.random.default_rng(4)
    jacobian = model.jacobian(model.random_configuration(rng))
    velocities = rng.normal(size=(5000, 6))
    velocities /= np.linalg.norm(velocities, axis=1)[:, None]
    speeds = np.linalg.norm(velocities @ jacobian.T, axis=1)
    smallest = smallest_singular_value(jacobian)
    assert speeds.min() >= smallest
    assert speeds.max() <= smallest * condition_number(jacobian) * (1 + 1e-12)


def test_a_stretched_arm_has_no_manipulability():
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    jacobian = model.jacobian(np.zeros(6))
    assert manipulability(jacobian) < 1e-12
    assert condition_number(jacobian) > 1e12


def test_the_velocity_ellipsoid_holds_what_unit_joint_speed_reaches():
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    rng = np.random.default_rng(5)
    jacobian = model.jacobian(model.random_configuration(rng))[:3]
    radii, axes = velocity_ellipsoid(jacobian)
    joint_velocities = rng.normal(size=(2000, 6))
    joint_velocities /= np.linalg.norm(joint_velocities, axis=1)[:, None]
    inside = (joint_velocities @ jacobian.T) @ axes / radii
    assert np.linalg.norm(inside, axis=1).max() <= 1.0 + 1e-12
    best = jacobian.T @ axes[:, 0] / radii[0]
    assert_allclose(jacobian @ best, radii[0] * axes[:, 0], atol=1e-12)


def test_the_force_ellipsoid_is_reciprocal_to_the_velocity_ellipsoid():
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    rng = np.random.default_rng(6)
    jacobian = model.jacobian(model.random_configuration(rng))[:3]
    radii, axes = force_ellipsoid(jacobian)
    for radius, axis in zip(radii, axes.T, strict=True):
        assert_allclose(np.linalg.norm(jacobian.T @ (radius * axis)), 1.0, rtol=1e-12)


def test_a_planar_arm_can_carry_any_force_across_its_plane():
    model = load_arm('planar 3R')
    radii, axes = force_ellipsoid(model.jacobian(np.array([0.3, 0.5, -0.4]))[:3])
    assert np.isinf(radii[2]) or radii[2] > 1e12
    assert_allclose(np.abs(axes[:, 2]), [0, 0, 1], atol=1e-12)
