"""The controllers' file under a controller_manager, in lock-step with the simulated arm."""

from pathlib import Path

import numpy as np
import pytest
from ament_index_python.packages import get_packages_with_prefixes

FILE = Path(__file__).parents[1] / 'config' / 'controllers.yaml'
JTC = 'joint_trajectory_controller'


@pytest.mark.skipif(
    'controller_manager' not in get_packages_with_prefixes(), reason='no controller_manager'
)
def test_the_file_brings_the_arm_to_its_goal_and_another_joint_is_rejected(start_arm):
    arm = start_arm(robot='ur5e', controllers=FILE)
    home = arm.motion.q[-1]
    arm.reach(JTC, home + 0.2, seconds=1.0)
    arm.reach(JTC, home, seconds=1.0)
    arm.check_limits()
    print('checksum', arm.checksum())
    assert np.ptp(arm.motion.q, axis=0).min() > 0.19
    with pytest.raises(ValueError, match="don't match the controller joints"):
        arm.send(JTC, {'elbow': 1.0})
