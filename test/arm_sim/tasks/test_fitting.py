"""Tasks fit any arm by default; what its limits forbid is refused with the task's parameter."""

import re

import numpy as np
import pytest
from arms import chain, revolute

import arm_sim
from arm_dynamics import ArmError
from arm_dynamics.model_error import ModelError
from arm_sim.robot import Robot
from arm_sim.tasks import make_task, simulator_of

SLOW = 'lower="-0.1" upper="0.15" effort="9" velocity="0.2"'
TASKS = ('sinusoid', 'step', 'push', 'payload_drop')


@pytest.fixture(scope='module')
def slow(tmp_path_factory):
    """Return an arm with a slide of 0.6 m/s, and a joint that is short, weak and slow."""
    joints = [
        revolute('s', 'xyz="0 0 0.3"', '1 0 0', 'prismatic').replace(
            'velocity="3"', 'velocity="0.6"'
        ),
        revolute('a', 'xyz="0 0 0.1"', '0 0 1'),
        re.sub('lower="[^/]*', SLOW, revolute('b', 'xyz="0 0.2 0"', '1 0 0')),
    ]
    file = tmp_path_factory.mktemp('slow') / 'slow.urdf'
    file.write_text(chain('slow', joints))
    return str(file)


@pytest.mark.parametrize('task', TASKS)
def test_a_task_fits_a_short_weak_and_slow_joint(slow, task):
    run = arm_sim.run(slow, task=task)
    assert run.code == 0
    model, record = run.loaded.robot.model, run.record
    if task != 'step':  # which jumps in the loop
        assert (np.abs(record.effort) < 0.95 * model.effort_limit).all()
    assert (np.abs(record.v_reference) <= model.velocity_limit).all()
    inside = (record.q > model.position_lower) & (record.q < model.position_upper)
    assert inside.all()
    assert np.ptp(record.q, axis=0).max() > 1e-3


def test_the_usual_sizes_are_those_of_an_arm_that_can():
    robot = Robot.load('ur5e')
    assert (make_task('sinusoid', robot).amplitude == 0.2).all()
    assert make_task('payload_drop', robot).payload == 2.0
    assert make_task('push', robot).push.wrench == (0.0, 20.0, 0.0, 0.0, 0.0, 0.0)
    q = make_task('step', robot).points()[1][0]
    np.testing.assert_allclose(q[-1] - q[0], 0.1, rtol=1e-12)


@pytest.mark.parametrize(
    ('task', 'given', 'words'),
    [
        ('sinusoid', {'amplitude': [0.2, 0.1, 0.02]}, "joint 's': velocity .*lower amplitude or"),
        ('step', {'size': 0.14}, "joint 's': velocity .*lower size of task step"),
    ],
)
def test_run_and_launch_refuse_in_the_same_words_which_name_the_parameter(
    slow, task, given, words
):
    with pytest.raises(ArmError, match=words) as of_run:
        arm_sim.run(slow, task=task, parameters=given)
    with pytest.raises(ArmError, match=words) as of_launch:
        simulator_of(make_task(task, Robot.load(slow), given), ModelError(), True, 2_000_000)
    assert str(of_run.value) == str(of_launch.value)
