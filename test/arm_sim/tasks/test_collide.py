"""The task collide: the sphere is where the tool meets it, and its force is that of a spring."""

from functools import partial

import numpy as np
import pytest
from scripts import load_script

from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_lab.experiments.experiment import Experiment
from arm_sim.tasks import make_task

STUDY = load_script('benchmarks/collide.py')
collide = partial(STUDY.collide, 'computed_torque')


@pytest.mark.parametrize(('speed', 'mass'), [(0.25, 0.0), (1.0, 0.0), (0.5, 4.0)])
def test_the_peak_of_an_undetected_impact_is_v_sqrt_k_m(speed, mass):
    report = collide(speed, 'none', sphere_mass=mass).report
    assert report['impact_n'] == pytest.approx(report['undetected_n'], rel=0.07)
    assert report['contact_at_s'] == pytest.approx(0.3 / speed + 0.2, abs=0.01)
    # A spring gives back what it takes: an impulse of at most 2 m v.
    expected = 2.0 * report['effective_mass_kg'] * report['impact_speed_m_s']
    assert report['impact_impulse_ns'] == pytest.approx(expected, rel=0.2)


def test_a_light_sphere_has_the_reduced_mass():
    fixed, light = (make_task('collide', STUDY.ROBOT, {'sphere_mass': m}) for m in (0.0, 0.6))
    level = 1.0 - fixed.normal[2] ** 2  # the sphere slides level
    assert 1.0 / light.mass == pytest.approx(1.0 / fixed.mass + level / 0.6)


def test_a_guard_takes_away_the_force_that_remains_but_no_impact():
    pressed = STUDY.collide('pd_feedforward', 0.25, 'none').report
    stopped = STUDY.collide('pd_feedforward', 0.25, 'stop')
    assert pressed['peak_force_n'] > 3.0 * pressed['undetected_n']
    assert stopped.report['peak_force_n'] == pytest.approx(pressed['undetected_n'], rel=0.07)
    assert 0.0 < stopped.detected_ms <= 6.0
    assert stopped.report['spring_mm'] == pytest.approx(stopped.report['peak_force_n'] / 75.0)
    back = STUDY.collide('pd_feedforward', 0.25, 'retract').report
    assert back['last_force_n'] == 0.0
    assert stopped.report['last_force_n'] > 1.0
    assert stopped.report['stop_s'] < 0.3 < back['stop_s']


def test_the_reference_is_smooth_and_has_its_speed_at_the_contact():
    task = make_task('collide', STUDY.ROBOT, {'speed': 0.5})
    rows, reference = [], Reference(6)
    for t in np.arange(0.0, task.duration, 1e-3):
        task.reference(t, reference)
        rows.append(reference.row.copy())
    q, v, a, _ = np.split(np.array(rows), 4, axis=1)
    np.testing.assert_allclose(np.diff(q, axis=0) / 1e-3, 0.5 * (v[1:] + v[:-1]), atol=1e-5)
    np.testing.assert_allclose(np.diff(v, axis=0) / 1e-3, 0.5 * (a[1:] + a[:-1]), atol=1e-4)
    at = np.abs(q - task.contact).max(axis=1).argmin()
    tip_speed = STUDY.ROBOT.model.jacobian(q[at])[:3] @ v[at]
    assert np.linalg.norm(tip_speed) == pytest.approx(task.impact_speed, rel=1e-6)
    assert task.impact_speed == pytest.approx(0.5, rel=0.05)
    np.testing.assert_allclose(v[-1], 0.0)


def test_a_motion_too_short_for_its_speed_is_refused():
    with pytest.raises(ArmError, match='distance is 0.1 m; at 1 m/s it must be greater than 0.2'):
        make_task('collide', STUDY.ROBOT, {'speed': 1.0, 'distance': 0.1})
    with pytest.raises(ArmError, match='only engine mujoco has contacts'):
        Experiment.of_files('ur5e', 'collide', 'pd', engine='analytical').load().plants()
