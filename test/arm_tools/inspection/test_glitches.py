"""Recordings of several publishers, of glitches, and of stamps that say little."""

import numpy as np
import pytest
from arms import load_arm
from bags import START, write_bag
from identification_samples import exact_samples, some_motion

from arm_dynamics import ArmError
from arm_tools.inspection.inspected import inspected
from arm_tools.inspection.position_units import in_radians
from arm_tools.inspection.wrong_states import spikes
from arm_tools.readers.joint_streams import Stream, timed
from arm_tools.readers.read_options import AS_FOUND
from arm_tools.readers.recorded_samples import inspected_samples


@pytest.fixture(scope='module')
def arm():
    """Return the model of an arm, and an exact recording of it."""
    model = load_arm('planar_3r')
    return model, exact_samples(model, some_motion(model, 3), 5.0)


def states(names, samples, topic='joint_states', later=0.0):
    rows = zip(samples.times, samples.q, samples.effort, strict=True)
    return [(topic, t + START + later, t, names, q, effort) for t, q, effort in rows]


def refusal(folder, model, messages):
    with pytest.raises(ArmError) as refused:
        inspected(write_bag(folder, sorted(messages, key=lambda x: x[1])), model)
    return str(refused.value)


def test_joints_in_two_publishers_are_named_with_what_each_has(tmp_path, arm):
    model, samples = arm
    messages = []
    for topic, joints in (('arm', [0, 1]), ('wrist', [2])):
        for _, received, stamp, _, q, effort in states((), samples, later=0.001 * joints[0]):
            names = [model.joint_names[k] for k in joints]
            messages.append((topic, received, stamp, names, q[joints], effort[joints]))
    one, two, three = model.joint_names
    line = refusal(tmp_path / 'bag', model, messages)
    assert (
        f'no message has all of {one}, {two}, {three}: /arm has {one}, {two}; /wrist has' in line
    )


def test_commands_alone_and_a_joint_twice_are_named(tmp_path, arm):
    model, samples = arm
    line = refusal(tmp_path / 'a', model, states(model.joint_names, samples, 'joint_commands'))
    assert 'it has none; /joint_commands has commands, which are no states' in line
    twice = [
        (
            *x[:3],
            [*model.joint_names, model.joint_names[0]],
            np.append(x[4], 0),
            np.append(x[5], 0),
        )
        for x in states(model.joint_names, samples)
    ]
    assert f"the joint '{model.joint_names[0]}' 2 times" in refusal(tmp_path / 'b', model, twice)


def test_states_with_efforts_of_nan_are_left_out(tmp_path, arm):
    model, samples = arm
    messages = states(model.joint_names, samples)
    messages[::10] = [(*x[:5], x[5] * np.nan) for x in messages[::10]]
    found = inspected(write_bag(tmp_path / 'bag', messages), model)
    assert len(found.samples.times) == len(messages) - len(messages[::10])
    assert 'with efforts' in found.lines[0]
    assert any('lack a number, and are not read' in line for line in found.lines)


def test_one_state_of_zeros_is_left_out_and_named(tmp_path, arm):
    model, samples = arm
    q = samples.q.copy()
    k = 100 + int(np.abs(q[100:-100]).max(axis=1).argmax())
    q[k] = 0.0
    assert (spikes(q).any(axis=1) == (np.arange(len(q)) == k)).all()
    assert not spikes(samples.q).any()
    glitch = states(model.joint_names, samples)
    glitch[k] = (*glitch[k][:4], q[k], glitch[k][5])
    found = inspected(write_bag(tmp_path / 'bag', glitch), model)
    assert any(f'in 1 of {len(q)} states, not read' in line for line in found.lines)
    np.testing.assert_allclose(found.samples.times, np.delete(samples.times, k), atol=1e-9)


def test_an_arm_that_stands_still_shows_no_sign(tmp_path, arm):
    model, samples = arm
    messages = [(*x[:4], 0.0 * x[4] + 0.3, x[5]) for x in states(model.joint_names, samples)]
    found = inspected(write_bag(tmp_path / 'bag', messages), model)
    assert found.open == []
    assert (
        found.lines[-1]
        == 'conventions: no joint moves, so that nothing shows what the numbers are'
    )


@pytest.mark.parametrize(
    ('stamps', 'says'),
    [
        (np.repeat(np.arange(1.0, 51.0), 2), '50 of 100 states have the stamp of the one before, '
         'not read'),
        (np.floor(np.linspace(1.0, 5.0, 100)), '95 of 100 states have the stamp of the one '
         'before, not read (--clock receive)'),
    ],
)  # fmt: skip
def test_stamps_that_repeat_are_named(stamps, says):
    q = np.linspace(0.0, 1.0, len(stamps))[:, np.newaxis]
    stream = Stream('/s', np.arange(len(q)), stamps, np.linspace(1.0, 5.0, len(q)), q, q, q)
    assert timed(stream, AS_FOUND)[1][1:] == [f'clock: {says}']


def test_few_positions_that_no_joint_has_are_counted():
    q = np.zeros((100, 1))
    q[7] = 50.0
    with pytest.raises(ArmError, match='reaches 50 in 1 of 100 states; .* the file in deg'):
        in_radians(q, ['a'], np.array([False]), 'auto')


def test_a_damaged_db3_is_refused_with_what_saves_it(tmp_path):
    (tmp_path / 'bag_0.db3').write_bytes(b'SQLite format 3' + 5000 * b'x')
    with pytest.raises(ArmError, match=r'sqlite3 bag_0.db3 .recover \| sqlite3 whole.db3'):
        inspected_samples(tmp_path / 'bag_0.db3', ['a'])


def test_grad_of_a_header_is_named_as_degrees(tmp_path):
    (tmp_path / 'x.csv').write_text('time,a.position [Grad],a.effort\n0,90,1\n0.1,180,1\n')
    samples, lines = inspected_samples(tmp_path / 'x.csv', ['a'])
    np.testing.assert_allclose(samples.q[:, 0], [np.pi / 2, np.pi])
    assert 'file: read in Grad (as degrees, 360 a turn), as the units of the header' in lines
