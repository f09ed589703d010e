"""What a recording is: topics, clocks, gravity, signs, units; no worse model is written."""

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from arms import load_arm
from bags import START, write_bag
from identification_samples import exact_samples, read_samples, some_motion
from optional import optional
from rich.console import Console
from scipy.io import savemat

import arm_sim
from arm_dynamics import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_lab import progress
from arm_lab.identification.signals import MotionSamples
from arm_tools.commands import identify as command
from arm_tools.commands import inspect_recording
from arm_tools.inspection.inspected import decided, inspected
from arm_tools.inspection.known_efforts import EffortsAre
from arm_tools.readers.read_options import ReadAs
from arm_tools.readers.recorded_samples import inspected_samples

pytestmark = pytest.mark.slow  # each test inspects a recording, some several
KNOWN = ['--efforts', 'torque', '--gravity', 'included', '--flip-positions', 'none']


def bag(folder, names, **topics):
    """Write a rosbag2 folder: of each topic, samples, whether stamped, and its frame."""
    rows = sorted(
        (t, topic, k)
        for topic, (samples, *_) in topics.items()
        for k, t in enumerate(samples.times)
    )
    messages = []
    for t, topic, k in rows:
        samples, stamped, frame = topics[topic]
        row = names, samples.q[k], samples.effort[k], frame
        messages.append((topic, t + START, t if stamped else 0.0, *row))
    return write_bag(folder, messages)


@pytest.fixture(scope='module')
def arm():
    """Return the model of an arm, and an exact recording of it."""
    model = load_arm('ur5e')
    return model, exact_samples(model, some_motion(model, 3), 12.0, noise=0.01)


def changed(samples, q=None, effort=None, later=0.0):
    q, effort = (samples.q if q is None else q), (samples.effort if effort is None else effort)
    return MotionSamples(samples.times + later, q, effort)


def test_a_terminal_shows_that_a_recording_is_read(tmp_path, arm, monkeypatch):
    samples, shown = arm[1], io.StringIO()
    np.savez(tmp_path / 'x.npz', t=samples.times, q=samples.q, effort=samples.effort)
    console = Console(file=shown, force_terminal=True, width=80)
    monkeypatch.setattr(progress, 'new_console', lambda stderr: console)
    arm_sim.inspect_recording(str(tmp_path / 'x.npz'))
    assert 'reading the recording' in shown.getvalue()


def planar():
    model = load_arm('planar_3r')
    return exact_samples(model, some_motion(model, 3), 12.0, noise=0.01)


def archive(file, samples):
    np.savez(file, t=samples.times, q=samples.q, effort=samples.effort)
    return file


def test_the_topic_with_efforts_is_measured_and_two_of_them_are_refused(tmp_path, arm):
    model, samples = arm
    desired = changed(samples, np.roll(samples.q, -10, 0), 0.0 * samples.effort, 0.001)
    other = changed(samples, samples.q + 0.01, later=0.001)
    names = model.joint_names
    two = bag(tmp_path / 'two', names, states=(samples, True, ''), wanted=(desired, True, ''))
    found = read_samples(two, names)
    np.testing.assert_array_equal(found.q, samples.q)
    both = bag(tmp_path / 'both', names, a=(samples, True, ''), b=(other, True, ''))
    with pytest.raises(ArmError, match=r'2 publishers .*/a \(3000 .*/b \(3000 .*--topic names it'):
        read_samples(both, names)
    chosen = read_samples(both, names, ReadAs(topic='/b'))
    np.testing.assert_array_equal(chosen.q, other.q)
    with pytest.raises(ArmError, match=r"no joint states of the arm on '/c'; it has /a"):
        read_samples(both, names, ReadAs(topic='/c'))


def test_states_without_stamps_have_the_times_of_the_recorder(tmp_path, arm):
    model, samples = arm
    file = bag(tmp_path / 'x', model.joint_names, states=(samples, False, ''))
    found = inspected(file, model)
    np.testing.assert_allclose(found.samples.times, samples.times + START, atol=1e-6)
    assert any('receive times' in line and '3000 of 3000' in line for line in found.lines)


def test_mixed_publishers_of_one_topic_are_refused(tmp_path, arm):
    model, samples = arm
    q = samples.q.copy()
    q[::2] += 0.3
    file = bag(tmp_path / 'x', model.joint_names, states=(changed(samples, q), True, ''))
    with pytest.raises(ArmError, match='states of several publishers, mixed: its positions jump'):
        read_samples(file, model.joint_names)


def test_gravity_and_signs_are_found_and_read_so(tmp_path, arm):
    model, samples = arm
    weight = np.array([model.gravity_torque(q) for q in samples.q])
    signs = np.array([1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    plain = inspected(archive(tmp_path / 'a.npz', samples), model)
    assert not plain.weightless
    assert not plain.open
    assert 'gravity: the efforts contain it' in '\n'.join(plain.lines)
    light = changed(samples, effort=samples.effort - weight)
    found = inspected(archive(tmp_path / 'b.npz', light), model)
    assert found.weightless
    assert not inspected(
        tmp_path / 'b.npz', model, efforts=EffortsAre(gravity='included')
    ).weightless
    turned = changed(samples, effort=samples.effort * signs)
    found = inspected(archive(tmp_path / 'c.npz', turned), model)
    assert 'joint elbow_joint: sign reversed' in '\n'.join(found.lines)
    np.testing.assert_array_equal(found.samples.effort, samples.effort)
    kept = inspected(tmp_path / 'c.npz', model, efforts=EffortsAre(flip_efforts='none'))
    np.testing.assert_array_equal(kept.samples.effort, turned.effort)


def test_what_gravity_explains_is_that_of_a_joint_and_not_of_their_product(tmp_path, arm):
    model, samples = arm
    noise = np.random.default_rng(0).normal(size=samples.effort.shape)
    noisy = changed(samples, effort=samples.effort + noise)
    lines = '\n'.join(inspected(archive(tmp_path / 'a.npz', noisy), model).lines)
    times = float(re.search(r'mean of the joints: (\S+) times', lines)[1])
    assert 1.0 < times < np.var(samples.effort, axis=0).max()


def test_an_effort_that_is_noise_in_few_values_is_named_and_not_used(tmp_path, arm):
    model, samples = arm
    effort = samples.effort.copy()
    steps = np.random.default_rng(0).integers(-3, 4, len(effort) // 10)
    noise = np.append(np.repeat(0.001 * steps, 10), np.zeros(len(effort) % 10))
    effort[:, 4:] = noise[:, None] * [1.0, 2.0]
    found = inspected(archive(tmp_path / 'x.npz', changed(samples, effort=effort)), model)
    assert list(found.unused) == [4, 5]
    text = 'efforts: wrist_2_joint, wrist_3_joint: 7, 7 values of at most 0.003, 0.006, which no '
    assert text in '\n'.join(found.lines)
    np.testing.assert_array_equal(found.samples.times, samples.times)


def test_a_joint_that_stands_still_shows_its_sign_only_where_it_carries_a_load(tmp_path, arm):
    model, _ = arm
    moves = some_motion(model, 3).states
    still = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.0])  # the elbow is loaded, the last wrist not
    motion = SimpleNamespace(states=lambda t: [x * still for x in moves(t)])
    samples = exact_samples(model, motion, 12.0)
    signs = np.array([1.0, 1.0, -1.0, 1.0, 1.0, -300.0])
    unlimited = RobotModel(re.sub('effort="[^"]*"', 'effort="0"', model.urdf))
    for each in (model, unlimited):
        read = changed(samples, effort=samples.effort * signs)
        found = inspected(archive(tmp_path / 'x.npz', read), each)
        (line,) = (x for x in found.lines if x.startswith('sign of the efforts'))
        assert 'joint elbow_joint: sign reversed' in line
        assert line.partition('not shown by this motion: ')[2] == 'wrist_3_joint'


def test_efforts_that_the_arm_does_not_explain_have_no_unit(tmp_path, arm):
    model, samples = arm
    noise = np.random.default_rng(0).standard_normal(samples.effort.shape)
    found = inspected(archive(tmp_path / 'x.npz', changed(samples, effort=noise)), model)
    assert any(x.startswith('unit of the efforts: not shown') for x in found.open)
    known = EffortsAre(efforts='torque', gravity='included')
    assert not inspected(tmp_path / 'x.npz', model, efforts=known).open


def small_motion(t):
    """Return states of small sinusoids about the first position of the shipped tasks."""
    home = 0.5 * np.pi * np.array([-1.0, -1.0, 1.0, -1.0, -1.0, 0.0])
    sine, cosine = 0.2 * np.sin(np.pi * t)[:, np.newaxis], 0.2 * np.cos(np.pi * t)[:, np.newaxis]
    q = home + sine
    return q, np.pi * cosine + 0.0 * q, -(np.pi**2) * sine + 0.0 * q


@pytest.mark.parametrize('mass', [0.5, 1.0, 3.0])
@pytest.mark.parametrize('weight', [True, False])
def test_an_unknown_mass_at_the_tool_changes_neither_signs_nor_gravity(
    tmp_path, arm, mass, weight
):
    model, _ = arm
    loaded = with_error(model, ModelError(payload=mass))
    samples = exact_samples(loaded, SimpleNamespace(states=small_motion), 12.0, noise=0.01)
    if not weight:
        pull = np.array([loaded.gravity_torque(q) for q in samples.q])
        samples = changed(samples, effort=samples.effort - pull)
    found = inspected(archive(tmp_path / 'loaded.npz', samples), model)
    assert found.weightless is not weight
    np.testing.assert_array_equal(found.samples.effort, samples.effort)
    other = np.where(np.arange(6) == 2, -1.0, 1.0) * samples.effort
    found = inspected(archive(tmp_path / 'other.npz', changed(samples, effort=other)), model)
    np.testing.assert_array_equal(found.samples.effort, samples.effort)


@pytest.mark.parametrize(
    ('change', 'line', 'options'),
    [
        (
            lambda s: changed(s, effort=0.1 * s.effort),
            '): --efforts current takes',  # --preset ur is for currents, of several scales
            ['current', 'torque'],
        ),
        (lambda s: changed(s, np.degrees(s.q)), '--units deg', []),
        (lambda s: changed(s, s.q * [1, 1, -1, 1, 1, 1]), '--flip-positions elbow_joint', []),
        (
            lambda s: changed(s, s.q + 0.5 * np.pi * np.eye(6)[1]),
            'rad added to shoulder_lift_joint',
            [],
        ),
    ],
)
def test_what_changes_the_arm_stops_until_an_option_says_so(tmp_path, arm, change, line, options):
    model, samples = arm
    file = archive(tmp_path / 'x.npz', change(samples))
    with pytest.raises(ArmError, match=re.escape(line)):
        decided(inspected(file, model))
    for option in options:
        assert not inspected(file, model, efforts=EffortsAre(efforts=option)).open


@pytest.mark.parametrize(
    ('joint', 'unit', 'factor'),
    [(3, 'turns', 2.0 * np.pi), (1, 'turns', 2.0 * np.pi), (2, 'deg', np.pi / 180.0)],
)
def test_positions_of_one_joint_in_another_unit_are_named(tmp_path, arm, joint, unit, factor):
    model, samples = arm
    other = changed(samples, samples.q / np.where(np.arange(6) == joint, factor, 1.0))
    found = inspected(archive(tmp_path / 'x.npz', other), model, ReadAs(units='rad'))
    (line,) = found.open
    assert f'positions fit the arm with {model.joint_names[joint]} in {unit}: convert' in line


@pytest.mark.parametrize('scale', [1000.0, 1.0 / 101.0])
def test_efforts_of_one_joint_in_another_unit_are_named(tmp_path, arm, scale):
    model, samples = arm
    other = changed(samples, effort=samples.effort * np.where(np.arange(6) == 2, scale, 1.0))
    (line,) = inspected(archive(tmp_path / 'x.npz', other), model).open
    assert 'unit of the efforts: elbow_joint alone in another unit' in line
    assert not inspected(tmp_path / 'x.npz', model, efforts=EffortsAre(efforts='torque')).open


def test_efforts_that_never_change_are_refused(tmp_path, arm):
    model, samples = arm
    file = archive(tmp_path / 'x.npz', changed(samples, effort=0.0 * samples.effort + 1.0))
    with pytest.raises(ArmError, match='always the same: record measured .* --from positions'):
        inspected(file, model)


def test_clipped_efforts_with_noise_on_them_are_named(tmp_path, arm):
    model, samples = arm
    low, high = np.quantile(samples.effort[:, 1], [0.2, 0.8])
    effort, noise = samples.effort.copy(), np.random.default_rng(0).standard_normal(3000)
    effort[:, 1] = np.clip(effort[:, 1], low, high) + 0.02 * (high - low) * noise
    found = inspected(archive(tmp_path / 'x.npz', changed(samples, effort=effort)), model)
    (line,) = (x for x in found.lines if 'clipped' in x)
    assert line.startswith('efforts: shoulder_lift_joint: flat at one end')
    assert list(found.unused) == [1]
    found = inspected(archive(tmp_path / 'y.npz', samples), model)
    assert not found.unused
    assert not any('clipped' in x for x in found.lines)


def test_a_joint_with_clipped_efforts_keeps_its_parameters(tmp_path):
    samples = planar()
    low, high = np.quantile(samples.effort[:, 1], [0.2, 0.8])
    effort = np.column_stack(
        [samples.effort[:, 0], np.clip(samples.effort[:, 1], low, high), samples.effort[:, 2]]
    )
    file = archive(tmp_path / 'x.npz', changed(samples, effort=effort))
    found = command.identify(str(file), robot='planar_3r').found
    assert found.kept[1]
    assert 'its efforts are clipped' in found.lacking[1]
    said = '\n'.join(inspected(file, load_arm('planar_3r')).lines)
    assert 'at their limit' in said
    assert 'flat at one end' not in said  # which is the same


@pytest.mark.parametrize('factor', [0.5, 2.0])
def test_efforts_that_are_all_twice_or_half_as_large_are_named_with_both_readings(
    tmp_path, arm, factor
):
    model, samples = arm
    file = archive(tmp_path / 'x.npz', changed(samples, effort=factor * samples.effort))
    (line,) = inspected(file, model).open
    assert f'{factor:.2g} times N.m, or links of {factor:.2g} times the weight' in line
    given = re.search('--effort-scales ([^ ]+) with', line)[1]
    for known in (EffortsAre(effort_scales=given), EffortsAre(efforts='torque')):
        assert not inspected(file, model, efforts=known).open


def test_efforts_in_percent_of_each_limit_are_no_multiple_of_all_torques(tmp_path, arm):
    model, samples = arm
    percent = changed(samples, effort=100.0 * samples.effort / model.effort_limit)
    (line,) = inspected(archive(tmp_path / 'x.npz', percent), model).open
    assert "no N.m, currents, or shares of each drive's rated torque" in line
    assert '--preset ur or --efforts current takes' in line


def test_a_light_wrist_in_another_unit_is_named_beyond_its_limit_or_beside_its_rotor(
    tmp_path, arm
):
    model, samples = arm
    friction = 0.1 * np.eye(6)[5] * np.sign(np.gradient(samples.q, axis=0))
    for scale in (1000.0, 0.001):
        effort = (samples.effort + friction * (scale > 1.0)) * np.where(
            np.arange(6) == 5, scale, 1.0
        )
        found = inspected(archive(tmp_path / 'x.npz', changed(samples, effort=effort)), model)
        said = 'wrist_3_joint alone in another unit', 'wrist_3_joint: a rotor unlike the model'
        assert said[0 if scale > 1.0 else 1] in '\n'.join([*found.open, *found.lines])
        assert bool(found.open) == (scale > 1.0)
    assert not any('rotor' in x for x in inspected(
        archive(tmp_path / 'y.npz', samples), model).lines)  # fmt: skip


@pytest.mark.parametrize(
    'order', [slice(None, None, -1), np.random.default_rng(0).permutation(600)]
)
def test_rows_that_are_not_sorted_are_refused(tmp_path, arm, order):
    model, samples = arm
    mixed = MotionSamples(*(x[order] for x in (samples.times, samples.q, samples.effort)))
    with pytest.raises(ArmError, match='go back in .* rows: sort the rows by their time'):
        inspected(archive(tmp_path / 'x.npz', mixed), model)


@pytest.mark.parametrize('joints', [[3], [0, 3]])
def test_positions_far_beyond_a_turn_say_whether_one_joint_has_them_alone(tmp_path, arm, joints):
    model, samples = arm
    large = np.where(np.isin(np.arange(6), joints), 100.0, 1.0)
    file = archive(tmp_path / 'x.npz', changed(samples, samples.q * large))
    with pytest.raises(ArmError, match='radians beyond 18.8 are unlikely: --units deg') as error:
        inspected(file, model)
    assert ('as if its unit were another' in str(error.value)) == (len(joints) == 1)


def test_counts_of_encoders_are_neither_radians_nor_degrees(tmp_path, arm):
    model, samples = arm
    counts = archive(tmp_path / 'x.npz', changed(samples, 1e4 * samples.q))
    with pytest.raises(ArmError, match='radians nor degrees reach so far: convert counts'):
        inspected(counts, model)
    counts = archive(tmp_path / 'x.npz', changed(samples, np.degrees(np.degrees(samples.q))))
    with pytest.raises(ArmError, match='neither in radians nor in degrees: are they counts'):
        decided(inspected(counts, model, ReadAs(units='deg')))


def test_turns_of_all_joints_are_to_be_decided_and_no_fault_of_the_efforts(tmp_path, arm):
    model, samples = arm
    turns = archive(tmp_path / 'x.npz', changed(samples, samples.q / (2.0 * np.pi)))
    (line,) = inspected(turns, model).open
    assert line.startswith('positions fit the arm in turns, and not in radians')


def test_another_zero_order_and_exchanged_joints_have_options_that_read_them(tmp_path, arm):
    model, samples = arm
    order = np.array([0, 2, 1, 3, 4, 5])
    turned = changed(samples, samples.q + 0.5 * np.pi * np.eye(6)[1])
    other = MotionSamples(samples.times, samples.q[:, order], samples.effort[:, order])
    cycle = np.array([0, 2, 4, 3, 1, 5])
    under = ','.join(np.array(model.joint_names)[np.argsort(cycle)])
    for name, wrong, remedy, options in (
        ('x', turned, '--shift-positions shoulder_lift_joint=-1.5708',
         EffortsAre(shift_positions=f'shoulder_lift_joint={-0.5 * np.pi}')),
        ('y', other, '--exchange-joints shoulder_lift_joint,elbow_joint',
         EffortsAre(exchange_joints='shoulder_lift_joint,elbow_joint')),
        ('z', changed(samples, effort=samples.effort[:, cycle]), f'--effort-order {under}',
         EffortsAre(effort_order=under)),
    ):  # fmt: skip
        file = archive(tmp_path / f'{name}.npz', wrong)
        assert remedy in ' '.join(inspected(file, model).open)
        found = inspected(file, model, efforts=options)
        assert not found.open
        np.testing.assert_allclose(found.samples.q, samples.q, atol=1e-12)
        np.testing.assert_allclose(found.samples.effort, samples.effort)
    for bad in (
        EffortsAre(shift_positions='x=1'),
        EffortsAre(exchange_joints='elbow_joint'),
        EffortsAre(effort_order='elbow_joint'),
    ):
        with pytest.raises(ArmError, match='--shift|must be two joints|each of should'):
            inspected(file, model, efforts=bad)


def test_another_order_of_efforts_that_lack_gravity_is_named_as_well(tmp_path):
    model, order = load_arm('five_joint_arm'), np.array([2, 1, 0, 4, 3])
    samples = exact_samples(model, some_motion(model, 3), 12.0, noise=0.01)
    weight = np.array([model.gravity_torque(q) for q in samples.q])
    light = changed(samples, effort=(samples.effort - weight)[:, order])
    (line,) = inspected(archive(tmp_path / 'x.npz', light), model).open
    assert f'--effort-order {",".join(np.array(model.joint_names)[order])};' in line
    for kept, count in (
        (EffortsAre(effort_order=','.join(model.joint_names)), 0),
        (EffortsAre(flip_positions='none'), 1),  # says nothing of the efforts
    ):
        found = inspected(tmp_path / 'x.npz', model, efforts=kept)
        assert sum('--effort-order' in x for x in found.open) == count


def test_a_sign_that_a_symmetric_arm_has_twice_is_named_with_both_readings(tmp_path):
    model = load_arm('five_joint_arm')
    samples = exact_samples(model, some_motion(model, 3), 12.0, noise=0.01)
    reversed_roll = changed(samples, samples.q * [1, 1, 1, -1, 1])
    (line,) = inspected(archive(tmp_path / 'x.npz', reversed_roll), model).open
    first, roll = model.joint_names[0], model.joint_names[3]
    assert f'of {first}: --flip-positions {first}, or alike' in line
    assert f'of {roll}: --flip-positions {roll}' in line


def test_a_sign_of_positions_that_the_motion_does_not_show_is_named(tmp_path, arm):
    model, _ = arm
    moved = some_motion(model, 3)
    still = SimpleNamespace(
        states=lambda t: tuple(x * np.eye(6)[:5].sum(0) for x in moved.states(t))
    )
    samples = exact_samples(model, still, 12.0, noise=0.01)
    found = inspected(archive(tmp_path / 'x.npz', samples), model)
    assert 'sign of the positions: not shown by this motion: wrist_3_joint' in found.lines
    assert not found.open


def test_the_doctor_prints_one_line_each_and_its_code_says_whether_one_is_open(
    tmp_path, arm, capsys
):
    _, samples = arm
    good = archive(tmp_path / 'a.npz', samples)
    amperes = archive(tmp_path / 'b.npz', changed(samples, effort=0.1 * samples.effort))
    assert inspect_recording.main([str(good), '--robot', 'ur5e']) == 0
    said = capsys.readouterr().out.splitlines()
    for start in (
        'compared with: ur5e (--robot',
        'sampling: 250 Hz',
        'resolution',
        'sign of the efforts',
        'gravity',
        'unit of the efforts',
    ):
        assert sum(line.startswith(start) for line in said) == 1
    assert inspect_recording.main([str(amperes), '--robot', 'ur5e']) == 1
    assert capsys.readouterr().err.startswith('to decide: unit of the efforts: no N.m')


def test_the_same_findings_are_those_of_the_call(arm, tmp_path):
    _, samples = arm
    file = archive(tmp_path / 'b.npz', changed(samples, effort=0.1 * samples.effort))
    report = arm_sim.inspect_recording(file)
    found = {row['finding']: row['evidence'] for row in report.rows}
    assert found['sampling'].startswith('250 Hz')
    assert found['to decide'].startswith('unit of the efforts: no N.m')
    assert report.code == 1
    names = report.write(tmp_path, report.command())
    assert all((tmp_path / name).stat().st_size > 100 for name in names)


@pytest.mark.parametrize('behind', [-0.1, -0.012, 0.0, 0.003, 0.007, 0.2])
def test_delay_friction_and_offset_of_the_efforts_are_named(tmp_path, arm, behind):
    model, samples = arm
    speed = np.gradient(samples.q[:, 1], samples.times)
    effort = samples.effort + 5.0 * np.eye(6)[2]
    effort[:, 1] += 8.0 * np.clip(speed / 0.05, -1.0, 1.0)
    late = [np.interp(samples.times - behind, samples.times, x) for x in effort.T]
    file = archive(tmp_path / 'x.npz', changed(samples, effort=np.stack(late, 1)))
    found = inspected(file, model)
    said = dict(line.split(': ', 1) for line in found.lines)
    line = said['delay of the efforts']
    if behind:
        assert abs(float(line.split()[1]) - 1e3 * abs(behind)) < 0.5
        assert ('behind' in line) == (behind > 0.0)
        assert ('read so' in line) == (abs(behind) > 0.005) == bool(found.later)
        apart = (found.samples.effort - effort) / np.std(effort, axis=0)
        assert bool(np.abs(apart[100:-100]).max() < 0.1) == bool(found.later)
    else:
        assert line.startswith('none shown')
    assert said['friction in the efforts'] == 'shown by shoulder_lift_joint'
    name, offset = said['offset of the efforts, as recorded'].split()
    assert name == 'elbow_joint'
    assert abs(float(offset) - 5.0) < 0.2


def test_the_lag_that_identify_states_includes_how_much_later_the_efforts_were_read(tmp_path):
    samples, behind = planar(), 0.03
    late = [np.interp(samples.times - behind, samples.times, x) for x in samples.effort.T]
    file = archive(tmp_path / 'x.npz', changed(samples, effort=np.stack(late, 1)))
    called = command.identify(str(file), robot='planar_3r')
    assert abs(called.numbers['torque_lag_s'] - behind) < 1e-3
    assert any(line.startswith('torques act 30 ±') for line in called.notes)


def test_no_arm_is_written_where_no_estimate_explains_the_torques(tmp_path, capsys):
    samples = planar()
    noise = np.random.default_rng(0).standard_normal(samples.effort.shape)
    file = archive(tmp_path / 'x.npz', changed(samples, effort=noise))
    options = ['--robot', 'planar_3r', '--output-dir', str(tmp_path / 'out'), *KNOWN]
    assert command.main([str(file), *options]) == 1
    assert not (tmp_path / 'out' / 'planar_3r_identified.urdf').exists()
    assert 'of its held-back torque is not explained' in capsys.readouterr().err


def test_positions_in_turns_stop_until_an_option_says_so(tmp_path):
    model, samples = load_arm('planar_3r'), planar()
    turns = samples.q / (2.0 * np.pi)
    rows = zip(samples.times, turns, samples.effort, strict=True)
    messages = [('joint_states', t + START, t, model.joint_names, *row) for t, *row in rows]
    velocity = np.gradient(samples.q, samples.times, axis=0)
    file = write_bag(tmp_path / 'x', messages, velocity)
    assert (
        'the positions are probably turns, convert them to rad' in inspected(file, model).open[0]
    )
    assert not any('turns' in x for x in inspected(file, model, ReadAs(units='rad')).open)


def test_a_torque_that_no_estimate_explains_is_not_used(tmp_path):
    samples = planar()
    effort = samples.effort + np.sign(np.gradient(samples.q, axis=0))
    effort[:, 2] = np.abs(effort[:, 2]) - 1.0
    called = command.identify(
        str(archive(tmp_path / 'x.npz', changed(samples, effort=effort))), robot='planar_3r',
        flip_positions='none', efforts='torque', gravity='included',
    )  # fmt: skip
    assert list(called.found.lacking) == [2]
    assert called.found.kept[2]
    assert any('joint_3 keeps its given parameters' in line for line in called.notes)


def test_a_joint_without_efforts_is_named_and_keeps_its_parameters(tmp_path, arm):
    _, samples = arm
    effort = samples.effort * np.array([1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    friction = 3.0 * np.sign(np.gradient(samples.q, axis=0)) * (effort != 0.0).any(axis=0)
    file = archive(tmp_path / 'x.npz', changed(samples, effort=effort + friction))
    called = command.identify(str(file), robot='ur5e')
    assert called.found.kept[1]
    assert list(called.found.lacking) == [1]
    assert called.found.pi[61] == called.found.regressor.parameters()[61]
    assert any('shoulder_lift_joint keeps its given parameters' in line for line in called.notes)


@pytest.mark.parametrize('kind', ['mat', 'parquet', 'rtde', 'libfranka'])
def test_tables_of_other_tools_are_read_by_their_own_names(tmp_path, kind):
    t, (q, effort) = np.arange(5) * 0.01, np.random.default_rng(0).normal(size=(2, 5, 2))
    file = tmp_path / 'x.csv'
    if kind == 'mat':
        savemat(tmp_path / 'x.mat', {'t': t[:, np.newaxis], 'q': q, 'effort': effort})
        file = tmp_path / 'x.mat'
    elif kind == 'parquet':
        optional('pyarrow', 'pyarrow>=17')
        import pyarrow as arrow
        from pyarrow import parquet

        names = 'b.effort', 'a.effort', 'time', 'b.position', 'a.position'
        columns = [*effort.T[::-1], t, *q.T[::-1]]
        file = tmp_path / 'x.parquet'
        parquet.write_table(arrow.table(dict(zip(names, columns, strict=True))), file)
    elif kind == 'rtde':
        header = 'timestamp actual_q_0 actual_q_1 actual_current_0 actual_current_1'
        np.savetxt(file, np.column_stack([t, q, effort]), header=header, comments='')
    else:
        header = 'time, success_rate, state.q[0], state.q[1],state.tau_J[0], state.tau_J[1]'
        table = np.column_stack([1e3 * t, np.ones(5), q, effort])
        np.savetxt(file, table, delimiter=',', header=header, comments='')
    samples, lines = inspected_samples(file, ['a', 'b'])
    for found, wanted in zip(vars(samples).values(), (t, q, effort), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    said = {'rtde': 'motor currents in A', 'libfranka': 'with gravity'}
    assert said.get(kind, '100 Hz') in '\n'.join(lines)
