"""The comparison of laws: its order is the theory's, its numbers do not depend on how it ran."""

import json
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from arms import MIXED
from experiment_parts import law_for, measures_of

import arm_sim
from arm_controllers.laws import law_class
from arm_controllers.laws.computed_torque import ComputedTorque
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf, robot_names
from arm_lab.commands.compare_controllers import main
from arm_lab.experiments.compared_laws import compared_laws
from arm_lab.experiments.executors import Work, executor
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.frequency import at_frequency
from arm_lab.experiments.labels import labels_of
from arm_lab.experiments.monte_carlo import run_monte_carlo
from arm_lab.experiments.ranges import Ranges
from arm_lab.experiments.report import sweep_report
from arm_lab.experiments.runs import observe_all, record_of
from arm_lab.experiments.sweeps import SWEEPS, Sweep, case_at, run_sweep
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.measures import measure, tips, track
from arm_sim.loop.record import Record
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, PlantParameters, plant_class
from arm_sim.tasks import make_task

MINE = """
from arm_controllers.laws.computed_torque import ComputedTorque

class Mine(ComputedTorque):
    pass
"""


@cache
def run_once(experiment):
    """Return the record of an experiment that several tests look at."""
    return record_of(experiment)


def rms_of(robot, task, laws=()):
    laws = laws or compared_laws()
    return {
        law: measures_of(Experiment(robot, task, law), run_once).tracking_rms_mm for law in laws
    }


@pytest.mark.slow
def test_knowing_more_of_the_arm_tracks_better():
    """On a moving reference with an exact model, UR5e; every law has the same error dynamics."""
    rms = rms_of('ur5e', 'sinusoid')
    order = ['pd', 'pd_gravity', 'independent_joint', 'joint_impedance', 'computed_torque']
    for worse, better in pairwise(order):
        assert rms[better] < rms[worse], (better, worse)
    # Between two control instants a torque, or a servo's command, is held.
    assert max(rms[law] for law in ('pd_feedforward', 'operational_space')) < 0.02
    assert rms['servo'] < 0.1 * rms['independent_joint']
    assert rms['computed_torque'] < 0.02 * rms['pd_gravity']


@pytest.mark.slow
def test_learning_laws_bear_an_unknown_payload_that_drops():
    rms = rms_of('ur5e', 'payload_drop')
    best_fixed = min(
        value
        for law, value in rms.items()
        if law not in ('momentum_observer', 'mpc', 'adaptive_computed_torque')
    )
    assert rms['mpc'] < rms['momentum_observer']
    assert rms['momentum_observer'] < 0.1 * best_fixed
    assert rms['adaptive_computed_torque'] < 0.25 * best_fixed


@pytest.mark.slow
def test_observer_and_integral_are_back_after_a_push_and_pd_without_gravity_never_is():
    back = {
        law: measures_of(Experiment('ur5e', 'push', law)).recovery_s
        for law in ('pd', 'pd_gravity', 'momentum_observer')
    }
    assert np.isnan(back['pd'])
    assert back['momentum_observer'] < back['pd_gravity'] < 0.5


@pytest.mark.slow
def test_every_law_does_the_cube_within_the_error_of_its_kind():
    rms = rms_of('ur5e', 'cube', ('pd_gravity', 'computed_torque', 'computed_torque_pid'))
    assert rms['computed_torque'] < 0.01
    assert rms['computed_torque_pid'] < rms['computed_torque']
    assert 0.1 < rms['pd_gravity'] < 1.0


@pytest.mark.quick(1)
@pytest.mark.parametrize('law', compared_laws())
def test_engines_agree_on_every_law(law):
    """Each engine steps the same semi-implicit equations; what is left is rounding."""
    first, *others = (
        run_once(Experiment('ur5e', 'sinusoid', law, engine)) for engine in RIGID_BODY_ENGINES
    )
    for other in others:
        np.testing.assert_allclose(other.q, first.q, atol=1e-9)


def test_measures_of_a_made_up_record():
    model = RobotModel.from_urdf(find_urdf('planar_3r'))
    k, n = 1001, 3
    t = np.arange(k) * 1e-3
    q_reference, q = np.zeros((k, n)), np.zeros((k, n))
    q[(t > 0.2) & (t < 0.5), 2] = 0.01  # the last rod is 0.5 m long: 5 mm at the tip
    effort = np.zeros((k, n))
    effort[:, 0] = 10.0
    v = np.full((k, n), 0.5)
    record = Record(t, q, v, q_reference, v, effort, q[-1])
    measures = measure(record, track(model, record), event=0.2)
    np.testing.assert_allclose(measures.tracking_max_mm, 5.0, rtol=1e-4)
    np.testing.assert_allclose(measures.tracking_rms_mm, 5.0 * np.sqrt(0.299), rtol=2e-3)
    np.testing.assert_allclose(measures.peak_torque_share, 0.1)
    np.testing.assert_allclose(measures.energy_j, 10.0 * 0.5 * 1.001, rtol=1e-9)
    np.testing.assert_allclose(measures.chatter_nm, 0.0)
    np.testing.assert_allclose(measures.recovery_s, 0.3, atol=1.5e-3)


@pytest.mark.parametrize('robot', [*robot_names(), MIXED])
def test_tips_of_many_configurations_are_forward_kinematics(robot):
    model = RobotModel.from_urdf(robot if robot == MIXED else find_urdf(robot))
    rng = np.random.default_rng(0)
    q = np.array([model.random_configuration(rng) for _ in range(20)])
    expected = [model.forward_kinematics(row).translation for row in q]
    np.testing.assert_allclose(tips(model, q).position, expected, atol=1e-12)


def test_a_run_through_the_comparison_is_the_closed_loop_bit_for_bit():
    robot, case = Robot.load('planar_3r'), Experiment('planar_3r', 'sinusoid', 'computed_torque')
    parameters = PlantParameters(actuator='torque', timestep=1e-3)
    plant = plant_class('mujoco')(robot.model, parameters)
    task = make_task('sinusoid', robot)
    record = run_closed_loop(
        plant, law_for('computed_torque', robot), task.reference, task.duration
    )
    np.testing.assert_array_equal(record_of(case).q, record.q)


@pytest.mark.slow
def test_processes_do_not_change_the_numbers():
    laws = ('pd', 'computed_torque', 'pd_feedforward')
    jobs = [Experiment('planar_3r', 'sinusoid', law) for law in laws]
    with executor(2) as processes:
        alone, together = (observe_all(jobs, work=work) for work in (Work(), Work(processes)))
    for (one, course), (other, same) in zip(alone, together, strict=True):
        np.testing.assert_equal(dict(one), dict(other))
        np.testing.assert_array_equal(course, same)
    assert isinstance(alone[0][0].completed, bool)


# Monte Carlo


@pytest.mark.slow
def test_monte_carlo_draws_are_seeded_and_the_same_for_every_law():
    case, laws = Experiment('planar_3r', 'sinusoid', 'pd'), ('pd_feedforward', 'momentum_observer')
    one = run_monte_carlo(replace(case, seed=3), laws, 6)
    with executor(2) as processes:
        work = Work(processes)
        two = run_monte_carlo(replace(case, seed=3), laws[::-1], 6, workers=2, work=work)
    np.testing.assert_array_equal(one[0].errors, two[1].errors)
    np.testing.assert_array_equal(one[1].errors, two[0].errors)
    other = run_monte_carlo(replace(case, seed=4), laws[:1], 6)
    assert np.all(one[0].errors != other[0].errors)
    assert one[1].median < 0.5 * one[0].median


@pytest.mark.slow
@pytest.mark.parametrize(
    ('task', 'laws'),
    [('sinusoid', ('servo', 'adaptive_computed_torque')), ('push', ('pd',)),
     ('payload_drop', ('momentum_observer',))],
)  # fmt: skip
def test_a_monte_carlo_is_one_batch_and_its_numbers_those_of_the_arms_one_by_one(
    task, laws, monkeypatch
):
    case = Experiment('planar_3r', task, 'pd')
    answers = []

    def keep(arms, answer):
        answers.append(answer)

    run_monte_carlo(replace(case, seed=5), laws, 3, keep=keep)
    for law in laws:
        monkeypatch.setattr(law_class(law), 'many_arms', False)
    run_monte_carlo(replace(case, seed=5), laws, 3, keep=keep)
    together, one_by_one = answers  # errors of the tip and of the joints
    np.testing.assert_allclose(together, one_by_one, rtol=1e-6)


@pytest.mark.slow
def test_a_law_that_declares_one_arm_only_is_run_arm_by_arm(monkeypatch):
    case = Experiment('planar_3r', 'sinusoid', 'computed_torque')
    [expected] = run_monte_carlo(replace(case, seed=5), ['computed_torque'], 2)
    plain = ComputedTorque.__call__

    def of_one_arm(self, state, measured, reference, dt):
        assert measured.q.ndim == 1
        return plain(self, state, measured, reference, dt)

    monkeypatch.setattr(ComputedTorque, '__call__', of_one_arm)
    monkeypatch.setattr(ComputedTorque, 'many_arms', False)
    [found] = run_monte_carlo(replace(case, seed=5), ['computed_torque'], 2)
    np.testing.assert_allclose(found.errors, expected.errors, rtol=1e-6)


def test_monte_carlo_draws_lie_in_the_stated_ranges():
    model, ranges = Robot.load('ur5e').model, Ranges()
    draws = [ranges.draw(model, 0, i) for i in range(300)]
    masses = np.array([draw.error.mass_scale for draw in draws])
    assert masses.shape == (300, 6)
    assert 0.8 <= masses.min() < 0.81
    assert 1.19 < masses.max() <= 1.2
    assert {draw.delay for draw in draws} == {0, 1, 2}
    efforts = [draw.error.effort_scale for draw in draws]
    assert 0.6 <= min(efforts) < 0.62
    friction = np.array([draw.error.friction for draw in draws]) / model.effort_limit
    assert friction.min() >= 0.0
    assert 0.0049 < friction.max() <= 0.005


def test_an_arm_with_a_gripper_is_drawn_with_a_mass_for_each_link():
    model = Robot.load('ur5e gripper:=probe').model
    error = Ranges().draw(model, 0, 0).error
    assert (len(error.mass_scale), len(error.friction)) == (7, 6)
    assert with_error(model, error).mass_matrix(model.neutral()).shape == (6, 6)


@pytest.mark.slow
def test_no_ranges_is_the_plain_case():
    exact = Ranges(mass=0.0, friction=0.0, delay=0, position_noise=0, velocity_noise=0, effort=1.0)
    case = Experiment('planar_3r', 'sinusoid', 'computed_torque')
    [spread] = run_monte_carlo(replace(case, ranges=exact), ['computed_torque'], 2)
    np.testing.assert_allclose(spread.errors, measures_of(case).tracking_rms_mm, rtol=1e-9)


# Sweeps


@pytest.mark.slow
def test_error_grows_with_frequency_and_feedforward_stays_below_pd():
    case = Experiment('planar_3r', 'sinusoid', 'pd')
    sweep = run_sweep('frequency', case, ('pd', 'computed_torque'), (0.1, 0.25, 0.5))
    rms = sweep.errors
    assert np.all(np.diff(rms, axis=1) > 0.0)
    assert np.all(rms[1] < 0.1 * rms[0])


def test_sinusoids_above_the_robots_own_frequency_keep_their_peak_acceleration():
    robot, peaks = Robot.load('planar_3r'), []
    own = make_task('sinusoid', robot)
    for frequency in (0.5, 1.0, 4.0):
        reference, largest = Reference(3), 0.0
        task = make_task('sinusoid', robot, at_frequency(own, frequency))
        for t in np.linspace(0.0, 1.0 / frequency, 101):
            task.reference(float(t), reference)
            largest = max(largest, np.abs(reference.a).max())
        peaks.append(largest)
    np.testing.assert_allclose(peaks, peaks[0], rtol=1e-6)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    'parameter', ['mass_scale', 'gravity', 'com_shift', 'friction', 'damping', 'armature']
)
def test_an_exact_model_is_the_least_error_of_a_mismatch_sweep(parameter):
    values = {
        'mass_scale': (0.8, 1.0, 1.2),
        'gravity': (9.3, 9.81, 10.3),
        'com_shift': (-0.02, 0.0, 0.02),
        'friction': (0.0, 1.0, 2.0),
        'damping': (0.0, 1.0, 2.0),
        'armature': (0.0, 0.1, 0.2),
    }[parameter]
    case = Experiment('ur5e', 'sinusoid', 'computed_torque')
    rms = run_sweep(parameter, case, ('computed_torque',), values).errors[0]
    exact = 1 if len(values) == 3 and values[0] not in (0.0,) else 0
    assert rms.argmin() == exact
    assert np.delete(rms, exact).min() > 2.0 * rms[exact]


@pytest.mark.slow
def test_a_sweep_of_errors_consists_of_the_sweeps_that_it_names():
    case, laws = Experiment('planar_3r', 'sinusoid', 'pd'), ('pd', 'computed_torque')
    arguments = ('exact', 'mass_scale=1.2', 'payload=0.5')
    several = run_sweep('errors', case, laws, arguments).errors
    masses = run_sweep('mass_scale', case, laws, (1.0, 1.2)).errors
    payload = run_sweep('payload', case, laws, (0.5,)).errors
    np.testing.assert_array_equal(several, np.hstack([masses, payload]))
    usual = [case_at('errors', each, case).error for each in SWEEPS['errors'][0]]
    assert len({repr(error) for error in usual}) == 7


# The command


@pytest.mark.slow
def test_command_writes_table_json_and_picture(tmp_path, capsys):
    laws = ['--laws', 'pd,computed_torque', '--law-pictures']
    code = main(['--robots', 'planar_3r', *laws, '--output-dir', str(tmp_path)])
    assert code == 0
    assert 'RMS [mm]' in capsys.readouterr().out
    rows = json.loads((tmp_path / 'comparison.json').read_text())['rows']
    assert [row['law'] for row in rows] == ['pd', 'computed_torque']
    assert rows[1]['recovery_s'] is None
    assert '| computed_torque |' in (tmp_path / 'comparison.md').read_text()
    for name in ('comparison', 'law_pd', 'law_computed_torque'):
        assert (tmp_path / f'{name}.png').stat().st_size > 5_000


def test_titles_name_a_robots_file_without_its_folder_where_no_other_has_its_name(tmp_path):
    one, two = tmp_path / 'a' / 'arm.urdf', tmp_path / 'b' / 'arm.urdf'
    cases = [Experiment(str(file), task='push', law='pd') for file in (one, two)]
    assert labels_of(cases[:1]) == {str(one): 'arm'}
    assert labels_of(cases) == {str(one): str(one), str(two): str(two)}
    sweep = Sweep('mass_scale', (1.0,), ('pd',), np.array([[1.0]]))
    assert sweep_report(sweep, cases[0]).listings[0].title.startswith('arm, push, ')


@pytest.mark.slow
def test_a_law_in_a_file_is_compared_under_the_files_name(tmp_path):
    file = tmp_path / 'mine.py'
    file.write_text(MINE)
    options = {'robots': ['planar_3r'], 'law_pictures': True, 'output_dir': tmp_path / 'made'}
    rows = arm_sim.compare(laws=[file, 'computed_torque'], **options).rows
    assert (tmp_path / 'made' / 'law_mine.png').stat().st_size > 5_000
    assert [row['law'] for row in rows] == [str(file), 'computed_torque']
    mine, theirs = (json.dumps({**row, 'law': ''}) for row in rows)
    assert mine == theirs
    file.write_text(MINE + "    command_interface = 'velocity'\n")
    with pytest.raises(ArmError, match='friction_velocity reference.*allowed: '):
        arm_sim.compare(laws=[file], robots=['planar_3r'], friction_velocity='reference')
    with pytest.raises(ArmError, match="runs over 'loop' only"):
        arm_sim.compare(laws=[file], robots=['planar_3r'], over='topics')


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--laws', 'magic'], "law is 'magic'; allowed: independent_joint"),
        (['--tasks', 'dance'], "--tasks is 'dance'; allowed: collide, cube"),
        (['--engines', 'steam'], "--engines is 'steam'; allowed: mujoco"),
        (['--robots', 'r2d2'], "robot 'r2d2' is neither"),
        (['--timestep', '0'], 'timestep is 0'),
        (['--natural-frequency', '-1'], '--natural-frequency is -1'),
        (['--sweep', 'payload', '--values', 'much'], "values is 'much'; it must be numbers"),
        (['--sweep', 'mass_scale', '--values', '0'], 'model_error.mass_scale is 0'),
        (['--sweep', 'errors', '--values', 'exact,mass=2'], "has 'mass=2'; it must be exact"),
        (['--sweep', 'errors', '--values', 'payload'], "has 'payload'; it must be exact or"),
        (['--sweep', 'errors', '--values', 'payload=-1'], 'model_error.payload is -1'),
        (['--robots', 'planar_3r', '--tasks', 'cube'], "task 'cube' needs a six-joint arm"),
        (['--output-dir', '/proc/nowhere'], "output_dir '/proc/nowhere' cannot be written"),
    ],
)
def test_bad_arguments_end_with_one_line(arguments, message, capsys, tmp_path):
    base = ['--output-dir', str(tmp_path), '--workers', '1', '--laws', 'pd']
    assert main([*base, *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count('\n') == 1


def test_an_unstable_loop_is_said_to_be_unstable():
    late = DriveParameters(command_delay=100)
    case = Experiment('planar_3r', 'sinusoid', 'computed_torque', drives=late)
    measures = measures_of(case)
    assert not measures.completed or measures.tracking_rms_mm > 100.0
    with pytest.raises(ArmError, match='mass_scale'):
        Experiment('planar_3r', 'sinusoid', 'pd', error=ModelError(mass_scale=(0.0,)))


def test_an_arm_that_stays_away_after_the_event_of_a_task_never_recovers():
    rows = [arm_sim.compare(tasks=task, laws='pd').listings[0].rows for task in ('push', 'step')]
    assert [row[-1] for ((*row,),) in rows] == ['never', 'never']
    still = arm_sim.compare(robots='planar_3r', laws='pd').listings[0]
    assert (still.headings[-1], still.rows[0][-1]) == ('recovery [s]', '-')
