"""A force-controlled task as its users run it."""

import numpy as np
import pytest
from launched import launch

from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.record import Record
from arm_sim.robot import Robot

# As files for ros2_controllers are, with what has no effect here.
ADMITTANCE = """
admittance_controller:
  ros__parameters:
    chainable_command_interfaces: [position, velocity]
    kinematics: {plugin_name: kdl, base: base_link, tip: probe_tcp, alpha: 0.01}
    ft_sensor: {name: tcp_fts_sensor, frame: {id: probe}, filter_coefficient: 0.05}
    admittance: {mass: [19.0, 19.0, 19.0, 2.0, 2.0, 2.0], damping_ratio: [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]}
"""  # noqa: E501


@pytest.mark.parametrize(
    ('law', 'file', 'limit'),
    [('hybrid_force_motion', '', 0.01), ('admittance', ADMITTANCE, 1.0), ('mpc', '', 0.01)],
    ids=['hybrid_force_motion', 'admittance', 'mpc'],
)
def test_a_press_over_topics_is_that_of_the_loop_bit_for_bit(tmp_path, law, file, limit):
    config = tmp_path / 'own.yaml'
    config.write_text(file)
    code, printed, report = launch(
        tmp_path,
        'task.launch.py',
        *('task:=press', 'gripper:=probe', f'controller:={law}', f'config:={config}'),
        *(f'parameters:={{duration: 3.0, limit: {limit}}}', 'record:=false'),
    )
    assert code == 0, printed
    assert report['force_error_rms_n'] < limit
    unused = (
        'chainable_command_interfaces, ft_sensor.name, kinematics.base, kinematics.plugin_name'
    )
    assert (unused in printed) == bool(file)
    case = Experiment.of_files('ur5e gripper:=probe', 'press', law, config=str(config))
    assert_equal_bits(case, {'duration': 3.0}, tmp_path)


def test_a_peg_over_topics_is_that_of_the_loop_bit_for_bit(tmp_path):
    given = {'offset': 0.001, 'distance': 0.002, 'radius': 0.0015, 'insertion_time': 0.5}
    code, printed, report = launch(
        tmp_path,
        'task.launch.py',
        *('task:=peg_in_hole', 'gripper:=peg', 'controller:=cartesian_impedance'),
        *(f'parameters:={given}', 'record:=false'),
    )
    assert code == 0, printed
    assert report['depth_mm'] > 24.0
    case = Experiment.of_files('ur5e gripper:=peg', 'peg_in_hole', 'cartesian_impedance')
    assert_equal_bits(case, given, tmp_path)


def assert_equal_bits(case, given, folder):
    """Assert that the record of a launch in a folder is that of an experiment in the loop."""
    loop = LoadedExperiment(case, Robot.load(case.robot, case.config), given).run()
    topics = Record.load(folder / 'record.npz')
    for name in ('t', 'q', 'v', 'effort', 'wrench', 'q_end'):
        np.testing.assert_array_equal(getattr(topics, name), getattr(loop, name), err_msg=name)
