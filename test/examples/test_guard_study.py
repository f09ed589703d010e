"""Thresholds of the guard from drawn motions: the tail, the motions, the pushes."""

import numpy as np
import pytest
from scripts import load_script

from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import BatchModel
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.ranges import Ranges
from arm_sim.robot import Robot

STUDY = load_script('examples/guard_study.py')
UR5E = Robot.load('ur5e')


def test_thresholds_of_an_exponential_tail_are_passed_as_often_as_asked():
    rng = np.random.default_rng(0)
    maxima = rng.exponential(2.0, (20_000, 2, 3))
    found = STUDY.thresholds_of(maxima, 1e-4)  # per leg, of six joints together
    np.testing.assert_allclose(found, -2.0 * np.log(1e-4 / 6), rtol=0.25)
    fresh = rng.exponential(2.0, (200_000, 2, 3))
    assert STUDY.alarms_of(fresh, found).sum() < 40  # 20 expected, of 200 000
    assert STUDY.alarms_of(fresh, 0.6 * found).sum() > 200


def test_a_bounded_tail_is_not_extrapolated_far_beyond_its_bound():
    maxima = np.random.default_rng(1).uniform(0.0, 3.0, (8000, 2, 1))
    found = STUDY.thresholds_of(maxima, 1e-7)
    np.testing.assert_allclose(found, 1.1 * maxima.max(axis=0), rtol=0.02)
    with pytest.raises(ArmError, match='999 drawn motions; a tail needs 1000 or more'):
        STUDY.thresholds_of(maxima[:999], 1e-4)


def test_drawn_legs_are_smooth_within_limits_and_the_same_again():
    model = BatchModel(UR5E.model)

    def rows(step):
        legs, reference = STUDY.DrawnLegs(model, np.random.default_rng(3), 20), Reference(6, (20,))
        found = []
        for t in np.arange(0.0, 2 * STUDY.LEG, step):
            legs(t, reference)
            found.append(reference.row.copy())
        return np.array(found)

    found = rows(0.002)
    q, v, a, _ = np.split(found, 4, axis=-1)
    np.testing.assert_array_equal(rows(0.002), found)
    assert np.abs(v).max() <= 0.8 * model.velocity_limit.max() + 1e-9
    np.testing.assert_allclose(np.diff(q, axis=0) / 0.002, 0.5 * (v[1:] + v[:-1]), atol=2e-3)
    np.testing.assert_allclose(np.diff(v, axis=0) / 0.002, 0.5 * (a[1:] + a[:-1]), atol=0.5)
    assert np.abs(q).max() <= np.pi
    assert np.ptp(q, axis=0).max(axis=-1).min() > 0.05  # every arm moves


def test_links_are_those_of_the_joints_and_the_tool():
    assert STUDY.links_of(UR5E.model)[-2:] == ['wrist_3_link', 'tool0']
    assert len(STUDY.links_of(UR5E.model)) == 7


def test_pushes_are_detected_sooner_by_a_change_than_by_a_fixed_threshold():
    ranges = Ranges(mass=0.1, effort=1.0, payload=0.5)
    plain = Experiment.of_files('ur5e', 'sinusoid', 'computed_torque', ranges=ranges)
    limits = np.array([[[20.0] * 6, [3.0] * 6], [[20.0] * 6, [1e9] * 6], [[1e-3] * 6, [1e9] * 6]])
    found = STUDY.pushed(STUDY.guarded(plain, GuardParameters()), range(30), 60.0, limits)
    change, fixed, always = found.times
    assert (change <= fixed).all()
    both = np.isfinite(fixed)
    assert both.sum() >= 5
    assert np.median(change[both]) < 0.5 * np.median(fixed[both])
    assert np.isinf(change[found.torque < 0.5]).all()  # a force that moves no joint
    np.testing.assert_allclose(always, 0.002, atol=0.01)  # errors of the model pass it at once


def test_a_law_that_commands_no_effort_is_refused_in_one_line(capsys):
    main = load_script('examples/guard_thresholds.py').main
    assert main(['--law', 'servo', '--workers', '1', '--duration', '2500']) == 1
    words = "guard_thresholds: law 'servo': the guard is for laws that command effort\n"
    assert words in capsys.readouterr().err
