"""Robust tuning: within margins, better than what is shipped, and as a file that is read back."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose, assert_array_equal

from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError
from arm_lab.commands import tune
from arm_lab.experiments.executors import executor
from arm_lab.experiments.experiment import Experiment
from arm_lab.tuning.candidates import Drawn, try_gains
from arm_lab.tuning.report import Surveyed, Tuned, tunable_laws
from arm_lab.tuning.search import Effort, Found, GainSpace, Outcome, RequiredMargins, score, search
from arm_sim.loop.measures import measure, track
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot

TRIAL = Experiment.of_files('planar_3r', 'sinusoid', 'computed_torque')
TUNED = [name for name in law_names() if law_class(name).designed]


def rows(rms=1.0, torque=0.5, chatter=0.01, unstable=0.0):
    return np.tile([rms, torque, chatter, unstable], (20, 1))


def test_the_score_is_the_95th_percentile_and_more_beyond_a_margin():
    margins = RequiredMargins(torque=0.6, chatter=0.02)
    assert score(rows(), 20, margins) == 0.0
    better = rows(rms=0.5)
    assert_allclose(score(better, 20, margins), np.log(0.5))
    better[:2, 0] = 3.0  # a tenth of the arms
    assert_allclose(score(better, 20, margins), np.log(3.0))
    assert_allclose(score(better, 2, margins), np.log(3.0))
    assert score(rows(torque=0.66), 20, margins) == pytest.approx(1.0)
    assert score(rows(chatter=0.03), 20, margins) == pytest.approx(5.0)
    shaking = rows()
    shaking[7, 3] = 1.0
    assert score(shaking, 20, margins) > 1e3
    assert Outcome.of(shaking) == Outcome(1.0, 0.5, 0.01, 1, 20)


@pytest.mark.quick(5)
@pytest.mark.parametrize('law', TUNED)
def test_gains_go_through_their_logarithms_and_back(law):
    robot = Robot.load('ur5e')
    shipped = replace(TRIAL, robot='ur5e', law=law).load().law_parameters
    space = GainSpace(law, robot.model, shipped)
    x = space.point(shipped)
    assert x.size >= len(space.names) > 1
    assert_allclose(space.point(space.parameters(x)), x, rtol=0, atol=1e-12)
    grown = space.parameters(x + 0.01)
    for name in space.names:
        ratio = np.ravel(getattr(grown, name)) / np.ravel(getattr(space.parameters(x), name))
        assert_allclose(ratio, np.exp(0.01))


@pytest.mark.slow
def test_an_arm_of_a_trial_does_not_depend_on_the_candidates_next_to_it():
    shipped = TRIAL.load().law_parameters
    stiff = replace(shipped, kp=(900.0,), kd=(60.0,))
    both = try_gains(TRIAL, (Drawn(0, 2), Drawn(0, 1, 1)), [shipped, stiff])
    assert both.shape == (2, 3, 4)
    assert_array_equal(try_gains(TRIAL, (Drawn(1, 1),), [stiff])[0], both[1, [1]])
    assert both[1, 0, 0] < 0.6 * both[0, 0, 0]  # kp is 2.25 times
    assert both[0, 2, 0] != both[0, 0, 0]  # the margin's delay


@pytest.mark.slow
@pytest.mark.parametrize(
    ('section', 'message'),
    [('simulator', {'contacts': True}), ('sinusoid_task', {'amplitude': [3.1, 0.2, 0.4]})],
    ids=['contacts', 'at a position limit'],
)
def test_what_only_mujoco_has_is_tried_in_mujoco(section, message, tmp_path):
    path = tmp_path / 'tuned.yaml'
    path.write_text(yaml.safe_dump({section: {'ros__parameters': message}}))
    trial = replace(TRIAL, config=str(path))
    loaded, drawn = trial.load(), Drawn(0, 2)
    shipped, robot, task = loaded.law_parameters, loaded.robot, loaded.task
    found = try_gains(trial, (drawn,), [shipped])[0]
    law = law_class(trial.law)(robot.model, shipped)
    for arm, row in enumerate(found):
        plant, _ = loaded.on(trial.ranges.draw(robot.model, 0, arm)).plants()
        record = run_closed_loop(plant, law, task.reference, task.duration)
        if section == 'sinusoid_task':
            assert np.abs(record.q).max() > robot.model.position_upper[0]
        expected = measure(record, track(robot.model, record))
        assert_allclose(row[0], expected.tracking_rms_mm, rtol=1e-9)


@pytest.mark.slow
def test_gains_that_shake_the_arm_are_unstable():
    shipped = TRIAL.load().law_parameters
    wild = replace(shipped, kp=(4e5,), kd=(4e3,))
    assert try_gains(TRIAL, (Drawn(0, 1),), [wild])[0, 0, 3] == 1.0


@pytest.mark.slow
def test_the_command_writes_gains_that_launch_files_take_and_are_better(tmp_path, capsys):
    folder = tmp_path / 'out'
    arguments = (
        '--robot planar_3r --law computed_torque --arms 4 --generations 1 --fresh 6 --workers 1'
    )
    assert tune.main([*arguments.split(), '--output-dir', str(folder)]) == 0
    assert 'tuned, fresh arms' in capsys.readouterr().out
    report = json.loads((folder / 'tune_computed_torque.json').read_text())
    assert report['tuned_fresh']['unstable'] == 0
    assert report['tuned_fresh']['rms_mm'] < 0.5 * report['shipped_fresh']['rms_mm']
    assert report['tuned_fresh']['chatter'] < report['margins']['chatter'] * 1.2
    assert (folder / 'tune_computed_torque.png').stat().st_size > 10_000
    robot = Robot.load('planar_3r', folder / 'tune_computed_torque.yaml')
    law = law_class('computed_torque')
    read = read_fields(law.Parameters, robot.parameters('computed_torque_controller'))
    assert list(read.kp) == report['gains']['kp']


@pytest.mark.slow
def test_two_processes_find_the_gains_of_one():
    effort = Effort(arms=3, edge=1, generations=1, population=5, fresh=1)
    found = []
    for workers in (1, 2):
        with executor(workers) as work:
            found.append(search(replace(TRIAL, task='step'), RequiredMargins(), effort, work))
    assert found[0] == found[1]


@pytest.mark.slow
def test_every_law_is_tuned_into_one_table(tmp_path, capsys, monkeypatch):
    assert set(TUNED) - {'motor_computed_torque'} <= set(tunable_laws())
    monkeypatch.setattr(tune, 'tunable_laws', lambda: ['computed_torque', 'pose_p'])
    monkeypatch.setattr('arm_lab.tuning.report.BELIEVED', 2)
    arguments = (
        '--robot planar_3r --task step --law all --arms 2 --generations 0 --fresh 3 --workers 1'
    )
    assert tune.main([*arguments.split(), '--output-dir', str(tmp_path)]) == 1  # pose_p: voltages
    arguments = capsys.readouterr()
    assert 'what binds' in arguments.out
    assert arguments.err.startswith("tune: law 'pose_p' commands voltages")
    report = json.loads((tmp_path / 'tune_computed_torque.json').read_text())
    before, after = report['shipped_fresh']['rms_mm'], report['tuned_fresh']['rms_mm']
    rows = (tmp_path / 'tune_all.md').read_text().splitlines()
    assert f'| computed_torque | {before:.4g} | {after:.4g} | {before / after:.3g} |' in rows[6]
    assert 'refused' in rows[7]


def test_ctrl_c_leaves_the_table_of_the_laws_before_it(tmp_path, capsys, monkeypatch):
    def search(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tune, 'tunable_laws', lambda: ['pose_p', 'computed_torque', 'pd'])
    monkeypatch.setattr(tune, 'search', search)
    arguments = '--robot planar_3r --task step --law all --workers 1 --output-dir'
    assert tune.main([*arguments.split(), str(tmp_path)]) == 130
    assert 'stopped: computed_torque and what follows is not tuned' in capsys.readouterr().err
    rows = (tmp_path / 'tune_all.md').read_text().splitlines()[6:]
    assert [row.split()[1] for row in rows] == ['pose_p']


@pytest.mark.parametrize(
    ('columns', 'believed', 'words'),
    [
        ((1.0, 0.5, 0.01), 0.5, 'search'),
        ((1.0, 0.5, 0.0199), 0.5, 'chatter'),
        ((1.0, 0.89, 0.0199), 0.99, 'chatter, torque, noise, delay'),
    ],
)
def test_what_keeps_an_error_from_being_less_is_said(columns, believed, words):
    some = np.tile([*columns, 0.0], (20, 1))
    found = Found(None, Outcome.of(some), [])
    tuned = Tuned(TRIAL, RequiredMargins(), found, [], some, some)
    assert Surveyed('pd', tuned, believed).binds == words


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('--law pose_p --robot five_joint_arm', 'commands voltages.*tune_pose_hold'),
        ('--law nonsense', 'nonsense'),
        ('--chatter 0', 'chatter'),
        ('--law computed_torque --robot planar_3r --chatter 1e-9 --arms 0', 'arms'),
    ],
)
def test_what_cannot_be_tuned_is_refused_in_one_line(text, message, tmp_path, capsys):
    assert tune.main([*text.split(), '--output-dir', str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert error.count('\n') == 1
    assert re.search(message, error)


def test_a_law_without_gains_is_refused():
    model = Robot.load('planar_3r').model
    with pytest.raises(ArmError, match="law 'pose_p' has no gains to tune"):
        GainSpace('pose_p', model, law_class('pose_p').Parameters())
