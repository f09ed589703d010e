"""The chain to a frame, of arms that have no mass."""

import numpy as np
import pytest

from arm_dynamics import RobotModel
from arm_dynamics.inverse_kinematics import solve_ik
from arm_dynamics.kinematics.chain import Chain

MASSLESS = """<robot name="arm"><link name="base"/><link name="turning"/><link name="tip"/>
  <joint name="turn" type="continuous">
    <parent link="base"/><child link="turning"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="end" type="{}">
    <parent link="turning"/><child link="tip"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>
  </joint></robot>"""


@pytest.mark.parametrize(('end', 'joints'), [('fixed', 1), ('continuous', 2)])
def test_massless_links_with_continuous_joints_have_inverse_kinematics(end, joints):
    model = RobotModel(MASSLESS.format(end))
    assert Chain(model).n == joints
    target = model.forward_kinematics(np.full(joints, 0.7))
    result = solve_ik(model, target, model.neutral())
    assert result.success
    found = model.forward_kinematics(result.q)
    np.testing.assert_allclose(found.homogeneous, target.homogeneous, atol=1e-6)
