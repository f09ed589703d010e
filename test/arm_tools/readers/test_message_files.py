"""Files of messages as other programs leave them: compressed, stale, in other encodings."""

import json
import os
import re
import sqlite3
from contextlib import closing
from functools import partial

import numpy as np
import pytest
import zstandard
from bags import HEADER, KIND, STATE, STORE, TIME, write_bag
from mcap.writer import Writer as Mcap
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from arm_dynamics import ArmError
from arm_tools.readers import other_encodings, recorded_messages
from arm_tools.readers.column_names import renamed
from arm_tools.readers.findings import Doubt
from arm_tools.readers.protobuf import protobuf
from arm_tools.readers.read_options import ReadAs
from arm_tools.readers.recorded_samples import inspected_samples
from arm_tools.readers.velocities import lines_on_velocities

NAMES, START = ['a', 'b'], 1_700_000_000
TIMES = 0.01 * np.arange(60)
Q = np.column_stack([np.sin(3.0 * TIMES), 0.2 * TIMES])
EFFORT = np.column_stack([np.cos(3.0 * TIMES), 2.0 + 0.1 * TIMES])
ALL = range(60)
ROS1 = get_typestore(Stores.ROS1_NOETIC)


def stamp(k):
    return divmod(round((START + TIMES[k]) * 1e9), 10**9)


def cdr(k):
    state = STATE(HEADER(TIME(*stamp(k)), ''), NAMES, Q[k], np.zeros(0), EFFORT[k])
    return bytes(STORE.serialize_cdr(state, KIND))


def ros1(k):
    header, time = (ROS1.types[x] for x in ('std_msgs/msg/Header', 'builtin_interfaces/msg/Time'))
    state = ROS1.types[KIND](header(k, time(*stamp(k)), ''), NAMES, Q[k], np.zeros(0), EFFORT[k])
    return bytes(ROS1.serialize_ros1(state, KIND))


def in_json(k):
    seconds, nanoseconds = stamp(k)
    header = {'stamp': {'sec': seconds, 'nanosec': nanoseconds}, 'frame_id': ''}
    numbers = {'position': Q[k].tolist(), 'velocity': [], 'effort': EFFORT[k].tolist()}
    return json.dumps({'header': header, 'name': NAMES, **numbers}).encode()


def of_foxglove(k):
    seconds, nanoseconds = stamp(k)
    joints = [
        {'name': x, 'position': q, 'effort': e}
        for x, q, e in zip(NAMES, Q[k].tolist(), EFFORT[k].tolist(), strict=True)
    ]
    time = {'sec': seconds, 'nsec': nanoseconds}
    return json.dumps({'timestamp': time, 'joints': joints}).encode()


def bag(folder, rows=ALL, plugin=StoragePlugin.SQLITE3, mode=None):
    writer = Writer(folder, version=9, storage_plugin=plugin)
    if mode:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        link = writer.add_connection('/joint_states', KIND, typestore=STORE)
        for k in rows:
            writer.write(link, round((START + TIMES[k]) * 1e9), cdr(k))
    return folder


def assert_whole(path):
    return assert_whole_as(path, NAMES, ReadAs())


def assert_whole_as(path, joints, how):
    samples, lines = inspected_samples(path, joints, how)
    np.testing.assert_allclose(samples.q, Q, atol=1e-12)
    np.testing.assert_allclose(samples.effort, EFFORT, atol=1e-12)
    np.testing.assert_allclose(samples.times, START + TIMES, atol=1e-6)
    return lines


@pytest.mark.parametrize('plugin', [StoragePlugin.SQLITE3, StoragePlugin.MCAP])
@pytest.mark.parametrize('mode', [None, CompressionMode.FILE, CompressionMode.MESSAGE])
def test_a_bag_is_read_with_its_index_without_it_and_as_a_file(tmp_path, plugin, mode):
    folder = bag(tmp_path / 'x', plugin=plugin, mode=mode)
    assert not any(line.startswith('files') for line in assert_whole(folder))
    (folder / 'metadata.yaml').unlink()
    assert_whole(folder)
    assert_whole(next(folder.iterdir()))


@pytest.mark.parametrize('kind', ['db3', 'mcap'])
def test_every_file_counts_whatever_the_index_says(tmp_path, kind):
    plugin = {'db3': StoragePlugin.SQLITE3, 'mcap': StoragePlugin.MCAP}[kind]
    folder, index = tmp_path / 'x', ''
    folder.mkdir()
    for part, rows in enumerate(np.array_split(np.arange(len(TIMES)), 12)):
        own = bag(tmp_path / str(part), rows, plugin)
        (file,) = own.glob(f'*.{kind}')
        index = index or (own / 'metadata.yaml').read_text().replace(file.name, f'x_0.{kind}')
        file.rename(folder / f'x_{part}.{kind}')
    for text, said in (
        (index, 'are not in metadata.yaml, and read too'),
        (index.replace('x_0', 'y_0'), f'files: y_0.{kind} of metadata.yaml are missing'),
        ('', 'files: metadata.yaml is damaged'),
        (f'a: {"[" * 1000}', 'files: metadata.yaml is damaged'),
    ):
        (folder / 'metadata.yaml').write_text(text)
        (line,) = (x for x in assert_whole(folder) if x.startswith('files'))
        assert said in line
        assert isinstance(line, Doubt)
    (folder / 'metadata.yaml').unlink()
    assert not [x for x in assert_whole(folder) if x.startswith('files')]
    (folder / f'x_5.{kind}').unlink()
    _, lines = inspected_samples(folder, NAMES)
    line = f'files: there is none between x_4.{kind} and x_6.{kind}; is a part missing?'
    assert line in lines


def packed(number, value):
    """Return a field of a message in protobuf: an integer, below 128, or what has a length."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    value = value if isinstance(value, bytes) else b''.join(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value):
    low = bytes([value & 127 | (128 if value > 127 else 0)])
    return low + varint(value >> 7) if value > 127 else low


def schema_of(*messages, package=b'foxglove', needs=()):
    """Return a file of a schema, named as its package, which needs the files of others."""
    imports = [packed(3, x) for x in needs]
    return packed(
        1,
        [packed(1, package), packed(2, package), *imports, *messages, packed(12, b'proto3')],
    )


def message(name, *fields):
    """Return a message of a schema: fields with name, number, label, type, and type's name."""
    each = [
        packed(2, [packed(1, x.encode()), *(packed(3 + k, y) for k, y in enumerate(numbers)),
                   *([packed(6, of)] if of else [])])
        for x, *numbers, of in fields
    ]  # fmt: skip
    return packed(4, [packed(1, name), *each])


_TIME = 'timestamp', 1, 1, 11, b'.google.protobuf.Timestamp'
_OF_TIME = schema_of(
    message(b'Timestamp', ('seconds', 1, 1, 3, b''), ('nanos', 2, 1, 5, b'')),
    package=b'google.protobuf',
)
ARRAYS = schema_of(message(
    b'JointState', _TIME, ('name', 2, 3, 9, b''), ('position', 3, 3, 1, b''),
    ('velocity', 4, 3, 1, b''), ('effort', 5, 3, 1, b'')), needs=[b'google.protobuf'])  # fmt: skip
OBJECTS = schema_of(message(
    b'JointState', ('name', 1, 1, 9, b''), ('position', 2, 1, 1, b''), ('effort', 5, 1, 1, b'')
), message(b'JointStates', _TIME, ('joints', 2, 3, 11, b'.foxglove.JointState')),
    needs=[b'google.protobuf'])  # fmt: skip


def in_protobuf(k, objects=False):
    seconds, nanoseconds = divmod(round((START + TIMES[k]) * 1e9), 10**9)
    stamp = packed(1, [b'\x08', varint(seconds), b'\x10', varint(nanoseconds)])
    names = [x.encode() for x in NAMES]
    if not objects:
        numbers = [packed(3, Q[k].tobytes()), packed(5, EFFORT[k].tobytes())]
        return b''.join([stamp, *(packed(2, x) for x in names), *numbers])
    one_by_one = zip(names, Q[k], EFFORT[k], strict=True)
    return stamp + b''.join(
        packed(2, [packed(1, x), b'\x11' + q.tobytes(), b'\x29' + effort.tobytes()])
        for x, q, effort in one_by_one
    )


def mcap(file, schema, encoding, data, chunk_size=1 << 20, described=b''):
    with file.open('wb') as stream:
        writer = Mcap(stream, chunk_size=chunk_size)
        writer.start(profile='', library='another')
        kind = writer.register_schema(schema, 'other', described) if schema else 0
        channel = writer.register_channel('/joint_states', encoding, kind)
        for k in range(len(TIMES)):
            time = round((START + TIMES[k]) * 1e9)
            writer.add_message(channel, time, data(k), time)
        writer.finish()
    return file


@pytest.mark.parametrize(
    ('schema', 'encoding', 'data'),
    [
        (KIND, 'cdr', cdr),
        (KIND, 'json', in_json),
        ('sensor_msgs/JointState', 'json', in_json),
        ('sensor_msgs/JointState', 'ros1', ros1),
        ('foxglove.JointStates', 'json', of_foxglove),
    ],
)
def test_joint_states_of_other_encodings_are_read(tmp_path, schema, encoding, data):
    assert_whole(mcap(tmp_path / 'x.mcap', schema, encoding, data))


def test_messages_without_a_schema_are_named(tmp_path):
    file = mcap(tmp_path / 'x.mcap', '', 'json', in_json)
    with pytest.raises(ArmError, match=r'it has none, but /joint_states \(no schema in json\)'):
        inspected_samples(file, NAMES)


def test_joint_states_in_protobuf_are_read_by_their_schema(tmp_path):
    for kind, objects in (('JointState', False), ('JointStates', True)):
        file, schema = tmp_path / f'{kind}.mcap', _OF_TIME + (OBJECTS if objects else ARRAYS)
        own = partial(in_protobuf, objects=objects)
        assert_whole(mcap(file, f'foxglove.{kind}', 'protobuf', own, described=schema))
    short = mcap(tmp_path / 'x.mcap', 'foxglove.JointState', 'protobuf',
                 lambda k: in_protobuf(k)[:-1], described=_OF_TIME + ARRAYS)  # fmt: skip
    with pytest.raises(ArmError, match='a message in protobuf is damaged'):
        inspected_samples(short, NAMES)


def test_zeros_that_protobuf_leaves_out_are_zeros():
    read = protobuf(_OF_TIME + OBJECTS, 'foxglove.JointStates')
    assert read(packed(2, packed(1, b'a'))) == {  # and no stamp, which would be 1970
        'joints': [{'name': 'a', 'position': 0.0, 'effort': 0.0}]
    }


def test_joints_of_other_names_are_read_by_the_option_that_the_refusal_has(tmp_path):
    prefixed = mcap(
        tmp_path / 'y.mcap', KIND, 'json',
        lambda k: in_json(k).replace(b'"a"', b'"my_a_joint"').replace(b'"b"', b'"my_b_joint"'),
    )  # fmt: skip
    with pytest.raises(ArmError, match=r"--columns 'position=my_\{joint\}_joint' reads these"):
        inspected_samples(prefixed, NAMES)
    assert_whole_as(prefixed, NAMES, ReadAs(columns='position=my_{joint}_joint'))
    assert renamed(['a', 'b'], ['l_a', 'l_b', 'r_a', 'r_b', 'r_c']) == (
        "; --columns 'position=l_{joint}', or --columns 'position=r_{joint}' reads these"
    )
    panda, fer = ([f'{x}_joint{k}' for k in range(1, 8)] for x in ('panda', 'fer'))
    counted = "; --columns 'position=fer_joint{1}' reads these"
    assert renamed(panda, fer) == counted
    fewer = renamed([*panda, 'panda_finger_joint1'], fer)
    assert fewer.startswith(f"{counted}; --robot 'NAME joints:=panda_joint1,")
    assert renamed(panda[:6], fer) == renamed([*panda, 'finger'], panda) == ''
    with pytest.raises(ArmError, match='messages have no columns but names of joints'):
        inspected_samples(prefixed, NAMES, ReadAs(columns='time=t'))


def test_joint_states_that_are_not_read_are_named_with_a_remedy(tmp_path):
    file = mcap(tmp_path / 'x.mcap', 'my.JointStates', 'protobuf', lambda _: b'\x08\x01')
    with pytest.raises(ArmError, match=r'/joint_states has my.JointStates in protobuf, whi'):
        inspected_samples(file, NAMES)


def test_a_file_without_joint_states_is_named_with_what_it_has(tmp_path):
    file = mcap(tmp_path / 'x.mcap', 'trajectory_msgs/msg/JointTrajectory', 'cdr', lambda _: b'')
    with pytest.raises(ArmError, match=r'none, but /joint_states \(trajectory_msgs/msg/JointTr'):
        inspected_samples(file, NAMES)


@pytest.mark.parametrize(
    ('name', 'why'),
    [
        ('x.bag', 'it has x.bag: rosbags-convert converts'),
        ('x.csv', 'it has x.csv: give one of these'),
        ('x.csv y.csv', 'give one of these, or call those of positions and of efforts q and tau'),
        (' '.join(f'{k}.csv' for k in range(10)), '5.csv and 4 more: .* `cat [*].csv > all.csv`'),
        ('features.json x.tfrecord-00000-of-00001', 'is a data set of TensorFlow .* an .npz'),
        ('', 'is empty'),
    ],
)
def test_a_folder_without_messages_is_named_with_what_it_has(tmp_path, name, why):
    for each in name.split():
        (tmp_path / each).touch()
    with pytest.raises(ArmError, match=why):
        inspected_samples(tmp_path, NAMES)


def test_a_pipe_is_refused_before_it_is_read(tmp_path):
    for name in ('x.csv', 'x.mcap'):
        os.mkfifo(tmp_path / name)
        with pytest.raises(ArmError, match='not a regular file, as a pipe'):
            inspected_samples(tmp_path / name, NAMES)


def test_messages_that_a_recorder_has_not_moved_into_the_file_are_named(tmp_path):
    folder = bag(tmp_path / 'x')
    (file,) = folder.glob('*.db3')
    with closing(sqlite3.connect(file)) as base:  # as the recorder has it while it runs
        base.execute('PRAGMA journal_mode=WAL')
        base.execute('PRAGMA wal_autocheckpoint=0')
        base.execute('UPDATE messages SET timestamp = timestamp')
        base.commit()
        for path in (folder, file):
            (line,) = (x for x in assert_whole(path) if x.startswith('files'))
            assert 'x.db3-wal has messages that are not read: end the recorder' in line


def test_an_mcap_file_that_ends_before_its_end_is_named(tmp_path):
    whole = mcap(tmp_path / 'x.mcap', KIND, 'cdr', cdr, chunk_size=2000).read_bytes()
    assert not any('no end' in line for line in assert_whole(tmp_path / 'x.mcap'))
    half = tmp_path / 'half.mcap'
    half.write_bytes(whole[: len(whole) // 2])
    samples, lines = inspected_samples(half, NAMES)
    assert 0 < len(samples.times) < len(TIMES)
    (line,) = (x for x in lines if x.startswith('files: no end of half.mcap, as of a recorder'))
    assert isinstance(line, Doubt)
    half.write_bytes(whole[:500])
    with pytest.raises(ArmError, match='no joint states of a, b; .*; files: no end of half.mcap'):
        inspected_samples(half, NAMES)


def test_what_saves_a_damaged_mcap_file_is_named(tmp_path):
    whole = mcap(tmp_path / 'x.mcap', KIND, 'cdr', cdr).read_bytes()
    (tmp_path / 'x.mcap').write_bytes(whole[:400] + bytes(200) + whole[600:])
    with pytest.raises(ArmError, match='; `mcap recover x.mcap -o whole.mcap` saves what is th'):
        inspected_samples(tmp_path / 'x.mcap', NAMES)
    (tmp_path / 'y.mcap').write_text('time,a.position')
    (tmp_path / 'empty.mcap').touch()
    for name in ('y.mcap', 'empty.mcap', 'missing.mcap', 'missing.db3'):
        with pytest.raises(ArmError, match='cannot be read: ') as refused:
            inspected_samples(tmp_path / name, NAMES)
        assert 'saves what is there' not in str(refused.value)


def test_efforts_on_a_topic_without_positions_and_other_arms_have_a_remedy(tmp_path):
    messages = []
    for k in ALL:
        at = START + TIMES[k]
        messages += [
            ('states', at, at, NAMES, Q[k], []),
            ('efforts', at, at, NAMES, [], EFFORT[k]),
        ]
    folder = write_bag(tmp_path / 'x', messages)
    for topic in ('', '/efforts'):
        with pytest.raises(ArmError, match='/states has positions, but no efforts: record a topi'):
            inspected_samples(folder, NAMES, ReadAs(topic=topic))
    with pytest.raises(ArmError, match='it has a, b; --robot names the arm that was recorded'):
        inspected_samples(folder, ['shoulder', 'elbow'])


def test_velocities_that_are_filtered_are_named_with_their_delay():
    times = np.arange(0.0, 8.0, 0.002)
    q, v = np.sin(3.0 * times)[:, np.newaxis], 3.0 * np.cos(3.0 * times)[:, np.newaxis]
    late = np.array(v)  # a first-order filter of 10 ms
    for k in range(1, len(late)):
        late[k] = late[k - 1] + 0.002 / 0.012 * (v[k] - late[k - 1])
    assert lines_on_velocities(times, q, v, 'a') == ['velocities: those of the positions']
    (line,) = lines_on_velocities(times, q, late, 'a')
    assert 8.0 < float(re.search(r'about ([\d.]+) ms behind', line)[1]) < 12.0
    assert lines_on_velocities(times, q, np.full_like(v, np.nan), 'a') == [
        'velocities: not recorded'
    ]
    (line,) = lines_on_velocities(times, q, q, 'a')
    assert 'not those of the positions' in line
    assert lines_on_velocities(times, q, 0.0 * v, 'a') == ['velocities: all are 0; not used']


def test_velocities_of_exchanged_joints_are_named_and_one_that_is_missing_is_left_out():
    times = np.arange(0.0, 8.0, 0.002)
    phases = times[:, np.newaxis] * np.linspace(2.0, 3.0, 9)
    q, v, names = np.sin(phases), np.cos(phases) * np.linspace(2.0, 3.0, 9), 'abcdefghi'
    (line,) = lines_on_velocities(times, q, v[:, [8, *range(1, 8), 0]], names)
    assert 'under a is that of i, under i is that of a' in line
    assert isinstance(line, Doubt)
    v[:, 4] = np.nan
    assert lines_on_velocities(times, q, v, names) == ['velocities: those of the positions']
    alike = np.sin(phases[:, :1]) * [1.0, 2.0]
    assert lines_on_velocities(times, alike, np.gradient(alike, times, axis=0), 'ab') == [
        'velocities: those of the positions'
    ]


@pytest.mark.parametrize(
    ('unit', 'velocities', 'says'),
    [
        (2.0 * np.pi, 1.0, '6.283 times .* not used: the positions are probably turns, convert'),
        (np.pi / 180.0, 1.0, '0.01745 times .* not used: .* degrees, --units deg reads them'),
        (-1.0, 1.0, '-1 times those of the positions, not used$'),
        (1.0, 180.0 / np.pi, '57.3 times those of the positions, not used$'),
    ],
)
def test_positions_in_turns_are_named_by_the_velocities(unit, velocities, says):
    times = np.arange(0.0, 8.0, 0.002)
    q, v = np.sin(3.0 * times)[:, np.newaxis], 3.0 * np.cos(3.0 * times)[:, np.newaxis]
    (line,) = lines_on_velocities(times, q / unit, velocities * v, 'a')
    assert re.search(says, line)


def test_what_a_packed_file_or_message_unpacks_to_has_a_limit(tmp_path, monkeypatch):
    zeros = zstandard.compress(bytes(1_000_000))
    (tmp_path / 'x.mcap.zst').write_bytes(zeros)
    monkeypatch.setattr(recorded_messages, 'MORE', 0)
    with pytest.raises(ArmError, match='unpacks to over 200 times its size: unpack it'):
        inspected_samples(tmp_path / 'x.mcap.zst', NAMES)
    monkeypatch.setattr(other_encodings, 'LARGEST_MESSAGE', 1_000_000)
    assert other_encodings.plain(zeros) == bytes(1_000_000)
    monkeypatch.setattr(other_encodings, 'LARGEST_MESSAGE', 999_999)
    with pytest.raises(ArmError, match='a message of more than'):
        other_encodings.plain(zeros)


@pytest.mark.parametrize(
    'text', ['[1, 2]', '{"name": 3}', '[' * 100_000, '{"timestamp": {"sec": "x"}}']
)
def test_a_message_in_json_that_is_no_state_is_refused_in_one_line(text):
    of_json = other_encodings.reader_of(KIND, 'json')[1]
    with pytest.raises(ArmError, match='^a message in JSON is no JointState: .') as error:
        of_json(text.encode())
    assert '\n' not in str(error.value)
