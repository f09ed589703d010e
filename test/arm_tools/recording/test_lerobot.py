"""Recordings as a LeRobotDataset: accepted by lerobot-doctor, and the same numbers when read."""

import io
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from optional import optional
from PIL import Image
from rosbags.typesys import Stores, get_typestore

ARROW = optional('pyarrow', 'pyarrow>=17')

import pyarrow  # noqa: E402
from identification_samples import read_samples  # noqa: E402
from pyarrow import parquet  # noqa: E402

from arm_dynamics.checks import ArmError  # noqa: E402
from arm_tools.commands import export  # noqa: E402
from arm_tools.readers.findings import Doubt  # noqa: E402
from arm_tools.readers.lerobot_reader import INFO  # noqa: E402
from arm_tools.readers.read_options import ReadAs  # noqa: E402
from arm_tools.readers.recorded_samples import inspected_samples, read_followed  # noqa: E402
from arm_tools.recording.lerobot import episode_of  # noqa: E402
from arm_tools.recording.mcap_file import McapFile  # noqa: E402
from arm_tools.recording.ros.recorded_run import RecordedRun  # noqa: E402

STORE = get_typestore(Stores.ROS2_JAZZY)
TYPES, JOINTS = STORE.types, ['a', 'b']
RATE, COUNT = 500, 1001  # of the states
BEGIN = 3  # number of the first state with a command


def header(k):
    stamp = TYPES['builtin_interfaces/msg/Time'](*divmod(k * (10**9 // RATE), 10**9))
    return TYPES['std_msgs/msg/Header'](stamp, '')


def motion(k):
    """Return position, velocity and effort of state k, and the command that answers it."""
    t = np.asarray(k)[..., np.newaxis] / RATE
    phase = 3.0 * t + [0.0, 1.0]
    return np.sin(phase), 3.0 * np.cos(phase), 5.0 * np.sin(2.0 * phase), np.sin(phase) + 0.01


def pixels(k):
    """Return the picture (6, 8, 3) of a camera with 10 pictures per second."""
    return np.full((6, 8, 3), [k % 256, 7, 200], dtype=np.uint8) + np.arange(
        8, dtype=np.uint8
    ).reshape(1, 8, 1)


def recording(path, commands=True):
    file = McapFile(path)
    kinds = {
        '/joint_states': 'sensor_msgs/msg/JointState',
        '/joint_commands': 'sensor_msgs/msg/JointState',
        '/wrist/color/image_raw': 'sensor_msgs/msg/Image',
    }
    for topic, kind in kinds.items():
        file.open_channel(topic, kind, kind)

    def write(topic, k, *fields):
        message = TYPES[kinds[topic]](header(k), *fields)
        data = bytes(STORE.serialize_cdr(message, kinds[topic]))
        file.write(topic, data, k * (10**9 // RATE))

    for k in range(COUNT):
        *state, command = motion(k)
        write('/joint_states', k, JOINTS, *state)
        if commands and k >= BEGIN:
            write('/joint_commands', k, JOINTS, command, np.empty(0), np.empty(0))
        if k % 50 == 0:
            write('/wrist/color/image_raw', k, 6, 8, 'rgb8', 0, 24, pixels(k // 50).reshape(-1))
    file.add_metadata('task', {'facts': json.dumps({'task': 'wave'})})
    file.close()
    return str(path)


@pytest.fixture(scope='module')
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp('lerobot')
    files = [recording(folder / f'{name}.mcap') for name in ('one', 'two')]
    assert export.main([*files, '--output-dir', str(folder / 'set')]) in (0, None)
    return folder / 'set'


@pytest.mark.slow
def test_an_episode_has_the_states_next_to_its_frames_and_the_commands_that_answer_them(dataset):
    rows = parquet.read_table(dataset / 'data/chunk-000/file-000.parquet').to_pylist()
    count = (COUNT - 1 - BEGIN) // 10 + 1
    assert len(rows) == 2 * count
    k = BEGIN + 10 * np.arange(count)
    q, v, effort, command = motion(k)
    second = rows[count:]
    assert_allclose([x['observation.state'] for x in second], np.hstack([q, v]), rtol=1e-6)
    assert_allclose([x['observation.effort'] for x in second], effort, rtol=1e-6, atol=1e-6)
    assert_allclose([x['action'] for x in second], command, rtol=1e-6)
    assert_allclose([x['timestamp'] for x in second], np.arange(count) / 50, atol=1e-6)
    assert [x['index'] for x in rows] == list(range(2 * count))
    assert [x['episode_index'] for x in rows] == [0] * count + [1] * count
    for number, row in zip(k, second, strict=True):
        shown = Image.open(io.BytesIO(row['observation.images.wrist']['bytes']))
        assert_array_equal(np.array(shown), pixels(number // 50))


def test_its_statistics_are_those_of_its_numbers(dataset):
    rows = parquet.read_table(dataset / 'data/chunk-000/file-000.parquet').to_pylist()
    stats = json.loads((dataset / 'meta/stats.json').read_text())
    action = np.array([x['action'] for x in rows])
    for name, found in {
        'mean': action.mean(0),
        'std': action.std(0),
        'max': action.max(0),
    }.items():
        assert_allclose(stats['action'][name], found, rtol=1e-6)
    assert_allclose(stats['action']['q90'], np.quantile(action, 0.9, axis=0), rtol=1e-6)
    assert stats['action']['count'] == [len(rows)]
    assert np.array(stats['observation.images.wrist']['mean']).shape == (3, 1, 1)
    (tasks,) = parquet.read_table(dataset / 'meta/tasks.parquet').to_pylist()
    assert tasks == {'task_index': 0, 'task': 'wave'}


@pytest.mark.slow
def test_lerobot_doctor_finds_no_error(dataset):
    folder = optional('lerobot_doctor', 'lerobot-doctor==0.2.0')
    command = [sys.executable, '-m', 'lerobot_doctor.cli', str(dataset), '--json']
    code = 'import sys; from lerobot_doctor.cli import main; main(sys.argv[1:])'
    command[1:3] = ['-c', code]
    path = os.pathsep.join(filter(None, [folder, ARROW, os.environ.get('PYTHONPATH')]))
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {'PYTHONPATH': path}
    )
    report = json.loads(done.stdout)
    assert len(report['checks']) > 8
    assert [x for x in report['checks'] if x['severity'] not in ('PASS', 'WARN')] == []


def test_it_is_read_as_a_recording(dataset):
    samples = read_samples(dataset, ['b', 'a'])
    episode = episode_of(dataset.parent / 'one.mcap', 50)
    count = len(episode.numbers['action'])
    q, effort = episode.numbers['observation.state'], episode.numbers['observation.effort']
    assert_allclose(samples.q[:count], q[:, [1, 0]], rtol=1e-6)
    assert_allclose(samples.effort[count:], effort[:, [1, 0]], rtol=1e-6, atol=1e-6)
    assert [len(each) for each in samples.pieces(5.0)] == [count, count]
    with pytest.raises(ArmError, match=r'observation.state has no c.pos; it has a.pos, b.pos'):
        read_samples(dataset, ['c'])
    with pytest.raises(ArmError, match='give the MCAP file that it was exported from'):
        RecordedRun.load(dataset)
    with pytest.raises(ArmError, match='give the MCAP file that it was exported from'):
        episode_of(dataset, 50)
    unnamed = shutil.copytree(dataset, dataset.parent / 'unnamed')
    facts = json.loads((unnamed / INFO).read_text())
    facts['features']['observation.state']['names'] = None
    (unnamed / INFO).write_text(json.dumps(facts))
    with pytest.raises(ArmError, match='it has no names: write them into meta/info.json'):
        read_samples(unnamed, ['a'])


@pytest.mark.slow
def test_mistakes_are_refused_in_one_line(dataset, tmp_path, capsys):
    def refused(*words):
        assert export.main(list(words)) == 1
        return capsys.readouterr().err

    file = str(dataset.parent / 'one.mcap')
    assert '500 states per second; --fps is 1000' in refused(file, '--fps', '1000')
    bare = recording(tmp_path / 'bare.mcap', commands=False)
    assert 'it has no joint_commands' in refused(bare)
    (tmp_path / 'data').mkdir()
    (tmp_path / 'data/x.parquet').write_text('')
    assert 'x.parquet' in refused(file, '--output-dir', str(tmp_path))


POSITIONS, EFFORTS = ['a.pos', 'b.pos'], ['a.effort', 'b.effort']


@pytest.mark.parametrize(
    ('version', 'state', 'effort'),
    [
        ('v3.0', POSITIONS, EFFORTS),
        ('v3.0', JOINTS, JOINTS),
        ('v2.1', {'motors': POSITIONS}, {'motors': EFFORTS}),
        ('v3.0', [*POSITIONS, 'a.torque', 'b.torque'], None),
        ('v2.1', {'motors': POSITIONS}, None),
    ],
)
def test_datasets_of_other_programs_are_read(tmp_path, version, state, effort):
    q, tau, _, command = motion(np.arange(50))
    actions = POSITIONS if len(state) == 4 else state
    features = {'observation.state': (state, q), 'action': (actions, command)}
    if effort:
        features['observation.effort'] = effort, tau
    if isinstance(state, list) and len(state) == 4:
        features['observation.state'] = state, np.hstack([q, tau])
    info = {x: {'dtype': 'float32', 'names': names} for x, (names, _) in features.items()}
    columns = {x: numbers.tolist() for x, (_, numbers) in features.items()}
    columns |= {'frame_index': np.arange(50) % 40, 'timestamp': np.arange(50) / 50.0}
    for part in ('meta', 'data/chunk-000'):
        (tmp_path / part).mkdir(parents=True)
    facts = {'codebase_version': version, 'fps': 50, 'features': info}
    (tmp_path / 'meta/info.json').write_text(json.dumps(facts))
    parquet.write_table(pyarrow.table(columns), tmp_path / 'data/chunk-000/episode_000000.parquet')
    if effort or len(state) == 4:
        samples = read_samples(tmp_path, JOINTS)
        assert_allclose(samples.q, q)
        assert_allclose(samples.effort, tau)
    else:
        with pytest.raises(ArmError, match='has no torques.*--from positions'):
            read_samples(tmp_path, JOINTS)
    followed, _ = read_followed(tmp_path, JOINTS)
    assert_allclose(followed.times, np.arange(40) / 50.0)
    assert_allclose(followed.q, q[:40])
    assert_allclose(followed.command, command[:40])


@pytest.mark.parametrize(
    ('fps', 'names', 'said'),
    [
        (50, POSITIONS, ''),
        (
            25,
            POSITIONS,
            r'lasts 0.98 s by timestamp, and 1.96 s by frame_index and the fps .*, 25',
        ),
        (50, [*POSITIONS, 'c.pos'], r'observation.state has 2 numbers in each frame, and 3 names'),
    ],
)
def test_a_dataset_whose_rate_or_names_are_not_those_of_its_frames_is_refused(
    tmp_path, fps, names, said
):
    q, tau, *_ = motion(np.arange(50))
    features = {'observation.state': names, 'observation.effort': EFFORTS, 'timestamp': None}
    info = {name: {'dtype': 'float32', 'names': x} for name, x in features.items()}
    numbers = q.tolist(), tau.tolist(), np.float32(np.arange(50) / 50.0)
    columns = dict(zip(features, numbers, strict=True)) | {'frame_index': np.arange(50)}
    for part in ('meta', 'data'):
        (tmp_path / part).mkdir()
    facts = {'codebase_version': 'v2.1', 'fps': fps, 'features': info}
    (tmp_path / 'meta/info.json').write_text(json.dumps(facts))
    parquet.write_table(pyarrow.table(columns), tmp_path / 'data/episode_000000.parquet')
    if said:
        with pytest.raises(ArmError, match=said):
            read_samples(tmp_path, JOINTS)
    else:
        assert_allclose(read_samples(tmp_path, JOINTS).q, q)


def test_what_a_dataset_lacks_is_named_with_a_remedy(tmp_path):
    q, tau, *_ = motion(np.arange(200))
    names = {'observation.state': ['joint_1', 'joint_2'], 'observation.torque': ['joint_1']}
    info = {name: {'dtype': 'float32', 'names': x} for name, x in names.items()}
    facts = {'codebase_version': 'v2.1', 'fps': 50, 'features': info, 'total_frames': 400}
    for part in ('meta', 'data/chunk-000'):
        (tmp_path / part).mkdir(parents=True)

    def written():
        (tmp_path / INFO).write_text(json.dumps(facts))
        return tmp_path

    with pytest.raises(ArmError, match=r"; --columns 'position=joint_\{1\}' reads these"):
        read_samples(written(), JOINTS)
    counted = ReadAs(columns='position=joint_{1}')
    with pytest.raises(
        ArmError, match=r'no observation.effort \(rename one of observation.torque'
    ):
        read_samples(tmp_path, JOINTS, counted)
    info['observation.effort'] = info.pop('observation.state').copy()
    info['observation.state'] = info['observation.effort']
    columns = {'observation.state': q.tolist(), 'observation.effort': tau.tolist()}
    file = tmp_path / 'data/chunk-000/episode_000000.parquet'
    parquet.write_table(pyarrow.table(columns | {'frame_index': np.arange(200)}), file)
    samples, lines = inspected_samples(written(), JOINTS, counted)
    assert_allclose(samples.effort, tau)
    assert lines[0] == 'files: 200 frames are there, and 400 stated in meta/info.json'
    assert isinstance(lines[0], Doubt)
    columns['observation.state'] = (60.0 * q).tolist()
    parquet.write_table(pyarrow.table(columns | {'frame_index': np.arange(200)}), file)
    facts['total_frames'] = 200
    _, lines = inspected_samples(written(), JOINTS, counted)
    assert lines[0].startswith('positions: none is beyond 100; are they degrees, or per cent')
    file.with_name('episode_000001.parquet').write_text('version https://git-lfs.github.com/spec')
    with pytest.raises(ArmError, match=r'episode_000001.parquet is a pointer of Git LFS'):
        read_samples(tmp_path, JOINTS, counted)
    (tmp_path / INFO).write_text('{"fps": 50')
    file.with_name('episode_000001.parquet').unlink()
    with pytest.raises(ArmError, match='meta/info.json is no JSON: '):
        read_samples(tmp_path, JOINTS)
