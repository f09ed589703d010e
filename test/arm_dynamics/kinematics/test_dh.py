"""Denavit-Hartenberg rows give the URDF's poses."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.kinematics.dh import modified_dh, standard_dh
from arm_dynamics.robots import find_urdf

# UR5e, manufacturer's lengths [m]: (alpha, a, d) a row, then a tool of 0.135 m along z.
UR5E_MODIFIED = np.array(
    [
        (0.0, 0.0, 0.1625),
        (np.pi / 2, 0.0, 0.0),
        (0.0, -0.425, 0.0),
        (0.0, -0.3922, 0.1333),
        (np.pi / 2, 0.0, 0.0997),
        (-np.pi / 2, 0.0, 0.0996),
    ]
)
UR5E_STANDARD = np.array(
    [
        (np.pi / 2, 0.0, 0.1625),
        (0.0, -0.425, 0.0),
        (0.0, -0.3922, 0.0),
        (np.pi / 2, 0.0, 0.1333),
        (-np.pi / 2, 0.0, 0.0997),
        (0.0, 0.0, 0.0996),
    ]
)
UR5E_TOOL = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.135]))


def test_the_home_pose_is_the_published_one():
    home = modified_dh(UR5E_MODIFIED, np.zeros(6), UR5E_TOOL).translation
    assert_allclose(home, (-0.8172, -0.3679, 0.0628), atol=1e-12)


@pytest.mark.parametrize(
    ('forward', 'rows'), [(modified_dh, UR5E_MODIFIED), (standard_dh, UR5E_STANDARD)]
)
def test_dh_rows_and_urdf_give_the_same_pose(forward, rows):
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    rng = np.random.default_rng(1)
    for _ in range(100):
        q = model.random_configuration(rng)
        assert_allclose(
            forward(rows, q, UR5E_TOOL).homogeneous,
            model.forward_kinematics(q).homogeneous,
            atol=1e-12,
        )


def test_an_offset_column_is_added_to_the_angle():
    offsets = np.linspace(-1, 1, 6)
    rows = np.column_stack([UR5E_MODIFIED, offsets])
    q = np.arange(6.0)
    assert_allclose(
        modified_dh(rows, q).homogeneous,
        modified_dh(UR5E_MODIFIED, q + offsets).homogeneous,
        atol=1e-14,
    )


@pytest.mark.parametrize(('rows', 'q'), [(np.zeros((6, 2)), np.zeros(6)), (UR5E_MODIFIED, [0.0])])
def test_rows_of_the_wrong_shape_are_refused(rows, q):
    with pytest.raises(ArmError, match='DH rows are'):
        modified_dh(rows, q)
