"""A person's pull: the force over time, and what the arm makes of it."""

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.events import Push
from arm_sim.loop.measures import track
from arm_sim.tasks import Run, make_task


def test_a_push_with_shares_is_a_staircase_that_ends_with_zero():
    push = Push('tool0', (2.0, 0.0, 0.0, 0.0, 0.0, 0.0), 1.0, 1.2, (0.5, 1.0))
    assert push.samples() == [(1.0, 0.5), (pytest.approx(1.1), 1.0), (1.2, 0.0)]


def test_a_guided_arm_goes_where_impulse_over_damping_says_and_stays():
    loaded = Experiment.of_files('ur5e', 'hand_over', 'hand_guiding').load()
    record = loaded.run()
    found = loaded.task.report.results(Run(record, track(loaded.robot.model, record)))
    pull = np.linalg.norm(loaded.task.pull(record.t), axis=1)
    p = loaded.law().parameters
    expected = np.maximum(pull - p.dead_band, 0.0).sum() * 0.002 / p.apparent_damping
    assert found['displacement_end_mm'] == pytest.approx(1e3 * expected, rel=0.02)
    assert found['displacement_max_mm'] == pytest.approx(found['displacement_end_mm'], abs=0.1)
    assert found['success']
    assert found['peak_force_n'] == pytest.approx(15.0, rel=0.06)
    tip = track(loaded.robot.model, record).tip
    work = (loaded.task.pull(record.t)[:-1] * np.diff(tip, axis=0)).sum()
    assert found['work_of_person_j'] == pytest.approx(work)
    assert work > 1.0


def test_a_task_that_ends_before_the_pull_is_refused():
    robot = Experiment.of_files('ur5e', 'hand_over', 'pd').load().robot
    with pytest.raises(ArmError, match='duration is 1'):
        make_task('hand_over', robot, {'duration': 1.0})
