"""Pressing and wiping under hybrid force and motion control: the numbers that are promised."""

from dataclasses import replace

import numpy as np
import pytest

from arm_controllers.laws.hybrid_force_motion import HybridForceMotionParameters
from arm_dynamics.model_error import ModelError
from arm_sim.experiments.experiment import Experiment
from arm_sim.loop.measures import track
from arm_sim.tasks import Run

ROBOT, LAW = 'ur5e gripper:=probe', 'hybrid_force_motion'


def experiment(task, error=None, **given):
    e = Experiment.of_files(ROBOT, task, LAW, error=error or ModelError())
    return replace(e.load(), given=given)


def results(task, error=None, **given):
    """Return the experiment and the numbers of its report."""
    loaded = experiment(task, error, **given)
    record = loaded.run()
    run = Run(record, track(loaded.robot.model, record))
    return loaded, loaded.task.results(run)


@pytest.mark.parametrize('stiffness', [1e4, 1e6])
def test_a_press_comes_to_rest_within_a_thousandth_of_a_newton(stiffness):
    _, found = results('press', surface_stiffness=stiffness)
    assert found['force_error_max_n'] < 1e-3
    assert found['contact_lost_s'] == 0.0


def test_the_peak_of_an_impact_is_that_of_a_mass_on_a_spring():
    stiffness = 1e6
    given = {'surface_stiffness': stiffness, 'duration': 3.0, 'distance': 0.03, 'force': 1.0}
    loaded, found = results('press', **given)
    model, q = loaded.robot.model, loaded.robot.start
    jacobian = model.jacobian(q)[:3]
    mass = 1.0 / (jacobian @ np.linalg.solve(model.mass_matrix(q), jacobian.T))[2, 2]
    speed = HybridForceMotionParameters().approach_speed
    assert found['impact_n'] == pytest.approx(speed * np.sqrt(stiffness * mass), rel=0.2)


def test_a_heavier_arm_than_the_law_knows_presses_as_well():
    _, found = results('press', ModelError(mass_scale=(1.2,)))
    assert found['force_error_max_n'] < 2e-3


def test_wiping_with_friction_on_a_surface_of_unknown_tilt_never_loses_contact():
    _, found = results('wipe', surface_friction=0.3, surface_tilt=5.0, turns=0.5)
    assert found['force_error_rms_n'] < 0.05  # asked for: 0.2 N
    assert found['contact_lost_s'] == 0.0
    assert found['path_error_max_mm'] < 0.1


def test_a_law_that_expects_the_normal_elsewhere_is_forty_times_worse():
    loaded = experiment('wipe', turns=0.5)
    plain = HybridForceMotionParameters(normal_time=0.0, cancel_friction=False)
    record = loaded.task.run(loaded.law(parameters=plain), *loaded.plants())
    found = loaded.task.results(Run(record, track(loaded.robot.model, record)))
    assert found['force_error_rms_n'] > 0.4
