"""An arm and its gripper under two controllers pick up a block, over topics."""

import json

import numpy as np
import pytest
from launched import launch

from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.record import Record
from arm_tools.recording.ros import report as report_of
from arm_tools.recording.ros import rerun


@pytest.mark.parametrize('composed', ['composed:=false', 'composed:=true'])
def test_a_block_is_picked_and_placed_over_topics_as_in_the_loop(tmp_path, composed, capfd):
    code, said, report = launch(tmp_path, 'pick_and_place.launch.py', composed)
    assert code == 0, said
    assert report['success']
    robot, task = 'ur5e gripper:=parallel', 'pick_and_place'
    loop = Experiment.of_files(robot, task, 'computed_torque').load().run()
    topics = Record.load(tmp_path / 'record.npz')
    np.testing.assert_allclose(topics.q, loop.q, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(topics.objects[-1], loop.objects[-1], atol=1e-4)
    assert abs(report['gripper_effort_n'] - 60.0) < 0.6
    # From the recording, whose URDF says nothing of the frame between the fingers.
    assert report_of.main([str(tmp_path / 'recording.mcap'), '--json']) == 0
    out, said = capfd.readouterr()
    assert json.loads(out)['tracking_error_mm'] == report['tracking_error_mm']
    assert 'says nothing of them' in said
    assert rerun.main([str(tmp_path / 'recording.mcap')]) == 1
    both = 'computed_torque_controller and gripper_controller command the arm'
    assert both in capfd.readouterr().err
