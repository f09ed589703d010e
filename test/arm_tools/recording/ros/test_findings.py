"""What can make a result of report, rerun, export or compare_recordings wrong is said first."""

import numpy as np
import pytest
from arms import load_arm
from bags import START, write_bag
from identification_samples import exact_samples, read_samples, some_motion
from optional import optional

from arm_dynamics import ArmError
from arm_lab.identification.signals import MotionSamples
from arm_tools.commands import compare_recordings, export
from arm_tools.inspection.wrong_numbers import wrong_numbers
from arm_tools.readers.findings import Doubt
from arm_tools.readers.read_options import ReadAs
from arm_tools.recording.lerobot import episode_of
from arm_tools.recording.ros import report, rerun
from arm_tools.recording.ros.recorded_run import RecordedRun

NAMES = ['a', 'b']
TIMES = np.arange(200) * 0.01
Q = np.sin(3.0 * TIMES[:, np.newaxis] + [0.0, 1.0])


def states(topic='joint_states', later=0.0, stamped=True, q=Q, times=TIMES, received=START):
    return [
        (topic, received + t + later, t if stamped else 0.0, NAMES, row, np.cos(row))
        for t, row in zip(times, q, strict=True)
    ]


def commands(stamped=True, q=Q):
    return [
        (topic.replace('states', 'commands'), *row)
        for topic, *row in states('joint_states', 1e-4, stamped, q)
    ]


def bag(folder, messages):
    return write_bag(folder, sorted(messages, key=lambda each: each[1]), [0.0, 0.0])


def test_a_run_without_stamps_has_the_times_of_receipt(tmp_path):
    file = bag(tmp_path / 'x', states(stamped=False) + commands(stamped=False))
    run = RecordedRun.load(file, ReadAs())
    found = run.joint_states(('a', 'b'))
    np.testing.assert_allclose(1e-9 * found.time_ns, START + TIMES, atol=1e-6)
    np.testing.assert_array_equal(found.q, Q)
    assert '200 of 200 headers have no stamp (--clock header)' in '\n'.join(run.findings)
    assert len(RecordedRun.load(file).joint_states(('a', 'b')).time_ns) == 1  # as they are


def test_one_of_two_topics_with_efforts_is_read_where_an_option_names_it(tmp_path):
    both = states('left/joint_states') + states('right/joint_states', 1e-3, q=Q + 0.1)
    file = bag(tmp_path / 'x', both)
    with pytest.raises(ArmError, match='2 publishers have states .*--topic names it'):
        RecordedRun.load(file, ReadAs())
    run = RecordedRun.load(file, ReadAs(topic='/right/joint_states'))
    assert run.namespace == '/right'
    np.testing.assert_array_equal(run.joint_states(('a', 'b')).q, Q + 0.1)


def test_publishers_in_one_topic_are_told_apart_by_the_order_of_their_joints(tmp_path):
    other = [
        (topic, t, stamp, NAMES[::-1], q[::-1] + 0.1, 0.0 * effort)
        for topic, t, stamp, _, q, effort in states(later=1e-3)
    ]
    run = RecordedRun.load(bag(tmp_path / 'x', states() + other), ReadAs())
    np.testing.assert_array_equal(run.joint_states(('a', 'b')).q, Q)
    assert 'not read: /joint_states#2 (200 states' in '\n'.join(run.findings)


def test_mixed_publishers_stop_and_are_one_where_an_option_says_so(tmp_path):
    q = Q + 0.3 * (np.arange(200) % 2)[:, np.newaxis]
    file = bag(tmp_path / 'x', states(q=q))
    with pytest.raises(ArmError, match='mixed: its positions jump .*--topic /joint_states reads'):
        RecordedRun.load(file, ReadAs())
    run = RecordedRun.load(file, ReadAs(topic='/joint_states'))
    assert 'its positions jump from each state to the next; read as one' in '\n'.join(run.findings)


@pytest.mark.parametrize('command', [report, rerun])
def test_findings_come_before_what_the_command_says(command, tmp_path, capsys):
    kept = np.delete(np.arange(200), slice(50, 70))
    file = bag(tmp_path / 'x', states(q=Q[kept], times=TIMES[kept]) + commands())
    command.main([str(file)])
    first, *others = capsys.readouterr().err.splitlines()
    assert 'clock: stamps of the headers, 1.7e+09 s from the receive times (--clock' in first
    assert '1 holes, the longest 210 ms' in others[0]
    good = bag(
        tmp_path / 'y', states(received=0.0) + [(x, t - START, *y) for x, t, *y in commands()]
    )
    command.main([str(good)])
    assert len(capsys.readouterr().err.splitlines()) == 1  # that it is no run of this package


def test_export_stops_at_two_topics_and_at_degrees_and_names_the_rest(tmp_path, capsys):
    optional('pyarrow', 'pyarrow>=17')
    to = ['--output-dir', str(tmp_path / 'set')]
    two = bag(tmp_path / 'two', states() + states('l/joint_states', 1e-3, q=Q + 0.1) + commands())
    assert export.main([str(two), *to]) == 1
    assert '--topic names it' in capsys.readouterr().err
    degrees = np.degrees(Q)
    file = bag(tmp_path / 'deg', states(q=degrees, stamped=False) + commands(False, degrees))
    assert export.main([str(file), *to]) == 1
    assert '--units deg reads the file in degrees, --units rad' in capsys.readouterr().err
    assert export.main([str(file), *to, '--units', 'deg']) in (0, None)
    assert '200 of 200 headers have no stamp (--clock header)' in capsys.readouterr().err
    episode = episode_of(file, 50, ReadAs(units='deg'))
    np.testing.assert_allclose(episode.numbers['observation.state'][:, :2], Q[1::2], atol=1e-9)
    np.testing.assert_allclose(episode.numbers['action'], Q[0:-1:2], atol=0.07)


@pytest.fixture(scope='module')
def arm():
    model = load_arm('ur5e')
    return model, exact_samples(model, some_motion(model, 3), 8.0, noise=0.001)


def archive(file, samples, q=None, effort=None):
    q, effort = (samples.q if q is None else q), (samples.effort if effort is None else effort)
    np.savez(file, t=samples.times, q=q, effort=effort)
    return str(file)


@pytest.mark.slow
def test_a_comparison_stops_where_a_number_has_two_readings(arm, tmp_path, capsys):
    _, samples = arm
    sim, to = archive(tmp_path / 'sim.npz', samples), ['--output-dir', str(tmp_path / 'out')]
    amperes = archive(tmp_path / 'a.npz', samples, effort=0.1 * samples.effort)
    assert compare_recordings.main([amperes, sim, *to]) == 1
    assert '--efforts torque confirms N.m' in capsys.readouterr().err
    assert compare_recordings.main([amperes, sim, *to, '--efforts', 'current']) == 0
    assert 'shoulder_lift_joint 0.1000 ±' in capsys.readouterr().out
    assert compare_recordings.main([amperes, sim, *to, '--efforts', 'torque']) == 0
    capsys.readouterr()
    degrees = archive(tmp_path / 'd.npz', samples, np.degrees(samples.q))
    assert compare_recordings.main([sim, degrees, *to]) == 1
    assert '--sim-units deg reads the file in degrees' in capsys.readouterr().err
    assert compare_recordings.main([sim, degrees, *to, '--sim-units', 'deg']) == 0
    assert 'gravity: the efforts contain it' in capsys.readouterr().out


@pytest.mark.slow
def test_efforts_without_weight_are_compared_without_the_simulated_weight(arm, tmp_path):
    model, samples = arm
    weight = np.array([model.gravity_torque(q) for q in samples.q])
    sim = archive(tmp_path / 'sim.npz', samples)
    light = archive(tmp_path / 'real.npz', samples, effort=samples.effort - weight)
    options = compare_recordings.Options(real=light, simulated=sim)
    found = compare_recordings.compared(options).found
    np.testing.assert_allclose(found.tau, 0.0, atol=1e-9)


@pytest.mark.slow
def test_a_simulated_recording_without_stamps_says_so(arm, tmp_path):
    model, samples = arm
    piece = MotionSamples(samples.times[::4], samples.q[::4], samples.effort[::4])
    rows = [
        ('joint_states', START + t, 0.0, model.joint_names, *row)
        for t, *row in zip(piece.times, piece.q, piece.effort, strict=True)
    ]
    sim, real = write_bag(tmp_path / 'sim', rows), archive(tmp_path / 'real.npz', samples)
    called = compare_recordings.compared(
        compare_recordings.Options(real=real, simulated=str(sim), cutoff=5.0)
    )
    assert any('have no stamp (--sim-clock header)' in line for line in called.first)


def wrong(samples, **other):
    return MotionSamples(**(vars(samples) | other))


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ('change', 'said'),
    [
        (lambda model, s: {}, None),
        (
            lambda model, s: {'effort': s.effort * [1, 1, -1, 1, 1, 1]},
            'of elbow_joint have the oth',
        ),
        (
            lambda model, s: {'effort': 0.1 * s.effort},
            'no N.m, recorded over modelled: shoulder_p',
        ),
        (
            lambda model, s: {'effort': s.effort - [model.gravity_torque(q) for q in s.q]},
            'without',
        ),
        (
            lambda model, s: {'effort': s.effort * [1, 1, 100, 1, 1, 1]},
            'efforts of elbow_joint are in another unit',
        ),
        (lambda model, s: {'q': np.degrees(s.q)}, 'in degrees, not in radians'),
        (lambda model, s: {'q': s.q * [1, 1, -1, 1, 1, 1]}, 'the other sign of elbow_joint'),
    ],
)
def test_what_the_numbers_are_not_is_said_once_and_else_nothing(arm, change, said):
    model, samples = arm
    lines = wrong_numbers(model, wrong(samples, **change(model, samples)))
    assert [said in line for line in lines] == [True] * (said is not None)
    assert all(isinstance(line, Doubt) for line in lines)


@pytest.mark.slow
def test_runs_and_episodes_of_an_arm_that_is_recorded_too_say_what_numbers_are_wrong(
    arm, tmp_path
):
    model, samples = arm
    for name, sign in (('good', 1.0), ('bad', -1.0)):
        effort = samples.effort * [1, 1, sign, 1, 1, 1]
        rows = [
            (topic, START + t + later, t + later, model.joint_names, q, tau)
            for t, q, tau in zip(samples.times, samples.q, effort, strict=True)
            for topic, later in (('joint_states', 0.0), ('joint_commands', 1e-4))
        ]
        file = write_bag(tmp_path / name, rows, np.zeros(6), model.urdf)
        for findings in (RecordedRun.load(file, ReadAs()).findings, episode_of(file, 50).findings):
            said = [line for line in findings if line.startswith('numbers')]
            assert [('elbow_joint have' in line) for line in said] == [True] * (sign < 0.0)
    alone = write_bag(tmp_path / 'alone', rows, np.zeros(6))
    pushed = write_bag(tmp_path / 'pushed', rows, np.zeros(6), model.urdf, pushed=True)
    simulated = write_bag(tmp_path / 'sim', rows, np.zeros(6), model.urdf, node='/simulator')
    for file in (alone, pushed, simulated):
        for findings in (RecordedRun.load(file, ReadAs()).findings, episode_of(file, 50).findings):
            assert not any('numbers' in line for line in findings)


@pytest.mark.slow
def test_a_simulated_recording_with_another_sign_is_named(arm, tmp_path):
    _, samples = arm
    real = archive(tmp_path / 'real.npz', samples)
    sim = archive(tmp_path / 'sim.npz', samples, effort=samples.effort * [1, -1, 1, 1, 1, 1])
    called = compare_recordings.compared(compare_recordings.Options(real=real, simulated=sim))
    assert any(line.startswith(f'{sim}: numbers: the efforts of sh') for line in called.first)


def test_a_reset_of_simulated_time_is_no_want_of_stamps(tmp_path):
    reset = [(topic, t, stamp % 1.0, *rest) for topic, t, stamp, *rest in states()]
    run = RecordedRun.load(bag(tmp_path / 'x', reset), ReadAs())
    assert 'stamps of the headers' in '\n'.join(run.findings)
    assert 'go back once' in '\n'.join(run.findings)


def test_damaged_states_of_a_gripper_are_no_harm_and_those_of_the_arm_are_named(tmp_path):
    gripper = [('gripper/joint_states', START + t, t, ['g', 'h'], [1.0], []) for t in TIMES]
    found = read_samples(bag(tmp_path / 'x', states() + gripper), NAMES)
    np.testing.assert_array_equal(found.q, Q)
    for name, q, effort, said in (
        ('y', Q[0], [1.0], '/joint_states: a joint state has 1 values of effort for 2 joints'),
        ('z', [], Q[0], 'the joint states on /joint_states have no positions'),
    ):
        own = [(topic, *when, names, q, effort) for topic, *when, names, _, _ in states()]
        with pytest.raises(ArmError, match=said):
            read_samples(write_bag(tmp_path / name, own), NAMES)


def test_joints_of_other_names_are_those_of_the_arm_where_an_option_says_so(tmp_path):
    theirs = [(*x[:3], ['left_a', 'left_b'], *x[4:]) for x in states() + commands()]
    file = write_bag(tmp_path / 'x', sorted(theirs, key=lambda each: each[1]), [0.0, 0.0])
    for option in ('position=left_{joint}', 'a.position=left_a, b.position=left_b'):
        run = RecordedRun.load(file, ReadAs(columns=option))
        np.testing.assert_array_equal(run.joint_states(('a', 'b')).q, Q)
        assert episode_of(file, 50, ReadAs(columns=option)).names['action'] == ['a.pos', 'b.pos']
    for option, why in (
        ('position=right_{joint}', 'no joint has such a name; it has left_a, left_b'),
        ('time=t', 'of messages it must be position=left_{joint}'),
    ):
        with pytest.raises(ArmError, match=why):
            RecordedRun.load(file, ReadAs(columns=option))
