"""Stability beforehand: the closed loop's matrix against theory, and against runs."""

import json
from dataclasses import replace

import numpy as np
import pytest

from arm_controllers.laws import law_class
from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.commands import margins as command
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.runs import record_of
from arm_lab.tuning.agreement import agreement_of
from arm_lab.tuning.linear_law import WARM_UP, linear_law
from arm_lab.tuning.linear_loop import ClosedLoops, end_to_end
from arm_lab.tuning.margins import FACTORS, course_of, margins_of
from arm_sim.devices import SensorParameters
from arm_sim.devices.drives import DriveParameters
from arm_sim.tasks import make_task

LOOP = Experiment.of_files('planar_3r', 'sinusoid', 'computed_torque', natural_frequency=20.0)
H = 1e-3  # planar_3r's period [s]


def decay(matrix):
    """Return how fast the slowest error of x+ = matrix x dies [1/s]."""
    return -np.log(np.abs(np.linalg.eigvals(matrix)).max()) / H


def late(experiment, delay):
    return replace(experiment, drives=DriveParameters(command_delay=delay))


def designed(wn, delay=0, share=0.5):
    """Return e, de and the accelerations under way of one joint under computed torque.

    `share`: of H^2 a, by which a held a moves the joint on: 0.5; 1 in one step of implicitfast.
    """
    kp, kd = wn**2, 2.0 * wn
    matrix = np.zeros((2 + delay, 2 + delay))
    asked = np.array([-kp, -kd])
    if delay:
        matrix[-1, :2] = asked
        matrix[2:-1, 3:] = np.eye(delay - 1)
        matrix[1, 2] = H
    else:
        matrix[1, :2] = H * asked
    matrix[0] = share * H * matrix[1]
    matrix[0, :2] += 1.0, H
    matrix[1, 1] += 1.0
    return matrix


@pytest.mark.parametrize(
    ('wn', 'delay', 'integrator', 'tolerance'),
    # What is held or late is the model as well: the poles move with the arm.
    [
        (20.0, 0, 'implicitfast', 1e-4),
        (20.0, 0, '', 3e-3),
        (20.0, 3, '', 0.2),
        (60.0, 12, '', 0.2),
    ],
)
def test_computed_torque_has_the_margin_of_its_error_dynamics(wn, delay, integrator, tolerance):
    loop = replace(LOOP, natural_frequency=wn, integrator=integrator)
    course = course_of(loop, [loop.load().robot.model])
    theory = decay(designed(wn, delay, 1.0 if integrator else 0.5))
    np.testing.assert_allclose(course.margins([delay]), theory, rtol=tolerance)


@pytest.mark.parametrize(
    ('law', 'numbers'),
    [('computed_torque', 0), ('pd', 0), ('computed_torque_pid', 3), ('independent_joint', 3)],
)
def test_the_memory_of_a_law_is_what_changes(law, numbers):
    own = replace(LOOP, law=law, natural_frequency=0.0).load()
    found = linear_law(own.law(), own.task.reference, WARM_UP, H)
    assert found.a.shape == (numbers, numbers)
    np.testing.assert_allclose(found.a, np.eye(numbers), atol=1e-6)  # integrals


def test_the_gains_are_the_derivatives_of_the_command():
    robot = LOOP.load().robot
    made = law_class('pd')(robot.model, law_class('pd').Parameters((7.0,), (3.0,), False))
    found = linear_law(made, make_task('sinusoid', robot).reference, WARM_UP, H)
    expected = -np.hstack([7.0 * np.eye(3), 3.0 * np.eye(3)])
    np.testing.assert_allclose(found.d, expected, atol=1e-6)


def test_an_integral_at_its_bound_tolerates_no_delay():
    robot, ki = LOOP.load().robot, 15_550.0  # stable below kp kd = 16 000 in continuous time
    law = law_class('computed_torque_pid')(
        robot.model, law_class('computed_torque_pid').Parameters((400.0,), (ki,), (40.0,))
    )
    course = course_of(replace(LOOP, law='computed_torque_pid'), [robot.model])
    first = round(course.times[0] / H)
    found = linear_law(law, make_task('sinusoid', robot).reference, first, H)
    quick = course._replace(
        laws=[found] * len(course.laws), arms=[course.arms[0]] * len(course.arms)
    )
    change = H * np.array([-400.0, -40.0, -1.0])  # of de, by e, de and ki times the integral
    theory = np.eye(3) + np.array([0.5 * H * change, change, [ki * H, 0.0, 0.0]])
    theory[0, 1] += H
    np.testing.assert_allclose(quick.margins([0]), decay(theory), atol=1e-3)
    assert quick.margins([1]).max() < 0.0 < course.margins([1]).min()


@pytest.mark.slow
def test_a_heavier_arm_is_nearer_to_instability_with_delay():
    found = margins_of(late(replace(LOOP, natural_frequency=60.0), 6))
    assert found.margin == pytest.approx(found.over[len(FACTORS) // 2, 6])
    assert found.margin > 0.0 > found.over[0, 6]  # a light arm: the torque is too much for it
    low, high = found.factors
    assert FACTORS[0] < low < 1.0 < high
    assert found.more_delay >= 1
    unstable = late(found.experiment, found.delay + found.more_delay + 1)
    assert margins_of(unstable).margin < 0.0


def test_an_error_that_grows_here_may_die_there():
    matrices = np.diag([2.0, 0.1]), np.diag([0.1, 2.0])
    each = [ClosedLoops(f[np.newaxis], *[np.zeros((1, 2, 2))] * 3, H) for f in matrices]
    for loops in each:
        np.testing.assert_allclose(loops.margins(), -np.log(2.0) / H)
        np.testing.assert_allclose(end_to_end([loops], 3), loops.margins())
    np.testing.assert_allclose(end_to_end(each, 3), -np.log(0.2) / (2.0 * H))


@pytest.mark.slow
@pytest.mark.parametrize(
    ('law', 'samples'),
    [
        ('computed_torque', 80),
        pytest.param('adaptive_computed_torque', 60, marks=pytest.mark.slow),
    ],
)
def test_drawn_arms_are_as_predicted(law, samples):
    found = agreement_of(late(replace(LOOP, law=law, natural_frequency=60.0), 12), samples)
    assert 0.1 < found.unstable.mean() < 0.9
    assert found.share >= 0.95


@pytest.mark.slow
def test_noise_that_drives_a_law_to_its_limits_makes_no_arm_unstable():
    # The exact step answers 1e-5 rad of noise with all the torque that there is.
    exact = Experiment.of_files('planar_3r', 'sinusoid', 'servo', feedforward='discrete')
    assert not agreement_of(exact, 40).unstable.any()


@pytest.mark.slow
def test_noise_comes_to_what_a_run_shows():
    noise = SensorParameters(position_noise=1e-5, velocity_noise=1e-3)
    quiet = replace(LOOP, natural_frequency=40.0, drives=DriveParameters(command_delay=1))
    loop = replace(quiet, sensors=noise)
    robot, found = loop.load().robot, margins_of(loop)
    records = [record_of(each) for each in (loop, quiet)]
    made = np.diff(records[0].effort - records[1].effort, axis=0)[500:]
    assert np.sqrt(np.mean(made**2)) == pytest.approx(found.chatter_nm, rel=0.1)
    tips = [
        np.array([robot.model.forward_kinematics(q).translation for q in each.q[500:]])
        for each in records
    ]
    apart = 1e3 * np.sqrt(np.mean(np.sum((tips[0] - tips[1]) ** 2, axis=1)))
    assert apart == pytest.approx(found.tip_mm, rel=0.25)  # errors are slow: few are seen in 1.5 s


@pytest.mark.slow
def test_an_adaptive_law_keeps_what_it_is_not_shown():
    loop = replace(LOOP, law='adaptive_computed_torque')
    wrong = with_error(loop.load().robot.model, ModelError(mass_scale=(1.1,)))
    assert course_of(loop, [wrong]).margins([0]).min() > 0.0


@pytest.mark.slow
def test_the_command_prints_and_writes(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr('arm_lab.progress.SAID_EVERY', 0.1)
    arguments = ['--robot', 'planar_3r', '--output-dir', str(tmp_path), '--noise', '1e-5,1e-3']
    assert command.main([*arguments, '--samples', '10', '--delay', '1']) == 0
    printed, said = capsys.readouterr()
    assert 'margin from end to end' in printed
    assert '10 drawn arms' in printed
    assert 'margins of computed_torque over masses and delay: 0 s so far' in said
    assert 'commands delayed by 1 period\n' in (tmp_path / 'margins.md').read_text()
    facts = json.loads((tmp_path / 'margins.json').read_text())
    assert facts['arms']['number'] == 10
    assert facts['margin_per_s'] > 0.0
    assert (tmp_path / 'margins.png').stat().st_size > 10_000
    assert command.main([*arguments, '--natural-frequency', '300', '--delay', '9']) == 1
    # A loop that is stable with a period of 1 ms need not be so with 10 ms.
    assert command.main([*arguments, '--natural-frequency', '100', '--timestep', '0.01']) == 1
    assert command.main([*arguments, '--natural-frequency', '100']) == 0


@pytest.mark.parametrize(
    ('arguments', 'reason'),
    [
        (['--noise', '1'], '--noise is (1.0,); it must be two finite numbers'),
        (['--delay', '-1'], 'delay is -1'),
        (['--law', 'motor_computed_torque'], 'commands voltages'),
        (['--law', 'servo:psychic'], "feedforward is 'psychic'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, reason, capsys, tmp_path):
    assert command.main([*arguments, '--output-dir', str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert error.count('\n') == 1
    assert reason in error


def test_a_task_that_is_over_at_once_is_refused(monkeypatch):
    class Short(type(LOOP.load().task)):
        duration = 0.01

        def prepare(self):
            pass

    robot = LOOP.load().robot
    short = Short(robot, make_task('sinusoid', robot).parameters)
    monkeypatch.setattr('arm_lab.experiments.experiment.make_task', lambda *given: short)
    with pytest.raises(ArmError, match='too short for margins'):
        course_of(LOOP, [robot.model])


@pytest.mark.slow
def test_a_delay_in_the_files_counts_and_other_drives_are_refused(tmp_path):
    file = tmp_path / 'late.yaml'
    file.write_text('simulator: {ros__parameters: {command_delay: 2}}')
    assert margins_of(replace(LOOP, config=str(file))).margin == margins_of(late(LOOP, 2)).margin
    file.write_text('simulator: {ros__parameters: {command_jitter: 2}}')
    with pytest.raises(ArmError, match='command_jitter: margins are of arms without such drives'):
        margins_of(replace(LOOP, config=str(file)))
