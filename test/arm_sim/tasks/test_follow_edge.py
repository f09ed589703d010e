"""A rounded contour whose shape the controller does not know."""

import numpy as np
import pytest
from contact_runs import experiment, results
from repository import ROOT

from arm_dynamics.checks import ArmError
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.robot import Robot

PENDULUM = str(ROOT / 'docs' / 'tutorial' / 'pendulum.urdf')


def test_the_force_follows_a_contour_that_bends():
    _, found = results('follow_edge', press_time=2.0, length=0.12)
    assert found['force_error_rms_n'] < 0.25
    assert found['contact_lost_s'] == 0.0
    assert found['path_error_max_mm'] < 0.1
    assert found['success']


def test_the_line_begins_and_ends_at_the_distance_from_the_contour():
    loaded = experiment('follow_edge', length=0.12, radius=0.25, distance=0.015)
    task, model = loaded.task, loaded.robot.model
    start = model.forward_kinematics(loaded.robot.start).translation
    end = start + task.path(task.way(task.duration)[0])
    assert np.linalg.norm(end - start) == pytest.approx(0.12)
    for point in (start, end):
        touched = point + 0.015 * task.wrench[:3] / 10.0
        assert np.linalg.norm((touched - task.axis)[:2]) == pytest.approx(0.25)
    across = task.normals(start)
    assert across @ task.wrench[:3] == pytest.approx(-10.0 * np.sqrt(1.0 - 0.24**2), rel=0.01)
    assert across @ task.line == pytest.approx(-0.24, rel=0.1)


def test_a_line_that_misses_the_contour_is_refused():
    with pytest.raises(ArmError, match='length is 0.5 m; it must be less than 0.4 m'):
        _ = experiment('follow_edge', length=0.5, radius=0.2).task


@pytest.mark.parametrize('task', ['follow_edge', 'collide'])
def test_a_tool_above_the_base_is_refused(task):
    hangs = LoadedExperiment(Experiment(PENDULUM, task), Robot.load(PENDULUM), {})
    with pytest.raises(ArmError, match='^pendulum starts with its tool above or below its base'):
        _ = hangs.task
