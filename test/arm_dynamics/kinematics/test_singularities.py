"""UR-type singularities factor the determinant; the generic measure names the lost direction."""

import numpy as np
import pytest
from arms import load_arm
from numpy.testing import assert_allclose

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.kinematics.singularities import singularity, ur_singularities
from arm_dynamics.robots import find_urdf

REGULAR = np.array([0.3, -1.1, 1.2, -0.4, 0.9, 0.2])


@pytest.fixture(scope='module', params=['ur5e', 'ur5e_menagerie'])
def model(request) -> RobotModel:
    return RobotModel.from_urdf(find_urdf(request.param))


def test_the_determinant_is_the_product_of_the_three_distances(model):
    lengths = 0.425 * (0.3922 if model.name == 'ur5e' else 0.392)
    rng = np.random.default_rng(1)
    for _ in range(200):
        q = model.random_configuration(rng)
        wrist, elbow, shoulder, _ = ur_singularities(model, q)
        expected = lengths * np.sin(elbow) * np.sin(wrist) * shoulder
        assert_allclose(abs(np.linalg.det(model.jacobian(q))), expected, atol=1e-14)


def test_a_regular_configuration_has_no_singularity(model):
    assert ur_singularities(model, REGULAR).names == ()
    assert not singularity(model, REGULAR).singular


def test_wrist_and_elbow_are_named_with_their_distance(ur5e):
    q = REGULAR.copy()
    q[4] = 0.03
    assert ur_singularities(ur5e, q).names == ('wrist',)
    assert_allclose(ur_singularities(ur5e, q).wrist_angle, 0.03, atol=1e-12)
    q = REGULAR.copy()
    q[2] = -0.02
    assert ur_singularities(ur5e, q).names == ('elbow',)
    assert_allclose(ur_singularities(ur5e, q).elbow_angle, 0.02, atol=1e-12)


def test_the_shoulder_is_singular_where_the_wrist_is_above_it(ur5e):
    # Along q2 the shoulder distance changes sign: bisect its zero.
    def signed(lift: float) -> float:
        q = REGULAR.copy()
        q[1] = lift
        return float(np.linalg.det(ur5e.jacobian(q)))

    low, high = -2.6, -1.1
    assert signed(low) * signed(high) < 0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if signed(low) * signed(middle) > 0 else (low, middle)
    q = REGULAR.copy()
    q[1] = low
    found = ur_singularities(ur5e, q)
    assert found.names == ('shoulder',)
    assert found.shoulder_distance < 1e-12


@pytest.fixture(scope='module')
def ur5e() -> RobotModel:
    return RobotModel.from_urdf(find_urdf('ur5e'))


def test_the_lost_direction_cannot_be_moved_in_and_the_idle_motion_moves_nothing(ur5e):
    q = REGULAR.copy()
    q[4] = 0.0
    found = singularity(ur5e, q)
    jacobian = ur5e.jacobian(q)
    assert found.singular
    assert_allclose(found.lost_direction @ jacobian, 0.0, atol=1e-12)
    assert_allclose(jacobian @ found.idle_motion, 0.0, atol=1e-12)


def test_the_generic_measure_serves_any_arm():
    model = load_arm('planar 3R')
    assert singularity(model, np.array([0.4, 0.0, 0.0])).singular
    assert not singularity(model, np.array([0.4, 1.0, 1.0])).singular


def test_an_arm_of_another_type_is_refused_with_the_reason():
    with pytest.raises(ArmError, match='needs six revolute joints'):
        ur_singularities(load_arm('planar 3R'), np.zeros(3))
