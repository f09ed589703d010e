"""Stability in contact: predicted limits against the simulation, and the command."""

import json

import pytest

from arm_lab.commands import margins as command
from arm_lab.experiments.experiment import Experiment
from arm_lab.tuning.contact import ContactLoop, contact_limits

ROBOT = 'ur5e gripper:=probe'
# An admittance with little mass and damping, as in files for ros2_controllers.
FILE = """
admittance_controller:
  ros__parameters:
    admittance:
      mass: [3.0, 3.0, 3.0, 0.05, 0.05, 0.05]
      damping_ratio: [2.828427, 2.828427, 2.828427, 2.828427, 2.828427, 2.828427]
      stiffness: [50.0, 50.0, 50.0, 1.0, 1.0, 1.0]
hybrid_force_motion_controller: {ros__parameters: {normal_time: 0.0}}
"""


@pytest.fixture
def of_law(tmp_path):
    """Return what makes an experiment with these gains."""
    file = tmp_path / 'gains.yaml'
    file.write_text(FILE)
    return lambda law: Experiment.of_files(ROBOT, 'press', law, config=str(file))


@pytest.mark.parametrize(
    ('law', 'delay'),
    [
        ('admittance', 1),
        ('joint_impedance', 2),
        pytest.param('hybrid_force_motion', 2, marks=pytest.mark.slow),
    ],
)
def test_a_loop_becomes_unstable_within_a_tenth_of_the_predicted_stiffness(of_law, law, delay):
    (limit,) = contact_limits(of_law(law), 1e3, 1e6, range(delay, delay + 1))
    assert 1e3 < limit.predicted < 1e6
    below, above = (ContactLoop(of_law(law), factor * limit.predicted) for factor in (0.9, 1.1))
    assert below.margin(delay) > 0.0 > above.margin(delay)
    assert below.stable_in_simulation(delay, 1.0)
    assert not above.stable_in_simulation(delay, 1.0)


@pytest.mark.slow
def test_a_loop_becomes_unstable_within_a_period_of_the_predicted_delay(of_law):
    contact = ContactLoop(of_law('joint_impedance'), 1e5)
    stable = [contact.margin(delay) > 0.0 for delay in range(7)]
    last = stable.index(False) - 1
    assert stable == [delay <= last for delay in range(7)]
    assert contact.stable_in_simulation(last - 1, 1.0)
    assert not contact.stable_in_simulation(last + 2, 1.0)


def test_a_surface_without_friction_holds_no_point(of_law):
    assert (
        ContactLoop(of_law('joint_impedance'), 1e4).margin(0) > 10.0
    )  # 0.03 with a point that sticks


def test_the_limit_falls_with_the_delay_and_the_command_writes_it(tmp_path, capsys):
    arguments = ['--robot', ROBOT, '--law', 'joint_impedance', '--output-dir', str(tmp_path)]
    assert command.main([*arguments, '--contact', '5e4,1e6', '--delay', '5']) == 0
    shown = capsys.readouterr().out
    assert 'above 1e+06' in shown
    assert 'below 5e+04' in shown
    limits = json.loads((tmp_path / 'contact.json').read_text())['limits']
    predicted = [each['predicted'] for each in limits]
    assert predicted[0] == 1e6
    assert predicted == sorted(predicted, reverse=True)
    assert predicted[-1] == 0.0
    assert (tmp_path / 'contact.png').stat().st_size > 10_000


@pytest.mark.parametrize(
    ('arguments', 'reason'),
    [
        (['--contact', '1e6,1e3'], '--contact is 1e+06,1000; it must be two increasing'),
        (
            ['--contact', '1e3,1e6', '--engine', 'analytical'],
            "engine 'analytical' has no contacts",
        ),
        (['--contact', '1e3,1e6', '--robot', 'planar_3r'], 'does not reach a surface'),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, reason, capsys, tmp_path):
    assert command.main(['--robot', ROBOT, *arguments, '--output-dir', str(tmp_path)]) == 1
    (line,) = (x for x in capsys.readouterr().err.splitlines() if x.startswith('margins: '))
    assert reason in line
