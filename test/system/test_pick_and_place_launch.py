"""An arm and its gripper under two controllers pick up a block, over topics."""

import numpy as np
import pytest
from launched import launch

from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.record import Record


@pytest.mark.parametrize('composed', ['composed:=false', 'composed:=true'])
def test_a_block_is_picked_and_placed_over_topics_as_in_the_loop(tmp_path, composed):
    code, said, report = launch(tmp_path, 'pick_and_place.launch.py', 'record:=false', composed)
    assert code == 0, said
    assert report['success']
    robot, task = 'ur5e gripper:=parallel', 'pick_and_place'
    loop = Experiment.of_files(robot, task, 'computed_torque').load().run()
    topics = Record.load(tmp_path / 'record.npz')
    np.testing.assert_allclose(topics.q, loop.q, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(topics.objects[-1], loop.objects[-1], atol=1e-4)
    assert abs(report['gripper_effort_n'] - 60.0) < 0.6
