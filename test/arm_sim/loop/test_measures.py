"""Record, measures and report of a run, and its recording."""

import json
import re
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from plugins import write_plugins
from scipy.spatial.transform import Rotation

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.checks import in_range, one_of, per_joint
from arm_dynamics.compiled import BatchModel
from arm_dynamics.robots import find_urdf
from arm_lab.experiments.drawn_arms import run_batch
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.measures import (
    Tracking,
    all_measures,
    measure,
    names_that_need,
    rms,
    rotation_angle,
    summarize,
    track,
)
from arm_sim.loop.record import JointStates, Record
from arm_sim.loop.report import Check, all_held, print_report, write_json
from arm_sim.pictures import save
from arm_sim.robot import Robot
from arm_sim.tasks import Run, make_task, task_class, task_names
from arm_sim.tasks.cube import Cube

MODEL = RobotModel.from_urdf(find_urdf('ur5e'))
FACTS = {
    'task': 'cube', 'robot': 'ur5e', 'controller': 'servo', 'engine': 'mujoco',
    'mode': 'lockstep', 'feedforward': 'none', 'cycles_per_second': 1.0,
}  # fmt: skip


def turning(t, reference):
    """The first joint turns at 0.1 rad/s."""
    reference.row[:] = 0.0
    reference.q[0] = 0.1 * t


def make_states(count: int, joints: int = 6) -> JointStates:
    rows = np.arange(float(joints * count)).reshape(count, joints)
    return JointStates(np.arange(count) * 2_000_000, rows, rows + 1, rows + 2)


def make_record(count: int, joints: int = 6) -> Record:
    return make_states(count, joints).record(turning, 0, (count - 1) * 2_000_000, 2_000_000)


def test_a_record_has_states_at_the_start_of_periods_and_the_torque_in_them():
    states = make_states(10)
    record = states.record(turning, 4_000_000, 10_000_000, 2_000_000)
    np.testing.assert_allclose(record.t, (0.0, 0.002, 0.004), rtol=1e-15)
    np.testing.assert_array_equal(record.q, states.q[2:5])
    np.testing.assert_array_equal(record.v, states.v[2:5])
    np.testing.assert_array_equal(record.effort, states.effort[3:6])
    np.testing.assert_array_equal(record.q_end, states.q[5])
    np.testing.assert_allclose(record.q_reference[:, 0], (4e-4, 6e-4, 8e-4), rtol=1e-12)


def test_a_missing_sample_is_noticed():
    states = make_states(10)
    holed = JointStates(
        *(np.delete(x, 3, axis=0) for x in (states.time_ns, states.q, states.v, states.effort))
    )
    with pytest.raises(ArmError, match=r'3 of 4 states were recorded'):
        holed.record(turning, 4_000_000, 10_000_000, 2_000_000)


def test_states_of_another_control_period_are_named_and_not_taken_for_lost():
    why = r'states come every 2 ms, the control period here is 1 ms: .* under /\*\*'
    with pytest.raises(ArmError, match=why):
        make_states(10).record(turning, 4_000_000, 10_000_000, 1_000_000)
    with pytest.raises(ArmError, match=r'3 of 4 states were recorded'):
        make_states(5).record(turning, 4_000_000, 10_000_000, 2_000_000)


def test_checksum_depends_on_every_bit_and_not_on_the_start_time():
    record, states = make_record(5), make_states(5)
    later = replace(states, time_ns=states.time_ns + 6_000_000)
    assert later.record(turning, 6_000_000, 14_000_000, 2_000_000).checksum() == record.checksum()
    for name in ('q', 'v', 'effort', 'q_end'):
        changed = getattr(record, name).copy()
        changed.flat[-3] = np.nextafter(changed.flat[-3], np.inf)
        assert replace(record, **{name: changed}).checksum() != record.checksum(), name


def test_a_record_is_read_as_it_was_written(tmp_path):
    record = replace(make_record(5), completed=False)
    record.save(tmp_path / 'record.npz')
    again = Record.load(tmp_path / 'record.npz')
    assert again.checksum() == record.checksum()
    assert again.completed is False


def test_rms_of_a_sine_is_its_amplitude_over_root_two():
    t = np.arange(1000) / 1000
    np.testing.assert_allclose(rms(3 * np.sin(2 * np.pi * t)), 3 / np.sqrt(2), rtol=1e-12)


def test_tracking_error_is_the_distance_of_the_tips():
    record = make_record(6)
    q = record.q_reference.copy()
    q[:, 5] += 0.01  # turning the last joint leaves the tip where it is
    q[:, 0] += 1e-3
    tracking = track(MODEL, replace(record, q=q))
    radius = np.hypot(*MODEL.forward_kinematics(q[0]).translation[:2])
    np.testing.assert_allclose(tracking.error, 2 * radius * np.sin(0.5e-3), rtol=1e-9)
    np.testing.assert_allclose(
        tracking.joint_error, np.tile([-1e-3, 0, 0, 0, 0, -0.01], (5, 1)), atol=1e-15
    )


def test_orientation_error_is_the_angle_of_the_rotation_from_the_tool_frame_to_its_reference():
    record = make_record(6)
    q = record.q_reference + np.random.default_rng(3).uniform(-1.0, 1.0, (5, 6))
    q[0] = record.q_reference[0]
    q[1] = record.q_reference[1] + (0.0, 0.0, 0.0, 0.0, 0.0, 1e-7)
    tracking = track(MODEL, replace(record, q=q))

    def rotations(rows):
        return Rotation.from_matrix(
            [MODEL.forward_kinematics(row).rotation.copy() for row in rows]
        )

    expected = (rotations(q).inv() * rotations(record.q_reference)).magnitude()
    np.testing.assert_allclose(tracking.orientation_error, expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(tracking.orientation_error[1], 1e-7, rtol=1e-8)
    report = summarize(MODEL.joint_names, record, tracking, None)['orientation_error_rad']
    np.testing.assert_allclose(report['rms'], np.sqrt(np.mean(expected**2)), rtol=1e-12)
    assert (report['max'], report['max_at_s']) == (
        tracking.orientation_error.max(), record.t[expected.argmax()]
    )  # fmt: skip


@pytest.mark.parametrize('angle', [0.0, 1e-14, 1e-9, 1e-4, 1.0, 3.0, np.pi - 1e-9, np.pi])
def test_the_angle_of_a_rotation_is_the_norm_of_its_logarithm(angle):
    axes = np.random.default_rng(4).standard_normal((50, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, np.newaxis]
    matrices = Rotation.from_rotvec(angle * axes).as_matrix()
    found = rotation_angle(matrices)
    np.testing.assert_allclose(found, angle, rtol=1e-12, atol=1e-15)
    logarithms = [np.linalg.norm(pin.log3(each)) for each in matrices]
    np.testing.assert_allclose(found, logarithms, atol=3e-8)  # log3 is that far off near pi
    np.testing.assert_array_equal(rotation_angle(matrices[0]), found[0])


def test_contacts_count_where_a_record_has_them():
    k, rows = 5, np.zeros((5, 6))
    bare = Record(0.1 * np.arange(k), rows, rows, rows, rows, rows, rows[-1])
    facts = np.array([[0.0, 0.0, 0.0], [0.2, 5.0, 1.0], [0.5, 9.0, 3.0], [0.1, 2.0, 0.0], [0] * 3])
    touching = replace(bare, contacts=facts)
    measures = measure(touching, track(MODEL, touching))
    assert measures.penetration_max_mm == 0.5
    assert measures.contact_force_max_n == 9.0
    assert measures.contact_impulse_ns == pytest.approx(1.6)
    assert measures.contact_slip_mm == pytest.approx(0.4)
    assert np.isnan(measure(bare, track(MODEL, bare)).contact_force_max_n)
    assert 'contact_impulse_ns' in summarize(
        MODEL.joint_names, touching, track(MODEL, touching), None
    )
    assert 'contact_impulse_ns' not in summarize(MODEL.joint_names, bare, track(MODEL, bare), None)


def make_run(cube: Cube, error: float, share: float) -> Run:
    k = 600
    t, center = np.arange(k) * 0.05, np.tile(cube.parameters.center, (k, 1))
    rows, effort = np.zeros((k, 6)), share * MODEL.effort_limit * np.ones((k, 1))
    record = Record(t, rows, rows, rows, rows, effort, rows[-1])
    tracking = Tracking(
        tip=center + np.outer(np.sin(t), (0.05, 0.05, 0.05)),
        reference_tip=center,
        error=error * (1 + np.sin(t)),
        orientation_error=0.5 * error * (1 + np.sin(t)),
        joint_error=np.full((k, 6), error),
        effort_share=np.full((k, 6), share),
    )
    return Run(record, tracking, FACTS)


@pytest.mark.quick(1)
@pytest.mark.parametrize(('error', 'share'), [(0.0, 0.0), (1e-16, 0.1), (0.02, 1.0)])
def test_table_and_picture_come_for_perfect_and_for_bad_runs(error, share, tmp_path, capsys):
    cube = make_task('cube', Robot.load('ur5e'))
    run = make_run(cube, error, share)
    report = cube.report.numbers(run)
    np.testing.assert_allclose(report['tracking_error_mm']['rms'], error * 1e3 * 1.2, rtol=0.05)
    np.testing.assert_allclose(report['orientation_error_rad']['rms'], error * 0.6, rtol=0.05)
    assert report['orientation_error_rad']['max_on_stroke'] >= 1
    assert report['path_error_mm']['rms'] > 1.0  # its reference stays in the middle of the cube
    assert report['saturated_samples'] == (600 if share >= 1 else 0)
    save(cube.report.draw(run, report), tmp_path / 'tracking.png')
    assert (tmp_path / 'tracking.png').stat().st_size > 50_000
    write_json(tmp_path / 'report.json', report)
    assert json.loads((tmp_path / 'report.json').read_text())['recovery_s'] is None
    print_report('cube', cube.report.columns, cube.report.rows(report), ['a note'], [])
    printed = capsys.readouterr().out
    assert 'tracking error [mm]' in printed.partition('path error [mm]')[0]
    assert 'orientation error [rad]' in printed
    assert 'a note' in printed


def test_held_is_said_only_next_to_a_limit(capsys):
    checks = [Check('path', 0.5, 1.0, 'mm'), Check('angle', 2.0, 1.0, 'rad')]
    open_check = Check('tracking', 6.4, None, 'mm')
    degrees = Check('joint', 90.0, 180.0, 'deg')
    print_report('cube', (), [], [], [*checks, open_check, degrees])
    said = [line.rstrip() for line in capsys.readouterr().out.splitlines()[-4:]]
    assert said == [
        'held   path: 0.5 mm, limit 1 mm',
        'BROKEN angle: 2 rad, limit 1 rad',
        '-      tracking: 6.4 mm, no limit',
        'held   joint: 1.571 rad, limit 3.14159 rad',
    ]
    assert [all_held(each) for each in (checks, checks[:1], [open_check], [])] == [
        False, True, None, None
    ]  # fmt: skip


@pytest.mark.quick(1)
@pytest.mark.parametrize('name', task_names())
def test_every_task_reports_draws_and_prints_progress(name, tmp_path, capsys):
    robot = Robot.load('ur5e gripper:=parallel' if name == 'pick_and_place' else 'ur5e')
    task = make_task(name, robot)
    record = make_record(800, robot.model.nv)
    tracking = track(robot.model, record)
    run = Run(record, tracking, FACTS | {'task': name}, predicted=record)
    report = task.report.numbers(run)
    print_report(
        name, task.report.columns, task.report.rows(report), [], task.report.checks(report)
    )
    assert len(capsys.readouterr().out.splitlines()) > 5
    save(task.report.draw(run, report), tmp_path / task.report.picture_name)
    assert (tmp_path / task.report.picture_name).stat().st_size > 5_000
    assert '40%' in task.report.progress(0.4)
    assert task_class(name) is type(task)


def test_checks_of_the_cube_are_those_of_its_path_and_law_or_mode():
    cube = make_task('cube', Robot.load('ur5e'))
    report = cube.report.numbers(make_run(cube, 1e-3, 0.1))
    assert [(check.name, check.limit) for check in cube.report.checks(report)] == [
        ('path error RMS', 0.005), ('path error max', 0.02), ('tracking error RMS', 14.5)
    ]  # fmt: skip
    assert [check.held for check in cube.report.checks(report)] == [False, False, True]
    assert cube.report.checks(report | {'mode': 'realtime'})[-1].limit == 20.0
    assert cube.report.checks(report | {'controller': 'none'})[-1].limit is None


def test_checks_name_what_is_wrong():
    names = ('a', 'b')
    np.testing.assert_array_equal(per_joint('kp', 3.0, names), (3.0, 3.0))
    with pytest.raises(ArmError, match="kp of joint 'b' is -1; it must be >= 0"):
        per_joint('kp', (1.0, -1.0), names, minimum=0.0)
    with pytest.raises(ArmError, match="kp of joint 'a' is 0; it must be > 0"):
        per_joint('kp', (0.0, 1.0), names, minimum=0.0, exclusive=True)
    with pytest.raises(ArmError, match="kp of joint 'a' is nan; it must be finite"):
        per_joint('kp', (np.nan, 1.0), names)
    with pytest.raises(ArmError, match='kp has 3 values'):
        per_joint('kp', (1.0, 2.0, 3.0), names)
    with pytest.raises(ArmError, match="mode is 'x'; allowed: p, q"):
        one_of('mode', 'x', ('p', 'q'))
    with pytest.raises(ArmError, match='rate is 3; it must be finite, >= 0 and <= 2'):
        in_range('rate', 3.0, 0.0, 2.0)


def recovery(outside, event):
    """Return the recovery [s] of a record of 10 periods of 2 ms whose tip is off in some."""
    record = make_record(11)
    q = record.q_reference.copy()
    q[outside, 0] += 0.1
    record = replace(record, q=q)
    return measure(record, track(MODEL, record), event).recovery_s


def test_recovery_counts_from_the_period_of_the_event_to_the_last_one_off_the_reference():
    assert recovery([3], 0.006) == pytest.approx(0.002)  # 3 * 0.002 is not 0.006 in binary
    assert recovery([3, 5], 0.006) == pytest.approx(0.006)
    assert recovery([0, 2], 0.006) == 0.0  # before the event
    assert recovery([], 0.006) == 0.0
    assert np.isnan(recovery([9], 0.006))  # not back at the end
    assert np.isnan(recovery([3], None))


def test_a_run_of_one_period_has_no_measures():
    for count, completed in ((1, False), (2, True)):
        record = make_record(count + 1)
        found = measure(record, track(MODEL, record))
        assert found.completed is completed
        assert np.isfinite(found.tracking_rms_mm) == completed
    with pytest.raises(AttributeError, match='no_such_measure'):
        _ = found.no_such_measure


PLUGIN = """
import numpy as np
from arm_sim.loop.measures import Measure

def two(samples):
    return np.zeros(samples.error_mm.shape + (2,))

def late(samples):  # back within 1 mm from 0.05 s on
    return (samples.t < 0.05 - 1e-9) * np.ones(samples.error_mm.shape)

def made(sample, over):
    return Measure(f'own_{over}', '', '.3g', sample, over)

def nothing(samples):
    return np.full(samples.error_mm.shape, np.nan)

NOTHING_RMS, NOTHING_INTEGRAL = made(nothing, 'rms'), made(nothing, 'integral')
NOTHING_MAX, NOTHING_MEAN = made(nothing, 'max'), made(nothing, 'mean')
BELOW_MAX = made(lambda s: -1.0 - s.t * np.ones(s.error_mm.shape), 'max')
BELOW_MEAN = made(lambda s: np.where(s.t > 0.01, -2.0, np.nan) * np.ones(s.error_mm.shape), 'mean')
LATE = made(late, 'settled')
NEVER = made(lambda s: np.ones(s.error_mm.shape), 'settled')
FAILS = made(lambda s: 1 / 0, 'max')
SHAPE = made(two, 'max')
NONE = made(lambda s: None, 'max')
WRONG = 3
KIND = made(late, 'median')
TAKEN = Measure('energy_j', '', '.3g', late, 'max')
OF_FORCE = Measure('own_force', 'own', '.3g', lambda s: s.force, 'max', 'force')
OF_CONTACTS = Measure('own_contacts', 'own', '.3g', lambda s: s.slip, 'max', needs='contacts')
OF_WIND = Measure('own_wind', 'own', '.3g', late, 'max', needs='wind')
"""


@pytest.fixture
def of_plugins(tmp_path, monkeypatch):
    """Return a function that gives measures of a user's package in the loop and in a batch."""

    def measured(*names, event=0.02):
        entries = {'arm_sim.measures': {name.lower(): f'mine:{name}' for name in names}}
        folder = write_plugins(tmp_path / 'site', {'mine': PLUGIN}, entries)
        monkeypatch.syspath_prepend(str(folder))
        all_measures.cache_clear()
        own = Experiment('planar_3r', 'sinusoid', 'pd').load()
        own.task.duration, own.task.event = 0.1, event
        plant, law = own.plants()[0], own.law()
        record = own.task.run(law, plant)
        alone = measure(record, track(own.robot.model, record), event)
        model, parameters = own.robot.model, own.plant_parameters()
        batch = BatchPlant([model, model], parameters, 'mujoco')
        together = run_batch(own.task, own.law(BatchModel(model)), batch)
        return alone, together.measures

    yield measured
    all_measures.cache_clear()


@pytest.mark.filterwarnings('error')
def test_a_measure_of_a_plugin_is_the_same_in_the_loop_and_in_a_batch(of_plugins):
    nothing = 'NOTHING_RMS', 'NOTHING_INTEGRAL'
    alone, together = of_plugins(*nothing, 'BELOW_MAX', 'BELOW_MEAN', 'LATE')
    expected = {'rms': np.nan, 'integral': np.nan, 'max': -1.0, 'mean': -2.0, 'settled': 0.03}
    for kind, value in expected.items():
        np.testing.assert_allclose(alone[f'own_{kind}'], value, rtol=1e-12, err_msg=kind)
        np.testing.assert_allclose(together[f'own_{kind}'], [value] * 2, rtol=1e-12, err_msg=kind)


@pytest.mark.filterwarnings('error')
def test_where_no_sample_counts_or_the_arm_never_settles_there_is_no_number(of_plugins):
    alone, together = of_plugins('NOTHING_MAX', 'NOTHING_MEAN', 'NEVER')
    for kind in ('max', 'mean', 'settled'):
        np.testing.assert_equal(alone[f'own_{kind}'], np.nan)
        np.testing.assert_array_equal(together[f'own_{kind}'], [np.nan] * 2)


def test_a_measure_is_left_out_where_what_it_needs_is_missing(of_plugins):
    alone, together = of_plugins('OF_FORCE', 'OF_CONTACTS', 'BELOW_MAX')
    for name in ('own_force', 'own_contacts'):
        np.testing.assert_equal(alone[name], np.nan)
        np.testing.assert_array_equal(together[name], [np.nan] * 2)
    assert names_that_need('force') == {
        'force_rms_n', 'force_max_n', 'force_peak_n', 'contact_lost_s', 'own_force'
    }  # fmt: skip
    assert names_that_need('contacts') == {
        'penetration_max_mm', 'contact_force_max_n', 'contact_impulse_ns', 'contact_slip_mm',
        'own_contacts',
    }  # fmt: skip
    loaded = Experiment('planar_3r', 'sinusoid', 'pd').load()
    task = loaded.task
    task.duration = 0.1
    record = task.run(loaded.law(), *loaded.plants())
    report = task.report.numbers(Run(record, track(loaded.robot.model, record)))
    assert report['own_max'] < 0.0
    assert {'own_force', 'own_contacts'}.isdisjoint(report)
    assert 'own' not in [name for name, *_ in task.report.rows(report)]


@pytest.mark.parametrize(
    ('name', 'reason'),
    [
        ('FAILS', "measure 'own_max' fails: division by zero"),
        ('SHAPE', r"measure 'own_max' returns an array of shape \(100, 2\); expected: \(100,\)"),
        ('NONE', r"measure 'own_max' returns an array of shape \(\); expected: \(100,\)"),
    ],
)
def test_a_measure_that_fails_is_named_in_one_line(of_plugins, name, reason):
    with pytest.raises(ArmError, match=f'^{reason}') as refused:
        of_plugins(name)
    assert '\n' not in str(refused.value)


@pytest.mark.parametrize(
    ('name', 'reason'),
    [
        ('ABSENT', "cannot be imported: .* 'ABSENT'"),
        ('WRONG', r": it is no Measure with one of \('rms', 'max'.*"),
        ('KIND', r": it is no Measure with one of \('rms', 'max'.*"),
        ('TAKEN', ": 'energy_j' is the name of another one"),
        ('OF_WIND', ": it needs 'wind'; allowed: '', 'force', 'contacts'"),
    ],
)
def test_a_measure_that_is_none_is_left_out_in_one_line(of_plugins, capfd, name, reason):
    alone, _ = of_plugins(name, 'BELOW_MAX')
    assert alone['own_max'] == -1.0
    (line,) = [x for x in capfd.readouterr().err.splitlines() if x.startswith('arm_sim: measure')]
    assert re.search(rf"'{name.lower()}' \(.*:{name} .*\) ?{reason}; it is left out$", line)
