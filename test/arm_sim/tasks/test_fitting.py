"""Tasks fit any arm by default; what its limits forbid is refused with the task's parameter."""

import ast
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


@pytest.mark.parametrize('task', TASKS)
def test_a_size_below_the_usual_one_is_noted(tmp_path, task):
    axes = {'a': '1 0 0', 'b': '0 0 1'}
    joints = [revolute(name, 'xyz="0 0.2 0"', axis) for name, axis in axes.items()]
    file = tmp_path / 'weak.urdf'
    file.write_text(re.sub('effort="[^"]*"', 'effort="4"', chain('weak', joints)))
    noted = make_task(task, Robot.load(str(file))).notes
    assert any('the limits of the arm forbid the usual' in note for note in noted)
    assert make_task(task, Robot.load('ur5e')).notes == ()


def test_the_joint_with_the_smallest_motion_is_named(tmp_path):
    text = chain('arm', [revolute(x, 'xyz="0 0.2 0"', '0 0 1') for x in ('a', 'b')])
    first, second = text.split('<joint name="b"')
    file = tmp_path / 'arm.urdf'
    narrow = re.sub('lower="[^"]*" upper="[^"]*"', 'lower="-0.02" upper="0.02"', second)
    file.write_text(f'{first}<joint name="b"{narrow}')
    (note,) = make_task('sinusoid', Robot.load(str(file))).notes
    assert note == '0.018 rad or m: the limits of b forbid the usual 0.2'


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


AXES = '0 0 1', '0 1 0', '0 1 0', '0 0 1', '0 1 0', '0 0 1', '0 1 0'


def short_arm(folder, joints):
    """Return the file of an arm that stands upright, and whose tool reaches half a metre."""
    rows = [revolute(f'j{k}', 'xyz="0 0 0.07"', AXES[k]) for k in range(joints)]
    file = folder / f'short_{joints}.urdf'
    file.write_text(chain('short', rows))
    return str(file)


@pytest.mark.quick(1)
@pytest.mark.parametrize('joints', [6, 7])
def test_the_cube_fits_an_arm_that_cannot_reach_its_usual_place(tmp_path, joints):
    run = arm_sim.run(short_arm(tmp_path, joints), task='cube', parameters={'edge_time': 0.5})
    p = run.loaded.task.parameters
    assert run.code == 0
    assert 0.025 <= p.side <= 0.1
    assert np.linalg.norm(p.center) < 0.7
    for k, corner in ((0, p.waypoints[0]), (-1, p.waypoints[-1])):
        tip = run.loaded.robot.model.forward_kinematics(run.record.q_reference[k]).translation
        np.testing.assert_allclose(tip, corner, atol=1e-6)


@pytest.mark.slow
def test_an_arm_whose_start_touches_the_floor_starts_at_a_posture_that_is_clear(tmp_path):
    config = tmp_path / 'low.yaml'
    config.write_text('simulator: {ros__parameters: {initial_positions: [0, 0.5, 0, 0, 0, 0]}}')
    robot = Robot.load('ur5e', str(config))
    task = make_task('cube', robot)
    begin = np.array(task.simulator['initial_positions'])
    np.testing.assert_array_equal(begin, task.parameters.posture)
    low, high = (robot.model.forward_kinematics(q).translation[2] for q in (robot.start, begin))
    assert low < 0.0 < high
    assert arm_sim.run('ur5e', task='cube', config=str(config)).code == 0


def test_the_usual_cube_is_that_of_an_arm_that_can():
    p = make_task('cube', Robot.load('ur5e')).parameters
    assert (p.center, p.side) == ((0.3, 0.2, 0.55), 0.1)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ('given', 'named'),
    [
        ({'center': [0.3, 0.2, 0.55]}, {'center', 'side'}),
        ({'center': [0.0, 0.0, 3.0], 'side': 0.05}, {'center'}),
        ({'side': 3.0}, {'center', 'side'}),
        ({'edge_time': 0.05}, {'center', 'side', 'edge_time'}),
    ],
)
def test_a_cube_that_an_arm_cannot_draw_is_refused_with_one_that_it_can(tmp_path, given, named):
    file = short_arm(tmp_path, 6)
    with pytest.raises(ArmError, match='^the cube cannot be drawn: ') as of_run:
        arm_sim.run(file, task='cube', parameters=given)
    with pytest.raises(ArmError) as of_launch:
        simulator_of(make_task('cube', Robot.load(file), given), ModelError(), False, 2_000_000)
    assert str(of_run.value) == str(of_launch.value)
    words = re.search('; with ([^;]*) of task cube it can be drawn$', str(of_run.value))[1]
    works = dict(each.split(': ') for each in words.split(' and '))
    assert {*works} == named
    works = {name: ast.literal_eval(value) for name, value in works.items()}
    assert make_task('cube', Robot.load(file), given | works).plan


def test_the_cube_is_refused_where_a_tool_moves_in_five_ways(tmp_path):
    rows = [revolute(f'j{k}', 'xyz="0 0 0.1"', '0 1 0') for k in range(6)]
    file = tmp_path / 'planar.urdf'
    file.write_text(chain('planar', rows))
    with pytest.raises(ArmError, match="needs a tool that moves in six ways; that of 'planar' mo"):
        make_task('cube', Robot.load(str(file)))
