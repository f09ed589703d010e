"""A parameter file without ROS: a slip in a name is refused there as launch files refuse it."""

import pytest

from arm_dynamics.checks import ArmError
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.robot_files import is_misspelt


@pytest.mark.parametrize(
    ('section', 'line', 'message'),
    [
        (
            '/**',
            'frictoin: 0.1',
            r"parameter of /\*\* in .*: 'frictoin'; nearest known: 'friction'",
        ),
        ('pd_controller', 'kpp: [1.0]', "parameter of pd_controller in .*: 'kpp'; .*: 'kp'"),
        ('pdd_controller', 'kp: [1.0]', "node in .*: 'pdd_controller'; .*: 'pd_controller'"),
        ('simulator', 'friction: 5.0', "'friction' of simulator is for launch files"),
    ],
)
def test_a_slip_in_a_name_of_a_parameter_file_is_refused(tmp_path, section, line, message):
    file = tmp_path / 'my.yaml'
    file.write_text(f'{section}:\n  ros__parameters: {{{line}}}\n')
    with pytest.raises(ArmError, match=message):
        Experiment('planar_3r', 'step', 'pd', config=str(file)).load()


def test_no_parameter_of_a_node_is_taken_for_a_slip():
    known = pytest.importorskip('arm_sim.ros.known_parameters')
    names = {
        name for node in known.known_nodes() for name in known.known_parameters(node, ['joint_1'])
    }
    assert len(names) > 300
    assert [name for name in names if is_misspelt(name)] == []


def test_what_the_plain_plant_of_a_designed_law_leaves_of_a_parameter_file_is_named(
    tmp_path, capfd
):
    file = tmp_path / 'my.yaml'
    used = 'initial_positions: [0.1, 0.2, 0.3]'
    text = f'{{sensors.position_bias: [0.1], {used}}}'
    file.write_text(f'simulator:\n  ros__parameters: {text}\n')
    Experiment.of_files('planar_3r', 'step', 'pd', config=str(file)).load()
    assert not capfd.readouterr().err
    Experiment('planar_3r', 'step', 'pd', config=str(file)).load()
    assert 'not used of simulator: sensors.position_bias: give drives' in capfd.readouterr().err
