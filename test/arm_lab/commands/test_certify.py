"""The command certify: answer, exit code, and a run that shows the counterexample."""

import json
import shlex

import numpy as np
import pytest
import yaml

import arm_sim
from arm_controllers.follower.goal import Goal
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_lab.commands.certify import main
from arm_lab.commands.run import main as run
from arm_sim.loop.goal_file import read_goal, write_goal


@pytest.fixture
def file(tmp_path):
    model = RobotModel(find_urdf('planar_3r'))
    zero = np.zeros((2, 3))
    q = np.array([[0.0, 0.0, 0.0], [1.0, 0.5, -0.5]])
    goal = Goal(model.joint_names, np.array([0.0, 1.5]), q, zero, zero)
    write_goal(tmp_path / 'goal.yaml', goal)
    return str(tmp_path / 'goal.yaml')


def test_a_safe_goal_ends_with_0_and_writes_the_picture(file, tmp_path, capsys):
    picture = tmp_path / 'torques.png'
    assert main([file, '--robot', 'planar_3r', '--picture', str(picture)]) == 0
    assert capsys.readouterr().out.startswith(f'{file}: safe')
    assert picture.stat().st_size > 10_000


def test_a_heavy_load_is_refuted_and_the_run_that_shows_it_is_named(file, capsys):
    assert main([file, '--robot', 'planar_3r', '--payload', '50']) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert 'unsafe: joint' in first
    assert 'torque' in first
    assert f"--task excite --parameters '{{file: {file}}}' --plant-error " in second
    assert 'payload: 50' in second


def test_the_run_of_a_counterexample_has_the_torque_at_its_limit(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv('ARM_SIM_WS', raising=False)
    # A cubic, whose points have no accelerations as the task needs them.
    model, folder = RobotModel(find_urdf('planar_3r')), tmp_path / 'found'
    points = [
        {'positions': q, 'velocities': [0.0] * 3, 'time_from_start': {'sec': t, 'nanosec': 0}}
        for t, q in enumerate([[0.0, 0.0, 0.0], [1.0, 0.5, -0.5]])
    ]
    goal = tmp_path / 'cubic.yaml'
    trajectory = {'joint_names': list(model.joint_names), 'points': points}
    goal.write_text(yaml.safe_dump({'trajectory': trajectory}))
    words = [str(goal), '--robot', 'planar_3r', '--payload', '50']
    assert main(words) == 1
    assert 'this run shows it' not in capsys.readouterr().out
    assert main([*words, '--counterexample', str(folder)]) == 1
    _, line, _, launch, again = capsys.readouterr().out.splitlines()
    assert f'config:={folder}/parameters.yaml' in launch
    assert again == f'ros2 run arm_sim rerun {folder}/recording.mcap'
    written = read_goal(folder / 'goal.yaml', model)
    t = written.times[:, None]
    np.testing.assert_allclose(
        written.positions, [1.0, 0.5, -0.5] * (3.0 * t**2 - 2.0 * t**3), atol=1e-11
    )
    found = arm_sim.certify(str(goal), robot='planar_3r', payload=50.0).certificate.finding
    command = shlex.split(line.split('this run shows it: ')[1])
    assert command[:4] == ['python', '-m', 'arm_sim', 'run']
    run([*command[4:], '--output-dir', str(tmp_path / 'run')])
    report = json.loads((tmp_path / 'run' / 'report.json').read_text())
    peak = report['joint_peak_torque_nm'][model.joint_names.index(found.name)]
    assert abs(found.value) > found.limit == pytest.approx(peak, abs=1e-9)


def test_the_python_call_gives_the_same_answer(file):
    report = arm_sim.certify(file, robot='planar_3r')
    assert report.safe
    assert report.command() == f'python -m arm_sim certify --robot planar_3r {file}'
    assert not arm_sim.certify(file, robot='planar_3r', payload=50.0).safe


def test_a_missing_file_gets_one_line(capsys):
    assert main(['nothing.yaml']) == 1
    assert capsys.readouterr().err.startswith("certify: goal file 'nothing.yaml' cannot be read")
