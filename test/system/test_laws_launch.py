"""The launch files of laws and models as their users run them."""

import json
import runpy
from dataclasses import replace

import numpy as np
import pytest
from domains import fresh_domain
from experiment_parts import measures_of
from launch.actions import DeclareLaunchArgument
from launched import launch
from started_launches import started

from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError
from arm_dynamics.robots import share_folder
from arm_lab.commands.compare_controllers import main
from arm_lab.experiments.experiment import Experiment

_SHORT = 'sinusoid_task: {ros__parameters: {cycles: 0.1}}'


def test_benchmark_law_over_topics_gives_the_benchmarks_true_digits(tmp_path):
    given = ('integrator:=implicitfast', 'limit:=0.0086', 'record:=false')
    code, printed, report = launch(tmp_path, 'sinusoid.launch.py', *given)
    assert code == 0, printed
    rms = list(report['joint_rms_deg'].values())
    np.testing.assert_allclose(rms, [0.0085473, 0.0049239, 0.0079182], atol=5e-8)
    assert (tmp_path / 'tracking.png').stat().st_size > 10_000


def test_an_unknown_payload_on_the_plant_is_seen_and_missed_limits_end_with_1(tmp_path):
    code, printed, report = launch(
        tmp_path,
        'sinusoid.launch.py',
        'controller:=computed_torque',
        'plant_error:={payload: 2.0}',
        'limit:=0.012',
        *('cycles:=0.5', 'record:=false'),
    )
    assert code == 1, printed
    assert max(report['joint_rms_deg'].values()) > 1.0
    assert not report['limits_held']


def arguments_of(file):
    """The arguments that a launch file declares."""
    made = runpy.run_path(str(file))['generate_launch_description']()
    return [each.name for each in made.entities if isinstance(each, DeclareLaunchArgument)]


def test_every_launch_file_takes_a_parameter_file_and_those_of_tasks_errors_of_arm_and_model():
    files = sorted((share_folder() / 'launch').glob('*.launch.py'))
    assert len(files) >= 8
    for file in files:
        if file.name in ('replay.launch.py', 'view.launch.py'):  # they show what is or was
            continue
        assert 'config' in arguments_of(file), file
        if file.name.split('.')[0] in ('cube', 'task', 'sinusoid'):
            assert {'plant_error', 'model_error'} <= set(arguments_of(file)), file


def test_a_controller_that_knows_the_error_of_the_arm_tracks_as_without_any(tmp_path):
    (tmp_path / 'short.yaml').write_text(_SHORT)
    errors = [f'{each}_error:={{mass_scale: [1.3]}}' for each in ('plant', 'model')]
    short = f'config:={tmp_path / "short.yaml"}'
    given = ('robot:=planar_3r', 'record:=false', short, *errors)
    code, printed, report = launch(tmp_path, 'task.launch.py', *given)
    assert code == 0, printed
    config = str(tmp_path / 'short.yaml')
    exact = Experiment('planar_3r', 'sinusoid', 'computed_torque', config=config)
    without, wrong = (
        measures_of(replace(exact, error=error)).tracking_rms_mm
        for error in (ModelError(), ModelError(mass_scale=(1.3,)))
    )
    assert wrong > 10.0 * without
    np.testing.assert_allclose(report['tracking_error_mm']['rms'], without, rtol=0.01)


def test_the_cubes_controller_may_believe_in_a_wrong_arm(tmp_path):
    given = ('path:=published', 'edge_time:=0.5', 'model_error:={mass_scale: [0.7]}')
    less = ('composed:=true', 'record:=false')  # one process gives the same bits
    code, printed, report = launch(
        tmp_path, 'cube.launch.py', 'controller:=computed_torque', *given, *less
    )
    assert code == 1, printed
    assert report.get('tracking_error_mm', {}).get('rms', 0.0) > 1.0, printed


@pytest.mark.parametrize(
    'words', ['compare.launch.py', 'model_mismatch.launch.py', 'sinusoid.launch.py sweep:=loop']
)
def test_a_comparison_refuses_a_typo_in_its_parameter_file(words, tmp_path, monkeypatch):
    config = tmp_path / 'mine.yaml'
    config.write_text('sinusoid_task: {ros__parameters: {amplitud: [0.1]}}')
    with pytest.raises(ArmError, match="'amplitud'; nearest known: 'amplitude'$"):
        started(monkeypatch, *words.split(), f'config:={config}')


def test_a_motion_model_follows_a_sinusoid_without_lag(tmp_path):
    code, printed, report = launch(tmp_path, 'motion_models.launch.py', 'natural_frequency:=20.0')
    assert code == 0, printed
    # The goal's velocity and acceleration reach the model: no lag, Runge-Kutta's error is left.
    assert max(report['joint_rms_deg'].values()) < 1e-6


def test_mismatch_sweep_writes_table_and_picture(tmp_path):
    code, printed, _ = launch(
        tmp_path, 'model_mismatch.launch.py', 'robot:=planar_3r', 'laws:=pd', 'values:=0.9,1'
    )
    assert code == 0, printed
    assert (tmp_path / 'sweep_mass_scale.png').stat().st_size > 10_000
    assert '| pd |' in (tmp_path / 'sweep_mass_scale.md').read_text()


def test_a_table_of_laws_and_errors_over_topics_is_that_of_the_loop(tmp_path, monkeypatch):
    (tmp_path / 'short.yaml').write_text(_SHORT)
    words = ['--robots=planar_3r', '--timestep=0.002', f'--config={tmp_path / "short.yaml"}']
    words += ['--laws=computed_torque', '--sweep=errors', '--values=exact,mass_scale=1.2']
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    tables = []
    for over in ('topics', 'loop'):
        assert main([*words, f'--over={over}', f'--output-dir={tmp_path / over}']) == 0
        report = json.loads((tmp_path / over / 'sweep_errors.json').read_text())
        tables.append([row['tracking_rms_mm'] for row in report['rows']])
    # A goal has quintics between samples where the loop has a formula.
    np.testing.assert_allclose(*tables, atol=1e-6)
    assert tables[0][0][1] > 2.0 * tables[0][0][0]  # computed torque relies on its model
    text = (tmp_path / 'topics' / 'sweep_errors.md').read_text()
    assert '| errors | exact | mass_scale=1.2 |' in text


def test_comparison_over_the_real_nodes_orders_the_laws_and_feels_a_push(tmp_path):
    code, printed, _ = launch(
        tmp_path, 'compare.launch.py', 'laws:=pd_gravity,momentum_observer', 'tasks:=push'
    )
    assert code == 0, printed
    rows = json.loads((tmp_path / 'comparison.json').read_text())['rows']
    case = Experiment('planar_3r', 'push', 'pd_gravity')
    np.testing.assert_allclose(
        rows[0]['tracking_rms_mm'], measures_of(case).tracking_rms_mm, rtol=1e-9
    )
    assert 0.0 < rows[1]['tracking_rms_mm'] < 0.2 * rows[0]['tracking_rms_mm']
    assert '| momentum_observer |' in (tmp_path / 'comparison.md').read_text()
