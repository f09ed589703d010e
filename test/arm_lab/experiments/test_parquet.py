"""A Monte Carlo's arms as a table that pandas and DuckDB read."""

import json
import sys

import pytest
from experiment_parts import measures_of
from numpy.testing import assert_allclose, assert_array_equal
from optional import optional

from arm_lab.commands import compare_controllers
from arm_lab.experiments import monte_carlo
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.ranges import Ranges
from arm_sim.robot import Robot

ARGUMENTS = '--robots planar_3r --tasks step --laws pd,computed_torque --samples 5 --workers 1'


@pytest.mark.slow
def test_each_arm_is_a_row_with_what_draws_it_again(tmp_path, monkeypatch):
    optional('pyarrow', 'pyarrow>=17')
    from pyarrow import dataset

    monkeypatch.setattr(monte_carlo, 'CHUNK', 2)
    arguments = [*ARGUMENTS.split(), '--seed', '9', '--parquet', '--output-dir', str(tmp_path)]
    arguments += ['--mass', '0.3', '--payload', '0.5']
    (tmp_path / 'arms').mkdir()
    (tmp_path / 'arms' / 'arms-000000777.parquet').write_text('of an earlier run')
    assert compare_controllers.main(arguments) == 0
    assert len(list((tmp_path / 'arms').iterdir())) == 3  # chunks
    rows = dataset.dataset(tmp_path / 'arms').to_table().to_pylist()
    report = json.loads((tmp_path / 'monte_carlo.json').read_text())['rows']
    for law in report:
        own = sorted((r for r in rows if r['law'] == law['law']), key=lambda r: r['sample'])
        assert [row['tracking_rms_mm'] for row in own] == law['tracking_rms_mm']
    assert len(rows) == 10
    robot = Robot.load('planar_3r')
    row = next(r for r in rows if (r['law'], r['sample']) == ('computed_torque', 3))
    draw = Ranges(mass=0.3, payload=0.5).draw(robot.model, row['seed'], row['sample'])
    joints = robot.model.joint_names
    assert_array_equal([row[f'mass_scale_{joint}'] for joint in joints], draw.error.mass_scale)
    assert_array_equal([row[f'friction_{joint}'] for joint in joints], draw.error.friction)
    assert (row['delay'], row['noise_seed'], row['seed']) == (
        draw.delay,
        draw.sensors.sensor_seed,
        9,
    )
    assert (row['payload'], row['stiffness'], row['grip']) == (draw.error.payload, 1.0, 1.0)
    case = Experiment('planar_3r', 'step', 'computed_torque').drawn(draw)
    assert_allclose(row['tracking_rms_mm'], measures_of(case).tracking_rms_mm, rtol=1e-6)
    assert row['stable']


def test_ranges_of_drawn_arms_are_refused_without_samples(capsys):
    assert compare_controllers.main(['--robots', 'planar_3r', '--payload', '2']) == 1
    assert '--payload and other ranges of drawn arms need --samples' in capsys.readouterr().err


def test_without_pyarrow_the_option_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, 'pyarrow', None)
    assert (
        compare_controllers.main([*ARGUMENTS.split(), '--parquet', '--output-dir', str(tmp_path)])
        == 1
    )
    error = capsys.readouterr().err
    assert 'pip install' in error
    assert error.count('\n') == 1
