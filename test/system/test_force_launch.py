"""A force-controlled task as its users run it."""

import numpy as np
from launched import launch

from arm_sim.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.record import Record
from arm_sim.robot import Robot


def test_a_press_over_topics_is_that_of_the_loop_bit_for_bit(tmp_path):
    code, printed, report = launch(
        tmp_path,
        'task.launch.py',
        *('task:=press', 'gripper:=probe', 'controller:=hybrid_force_motion'),
        *('parameters:={duration: 3.0, limit: 0.01}', 'record:=false'),
    )
    assert code == 0, printed
    assert report['force_error_rms_n'] < 0.01
    case = Experiment.of_files('ur5e gripper:=probe', 'press', 'hybrid_force_motion')
    robot = Robot.load(case.robot)
    loop = LoadedExperiment(case, robot, {'duration': 3.0}).run()
    topics = Record.load(tmp_path / 'record.npz')
    for name in ('t', 'q', 'v', 'effort', 'wrench', 'q_end'):
        np.testing.assert_array_equal(getattr(topics, name), getattr(loop, name), err_msg=name)
