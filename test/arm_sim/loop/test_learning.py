"""Learning by repetition: passes of one motion, each with the effort that the last one lacked."""

import re
from dataclasses import replace

import numpy as np
import pytest
from experiment_parts import imperfect
from launched import launch

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.laws import law_class
from arm_controllers.parameter_values import read_fields
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.commands import learn
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.goals import goal_reference
from arm_sim.loop.learning import Learner, repeated, with_efforts
from arm_sim.loop.measures import track
from arm_sim.robot import Robot
from arm_sim.simulation.plant import ACTUATOR_FOR, PlantParameters
from arm_sim.tasks import make_task

ROBOT = Robot.load('ur5e')
DRIVES = read_fields(PlantParameters, ROBOT.parameters('simulator'))
WRONG = ModelError(mass_scale=(1.2,))
WITH_FRICTION = ModelError(mass_scale=(1.2,), payload=0.5, friction=(0.5,))


def law_of(name, **parameters):
    made, given = law_class(name), ROBOT.parameters(f'{name}_controller') | parameters
    return made(ROBOT.model, read_fields(made.Parameters, given))


def plant_of(law, error, **noise):
    drives = imperfect(DRIVES, **noise)
    drives = replace(drives, actuator=ACTUATOR_FOR[law.command_interface])
    return MujocoPlant(with_error(ROBOT.model, error), drives)


def errors_mm(name, error, passes, noise=None, cutoff=0.0, **parameters):
    """Return the RMS of the tip's error [mm] in each pass of the cube in 3.75 s."""
    law = law_of(name, **parameters)
    task = make_task('cube', ROBOT, {'edge_time': 0.25})
    plant = plant_of(law, error, **noise or {})
    records = repeated(task, law, plant, passes, 0, cutoff)
    each = [track(ROBOT.model, record).error for record in records]
    return np.sqrt(np.mean(np.square(each), axis=1)) * 1e3


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    'law', [('computed_torque', {}), ('servo', {'feedforward': 'inverse_dynamics'})]
)
def test_with_an_exact_model_the_second_pass_knows_what_sampling_costs(law):
    errors = errors_mm(law[0], ModelError(), 2, **law[1])
    assert errors[0] > 1e-1
    assert errors[1] < 3e-3  # what the means over a period are wrong


@pytest.mark.slow
@pytest.mark.parametrize(
    ('law', 'tenth'), [('computed_torque', 3e-3), ('servo', 2e-3)], ids=['torque', 'servo']
)
def test_ten_passes_learn_the_cube_though_every_mass_is_20_percent_wrong(law, tenth):
    level = {'feedforward': 'inverse_dynamics'} if law == 'servo' else {}
    errors = errors_mm(law, WRONG, 10, **level)
    assert errors[1] < 0.1 * errors[0]
    assert errors[9] < tenth


@pytest.mark.slow
def test_the_second_pass_is_ten_times_better_with_a_payload_and_friction_that_are_not_known():
    errors = errors_mm('servo', WITH_FRICTION, 2, feedforward='inverse_dynamics')
    assert errors[1] < 0.1 * errors[0]


def test_an_arm_that_is_the_believed_one_lacks_nothing_whatever_moved_it():
    law = law_of('computed_torque')
    unknown = ModelError(mass_scale=(1.2,), com_shift=(0.01, 0.0, -0.02), payload=0.5)
    task, plant = make_task('cube', ROBOT, {'edge_time': 0.25}), plant_of(law, unknown)
    record, lacked = task.run(law, plant), []
    for model in (ROBOT.model, with_error(ROBOT.model, unknown)):
        own = law_class('computed_torque')(model, law.parameters)
        learner = Learner(own, plant.parameters, task.reference, len(record.t))
        lacked.append(learner.efforts(record)[:-2] - learner.believed)
    assert np.abs(lacked[0]).max() > 5.0
    # Means over a period are known to second order.
    np.testing.assert_allclose(lacked[1], 0.0, atol=1e-3 * np.abs(lacked[0]).max())


@pytest.mark.slow
def test_noise_is_kept_out_by_the_low_pass():
    noise = {'position_noise': 1e-5, 'velocity_noise': 1e-3}
    level = {'feedforward': 'inverse_dynamics'}
    errors = errors_mm('servo', WRONG, 3, noise, 25.0, **level)
    assert errors[2] < 0.01 * errors[0]


def test_a_goal_with_effort_is_the_same_motion_and_has_it_from_its_first_instant():
    task, model = make_task('cube', ROBOT), ROBOT.model
    goal, _ = task.goal_from(ROBOT.start, 2_000_000)
    follow = goal_reference(goal, model, ROBOT.start, np.zeros(6))
    times = np.arange(2000) * 0.002
    efforts = np.random.default_rng(1).uniform(-5.0, 5.0, (2000, 6))
    offset = goal.start_ns * 1e-9
    taught = with_efforts(goal, lambda t, r: follow(t + offset, r), times, efforts)
    other = goal_reference(taught, model, ROBOT.start, np.zeros(6))
    one, two = Reference(6), Reference(6)
    for k in (1, 77, 1023, 1999):
        follow(offset + times[k], one)
        other(offset + times[k], two)
        np.testing.assert_allclose(two.row[:18], one.row[:18], atol=1e-9)
        np.testing.assert_allclose(two.effort, efforts[k], atol=1e-6)
    assert taught.times[-1] == goal.times[-1]
    now = replace(taught, start_ns=0, times=np.append(0.0, taught.times[1:]))
    now.positions[0] = ROBOT.start
    follower = TrajectoryFollower(model, FollowerParameters())
    follower.activate(0, ROBOT.start, np.zeros(6))
    follower.set_goal(now, 0)
    np.testing.assert_array_equal(follower.peek(0).effort, now.effort[0])


def test_what_cannot_be_learnt_is_refused():
    task = make_task('sinusoid', ROBOT)
    with pytest.raises(
        ArmError, match='passes > 1 needs a law that commands position, velocity or effort'
    ):
        Learner(law_of('motor_computed_torque'), DRIVES, task.reference, 10)
    with pytest.raises(ArmError, match='learning_cutoff is 250 Hz; it must be below 250 Hz'):
        Learner(law_of('pd'), DRIVES, task.reference, 10, 250.0)
    learner = Learner(law_of('pd'), DRIVES, task.reference, 10)
    record = make_task('sinusoid', ROBOT).run(law_of('pd'), plant_of(law_of('pd'), WRONG))
    with pytest.raises(ArmError, match='a pass has 1000 control periods, not 10'):
        learner.efforts(record)


@pytest.mark.slow
def test_the_command_prints_the_passes_of_each_law_and_error(tmp_path, capsys):
    given = ['--task', 'step', '--laws', 'pd,servo:gravity', '--error', '{payload: 1.0}']
    assert (
        learn.main([*given, '--passes', '3', '--workers', '1', '--output-dir', str(tmp_path)]) == 0
    )
    assert 'servo:gravity, payload: 1.0 ' in capsys.readouterr().out
    table = (tmp_path / 'learning.md').read_text()
    assert '| law, error | pass 1 | pass 2 | pass 3 |' in table
    assert '| servo:gravity, payload: 1.0 |' in table
    assert (tmp_path / 'learning.png').stat().st_size > 10_000
    assert learn.main(['--passes', '0', '--output-dir', str(tmp_path)]) == 1


@pytest.mark.slow
def test_ctrl_c_leaves_table_and_picture_of_the_courses_that_were_done(tmp_path, monkeypatch):
    done = iter([[{'rms': 2.0, 'max': 3.0}]])

    def errors_of(*_, **__):
        for each in done:
            return each
        raise KeyboardInterrupt

    monkeypatch.setattr(learn, 'errors_of', errors_of)
    given = ['--task', 'step', '--passes', '1', '--workers', '1', '--output-dir', str(tmp_path)]
    assert learn.main([*given, '--laws', 'pd,servo']) == 130
    assert (tmp_path / 'learning.md').read_text().count('\n| pd, ') == 1
    done = iter([[{'rms': 2.0, 'max': 3.0}]])
    with pytest.raises(KeyboardInterrupt):  # the script that calls it ends, too
        learn.learn(task='step', laws=('pd', 'servo'), passes=1, workers=1)


@pytest.mark.slow
def test_passes_over_topics_teach_what_they_teach_in_the_loop(tmp_path):
    code, printed, report = launch(
        tmp_path,
        'task.launch.py',
        'task:=sinusoid',
        'controller:=computed_torque',
        'model_error:={mass_scale: [1.2]}',
        'passes:=3',
        'start:=rest',
    )
    assert code == 0, printed
    first, second, third = (each['rms'] for each in report['passes_mm'])
    assert third < 0.1 * second < 0.01 * first
    assert (tmp_path / 'learning.png').exists()
    assert 'tracking error by pass [mm RMS]' in printed
    # The goal of a pass ends before time jumps back.
    assert not re.search(r'\[WARN\].*goal ended', printed)


def test_an_exact_arm_is_called_so_and_a_filter_below_zero_is_refused():
    given = {'robot': 'planar_3r', 'task': 'step', 'laws': ('pd',), 'passes': 2}
    found = learn.learn(error=('{}',), **given).found
    assert list(found) == ['pd, exact']
    with pytest.raises(ArmError, match='cutoff is -1; it must be finite, >= 0'):
        learn.learn(cutoff=-1.0, **given)
