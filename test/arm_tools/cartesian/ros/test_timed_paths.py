"""Timed paths of services: the length of a path is bounded."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from arm_dynamics import ArmError
from arm_tools.cartesian.ros.timed_paths import MOST_TIMED_POSES, answer_timed


def test_a_path_whose_timing_blocks_the_node_is_refused_in_one_line():
    poses = np.tile(np.eye(4), (MOST_TIMED_POSES + 1, 1, 1))
    text = f'^the path has {len(poses)} poses; allowed with a timing: {MOST_TIMED_POSES}$'
    with pytest.raises(ArmError, match=text):
        answer_timed(None, poses, np.zeros(6), None, SimpleNamespace(), SimpleNamespace())
