"""Pressing and wiping under hybrid force and motion control: the numbers that are promised."""

import numpy as np
import pytest
from contact_runs import experiment, results

from arm_controllers.laws.hybrid_force_motion import HybridForceMotionParameters
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError
from arm_lab.experiments.drawn_arms import run_batch
from arm_lab.experiments.ranges import Draw
from arm_sim.devices import SensorParameters
from arm_sim.loop.measures import track
from arm_sim.loop.record import Record
from arm_sim.tasks import Run


@pytest.mark.quick(1)
@pytest.mark.parametrize('stiffness', [1e4, 1e6])
def test_a_press_comes_to_rest_within_a_thousandth_of_a_newton(stiffness):
    _, found = results('press', surface_stiffness=stiffness)
    assert found['force_error_max_n'] < 1e-3
    assert found['contact_lost_s'] == 0.0


@pytest.mark.slow
def test_a_press_on_a_soft_surface_does_not_take_its_own_motion_for_that_along_the_surface():
    _, found = results('press', surface_stiffness=3e3)
    assert found['force_error_max_n'] < 0.1
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


@pytest.mark.slow
def test_a_heavier_arm_than_the_law_knows_presses_as_well():
    _, found = results('press', ModelError(mass_scale=(1.2,)))
    assert found['force_error_max_n'] < 2e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    'name', ['hybrid_force_motion', pytest.param('mpc', marks=pytest.mark.slow)]
)
def test_wiping_with_friction_on_a_surface_of_unknown_tilt_never_loses_contact(name):
    given = {'surface_friction': 0.3, 'surface_tilt': 5.0, 'turns': 0.5}
    _, found = results('wipe', name=name, **given)
    assert found['force_error_rms_n'] < 0.05  # asked for: 0.2 N
    assert found['contact_lost_s'] == 0.0
    assert found['path_error_max_mm'] < 0.1
    assert found['success']


@pytest.mark.slow
def test_a_law_that_expects_the_normal_elsewhere_is_forty_times_worse():
    plain = HybridForceMotionParameters(normal_time=0.0, cancel_friction=False)
    _, found = results('wipe', law=plain, turns=0.5)
    assert found['force_error_rms_n'] > 0.4


def pushed(task, forces, moved=0.0, period=0.01, touches=()):
    """Return a run with forces (k,) along z on a tool at the start, and the task's results.

    The last reference is `moved` [m] along z and x from the tip. `touches` (k,) [N] are contact
    forces of the physics at the end of each period.
    """
    model, q, k = task.robot.model, task.robot.start, len(forces)
    turn = model.forward_kinematics(q, model.tool_carrier).rotation
    wrench = np.zeros((k, 6))
    wrench[:, :3] = np.outer(forces, turn.T @ (0.0, 0.0, 1.0))
    rows, none = np.tile(q, (k, 1)), np.zeros((k, model.nv))
    facts = {'contacts': np.outer(touches, (0.0, 1.0, 0.0))} if len(touches) else {}
    record = Record(period * np.arange(k), rows, none, rows, none, none, q, wrench=wrench, **facts)
    tracking = track(model, record)
    tracking.reference_tip[-1] += (moved, 0.0, moved)
    return task.report.results(Run(record, tracking))


@pytest.fixture(scope='module')
def task():
    press = experiment('press', force=10.0).task
    press.measured = 0.2, 0.4
    return press


def test_the_measures_of_a_force_are_those_of_its_samples(task):
    forces = np.array([0, 0, 4, 8, 4, 0, 0, 2, *[9] * 15, *[11] * 4, 0, *[10] * 20], dtype=float)
    found = pushed(task, forces, moved=1e-3)
    assert found['contact_at_s'] == pytest.approx(0.02)
    assert (found['impact_n'], found['peak_force_n']) == (pytest.approx(9.0), pytest.approx(11.0))
    assert found['peak_at_s'] == pytest.approx(0.23)
    assert found['impact_impulse_ns'] == pytest.approx(0.16)
    assert found['bounce_s'] == pytest.approx(0.02)
    assert found['contact_lost_s'] == pytest.approx(0.01)
    assert found['force_error_max_n'] == pytest.approx(10.0)
    assert found['force_error_rms_n'] == pytest.approx(np.sqrt((7 + 100) / 20))
    assert found['work_j'] == pytest.approx(0.0)
    assert found['path_error_max_mm'] == pytest.approx(0.0)  # it counts at the end alone
    assert found['success'] is False


def test_what_the_sensor_feels_before_the_physics_has_a_contact_is_the_tools_inertia(task):
    forces = np.array([0, 3, 2, 0, 0, 5, 7, *[10] * 43], dtype=float)
    touches = np.array([0, 0, 0, 0, 5, 7, 10, *[10] * 43], dtype=float)
    found = pushed(task, forces, touches=touches)
    assert found['contact_at_s'] == pytest.approx(0.05)
    assert found['impact_n'] == pytest.approx(10.0)
    assert found['bounce_s'] == 0.0
    assert pushed(task, forces)['contact_at_s'] == pytest.approx(0.01)  # without such facts


@pytest.mark.parametrize(('force', 'success'), [(8.1, True), (7.9, False), (12.1, False)])
def test_a_success_is_a_force_within_a_fifth_of_its_goal(task, force, success):
    found = pushed(task, np.full(50, force))
    assert found['success'] is success


def test_a_task_without_measured_times_counts_from_the_first_contact_on(task, monkeypatch):
    monkeypatch.setattr(task, 'measured', None)
    found = pushed(task, [0.0, 0.0, 10.0, 0.0, 10.0], moved=1e-3)
    assert found['contact_lost_s'] == pytest.approx(0.01)
    assert found['path_error_max_mm'] == pytest.approx(1.0)  # across the force only
    found = pushed(task, [0.0, 0.0])
    assert (found['contact_at_s'], found['success']) == (None, False)


@pytest.mark.slow
def test_the_work_of_a_press_is_the_energy_of_the_spring():
    _, found = results('press', surface_friction=0.0, duration=3.0)
    assert found['work_j'] == pytest.approx(10.0**2 / (2.0 * 4e4), rel=0.1)


@pytest.mark.slow
def test_one_arm_of_a_batch_presses_as_one_arm_alone():
    loaded = experiment('press', duration=3.0)
    model, exact = loaded.robot.model, SensorParameters()
    draws = [Draw(ModelError(mass_scale=(scale,)), 0, exact) for scale in (1.0, 0.8)]
    plant, events = loaded.batch(draws)
    many = run_batch(loaded.task, loaded.batch_law(BatchModel(model)), plant, events).measures
    record = loaded.on(draws[1]).run()
    alone = loaded.task.report.measure(record, track(model, record))
    for name in ('force_rms_n', 'force_max_n', 'force_peak_n', 'contact_lost_s'):
        assert many[name][1] == pytest.approx(alone[name], rel=1e-6, abs=1e-9), name
    assert 0.0 < alone.force_rms_n < 0.01 < 9.0 < alone.force_peak_n
    assert many['force_rms_n'][0] != many['force_rms_n'][1]
    with pytest.MonkeyPatch.context() as patch:  # a press that counts too early has no contact yet
        patch.setattr(loaded.task, 'measured', (0.0, 3.0))
        assert loaded.task.report.measure(record, track(model, record)).contact_lost_s > 0.4


@pytest.mark.parametrize('name', ['press', 'wipe'])
def test_a_force_that_presses_through_the_surface_is_refused(name):
    with pytest.raises(
        ArmError, match='presses 25 mm into a surface_stiffness of 400 N/m; .* 20 mm'
    ):
        results(name, surface_stiffness=400.0)
