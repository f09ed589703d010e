"""The comparison over topics: what it refuses before anything is launched, what it writes."""

import argparse

import pytest
import yaml

from arm_controllers.laws import LAWS
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf
from arm_sim import compare_nodes
from arm_sim.compare_nodes import NODE_LAWS, NODE_SWEEPS, main, plant_error
from arm_sim.sweeps import SWEEPS


def report(law, error_text):
    """What sinusoid.launch.py would have written: one joint, worse with more payload."""
    worse = 1.0 + len(law) * 0.01 + (0.0 if error_text == '{}' else float(error_text[10:-1]))
    return {
        'joint_rms_deg': {'a': worse, 'b': 0.5},
        'joint_max_deg': {'a': 2.0 * worse, 'b': 1.0},
        'peak_torque_nm': 3.0,
        'checksum': 'c',
    }


def test_every_law_over_topics_is_registered():
    assert set(NODE_LAWS) <= set(LAWS)
    assert set(NODE_SWEEPS) <= set(SWEEPS)


@pytest.mark.parametrize('sweep', NODE_SWEEPS)
def test_plant_error_is_what_the_launch_file_reads(sweep):
    fields = yaml.safe_load(plant_error(sweep, 1.25))
    error = ModelError(**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})
    model = RobotModel.from_urdf(find_urdf('planar_3r'))
    assert with_error(model, error).urdf != model.urdf


def test_table_and_picture_of_a_sweep(tmp_path, monkeypatch, capsys):
    def launched(options: argparse.Namespace, law: str, error_text: str) -> dict:
        return report(law, error_text)

    monkeypatch.setattr(compare_nodes, 'launch_one', launched)
    arguments = ['--laws', 'pd,servo', '--sweep', 'payload', '--values', '0.5,1']
    assert main([*arguments, '--output-dir', str(tmp_path)]) == 0
    text = (tmp_path / 'nodes.md').read_text()
    assert '| servo | 1 | 2.05 | 4.1 | 3 |' in text
    assert 'RMS [deg]' in capsys.readouterr().out
    assert (tmp_path / 'nodes.png').stat().st_size > 5_000


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--laws', 'magic'], "law is 'magic'; allowed: independent_joint"),
        (['--sweep', 'gravity'], "sweep is 'gravity'; allowed: mass_scale"),
        (['--sweep', 'payload', '--values', 'x'], "values is 'x'; it must be numbers"),
        (['--output-dir', '/proc/nowhere'], "output_dir '/proc/nowhere'"),
    ],
)
def test_bad_arguments_end_with_one_line(arguments, message, capsys, tmp_path):
    assert main(['--output-dir', str(tmp_path), *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count('\n') == 1
