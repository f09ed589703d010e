"""The push of a task: along the stated direction where that moves the arm, else along another."""

import numpy as np
import pytest
from experiment_parts import run

from arm_dynamics.model_error import ModelError
from arm_dynamics.robots import RobotArgument, find_urdf, robot_names
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.measures import summarize
from arm_sim.loop.report import common_rows
from arm_sim.robot import Robot
from arm_sim.tasks.push import Push, PushParameters


@pytest.mark.parametrize('name', robot_names())
def test_shipped_robots_are_pushed_along_y_as_stated(name):
    task = Push(Robot.load(name), PushParameters())
    assert task.push.wrench == (0.0, 20.0, 0.0, 0.0, 0.0, 0.0)
    assert task.notes == ()


def test_a_force_that_loads_no_joint_is_replaced_by_one_that_does_with_a_warning():
    robot = Robot.load('planar_3r')  # all axes along z
    task = Push(robot, PushParameters(force=(0.0, 0.0, -30.0)))
    torque = robot.model.jacobian(robot.start)[:3].T @ task.push.wrench[:3]
    assert np.linalg.norm(torque) > 1.0
    assert np.linalg.norm(task.push.wrench) == 30.0
    (note,) = task.notes
    assert 'force [0.0, 0.0, -30.0] N loads no joint of planar_3r at its start; 30 N along' in note


def test_the_push_moves_an_arm_whose_axes_the_default_force_does_not_load(tmp_path):
    turned = (
        find_urdf('planar_3r').read_text().replace('<axis xyz="0 0 1"/>', '<axis xyz="0 1 0"/>')
    )
    assert '<axis xyz="0 1 0"/>' in turned
    file = tmp_path / 'arm.urdf'
    file.write_text(turned)
    result = run(Experiment(str(file), task='push', law='computed_torque'))
    assert result.tracking.error.max() > 1e-4  # [m]


@pytest.mark.parametrize(
    ('task', 'law', 'recovery'),
    [('push', 'computed_torque', '0.2'), ('push', 'pd', 'never'), ('sinusoid', 'pd', None)],
)
def test_the_table_says_when_an_arm_recovers_or_that_it_never_does(task, law, recovery):
    loaded = Experiment('ur5e', task=task, law=law).load()
    record = loaded.run()
    track = loaded.track(record)
    rows = common_rows(summarize(loaded.robot.model.joint_names, record, track, loaded.task.event))
    found = [row for row in rows if row[0] == 'recovery [s]']
    assert len(found) == (recovery is not None)
    assert all(row[2].startswith(recovery) and row[3].startswith('after the') for row in found)


def test_an_arm_with_an_error_keeps_its_name():
    found = Robot.load('ur5e').with_error(ModelError(payload=1.0))
    assert RobotArgument.of(found['robot']).label == 'ur5e_with_error'
