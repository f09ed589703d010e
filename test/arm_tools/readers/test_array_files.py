"""Recordings in files of arrays, as other people write them."""

import json
import pickle
import re
import sys

import numpy as np
import pytest
from optional import optional
from scipy.io import savemat

from arm_dynamics.checks import ArmError
from arm_tools.readers.read_options import ReadAs
from arm_tools.readers.recorded_samples import inspected_samples, read_voltages

JOINTS = 'a', 'b'
TIMES = 0.02 * np.arange(50)
Q = np.column_stack([np.sin(3.0 * TIMES), np.cos(2.0 * TIMES)])
EFFORT = np.column_stack([10.0 * np.cos(TIMES), 4.0 + np.sin(TIMES)])
OWN = {'t': TIMES, 'q': Q, 'effort': EFFORT}
LISTS = {name: x.tolist() for name, x in OWN.items()}
ROWS = [dict(zip(LISTS, row, strict=True)) for row in zip(*LISTS.values(), strict=True)]


def rows_of(**others):
    return [row | {name: x[k] for name, x in others.items()} for k, row in enumerate(ROWS)]


def structured():
    kinds = [('t', float), ('q', float, 2), ('effort', float, 2)]
    array = np.empty(len(TIMES), dtype=kinds)
    for name, values in OWN.items():
        array[name] = values
    return array


def written(path, content):
    """Write arrays, rows or bytes as the file's name says."""
    kind = path.suffix
    if kind == '.npz':
        np.savez(path, **content)
    elif kind == '.npy':
        np.save(path, content)
    elif kind == '.mat':
        savemat(path, content)
    elif kind == '.jsonl':
        path.write_text('\n'.join(map(json.dumps, content)) + '\n')
    else:
        path.write_text(json.dumps(content))
    return path


def write_parquet(path, columns):
    optional('pyarrow', 'pyarrow>=17')
    import pyarrow as arrow
    from pyarrow import parquet

    parquet.write_table(arrow.table(columns), path)


TURNED = {'t': TIMES[np.newaxis], 'q': Q.T, 'effort': EFFORT.T}
EACH = {'t': TIMES, 'q1': Q[:, 0], 'q2': Q[:, 1], 'tau1': EFFORT[:, 0], 'tau2': EFFORT[:, 1]}
SWAPPED = [['b', 'a']] * len(TIMES)
READ = {  # file, what is in it, --columns
    'rows of joints': ('x.npz', TURNED, ''),
    'arrays of a structure': ('x.npy', structured(), ''),
    'lists': ('x.json', LISTS, ''),
    'one object per time': ('x.json', ROWS, ''),
    'one object per time within another': ('x.json', {'states': ROWS}, ''),
    'lines of objects': ('x.jsonl', ROWS, ''),
    'an array per joint': ('x.mat', EACH, 'time=t,position=q{1},effort=tau{1}'),
    'a column per joint': (
        'x.npz',
        {name: x[:, np.newaxis] for name, x in EACH.items()},
        'time=t,position=q{1},effort=tau{1}',
    ),
    'a struct in a struct': (
        'x.mat',
        {'q': {'Time': TIMES, 'Data': Q}, 'tau': {'Data': EFFORT}},
        'time=q/Time,position=q/Data,effort=tau/Data',
    ),
    'groups': (
        'x.json',
        {'observations': {'qpos': LISTS['q'], 'effort': LISTS['effort']}, 'fps': 50},
        'time=50Hz,position=observations/qpos,effort=observations/effort',
    ),
    'rows at a rate': ('x.npz', {'q': Q, 'effort': EFFORT}, 'time=50 Hz'),
    'rows of joints at a rate': ('x.npz', {'q': Q.T, 'effort': EFFORT.T}, 'time=50.0hz'),
}


@pytest.mark.parametrize('kind', READ)
def test_arrays_are_read_whatever_the_file(tmp_path, kind):
    name, content, columns = READ[kind]
    samples, _ = inspected_samples(
        written(tmp_path / name, content), JOINTS, ReadAs(columns=columns)
    )
    for found, expected in zip(
        (samples.times, samples.q, samples.effort), OWN.values(), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize('others', [False, True])
@pytest.mark.parametrize('suffix', ['h5', 'mat'])
def test_hdf5_and_matlab_7_3_are_read_by_the_names_of_groups(tmp_path, suffix, others):
    optional('h5py', 'h5py>=3.11')
    import h5py

    path = tmp_path / f'x.{suffix}'
    with h5py.File(path, 'w', userblock_size=512) as file:
        file['#refs#/t'] = 0.0
        for name, values in OWN.items():
            file[f'log/{name}'] = values[..., ::-1].T if name != 't' else values
        file['log/joint_names'] = ['b', 'a']
        file['log/images'] = np.zeros((2, 2, 2))  # which may be larger than the memory
        if others:
            file['about/rate'] = 50.0
    if suffix == 'mat':
        with path.open('r+b') as raw:
            raw.write(b'MATLAB 7.3 MAT-file'.ljust(124) + b'\x00\x02IM')
    columns = 'time=log/t,position=log/q,effort=log/effort' if others else ''
    if others:
        with pytest.raises(ArmError, match=columns):
            inspected_samples(path, JOINTS)
    samples, _ = inspected_samples(path, JOINTS, ReadAs(columns=columns))
    np.testing.assert_array_equal(samples.q, Q)


def test_names_of_objects_or_of_the_recording_are_no_silent_order(tmp_path):
    file = written(tmp_path / 'x.npz', OWN | {'name': 'monday'})
    np.testing.assert_array_equal(inspected_samples(file, JOINTS)[0].q, Q)
    names = np.array(['b', 'a'], dtype=object)
    with pytest.raises(ArmError, match='joint_names has objects: save it as an array of texts'):
        inspected_samples(written(tmp_path / 'y.npz', OWN | {'joint_names': names}), JOINTS)


def test_hdf5_without_its_package_has_a_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'h5py', None)
    (tmp_path / 'x.mat').write_bytes(b'MATLAB 7.3 MAT-file'.ljust(124) + b'\x00\x02IM')
    (tmp_path / 'x.h5').write_bytes(b'\x89HDF')
    for name, why in (('x.mat', "'h5py>=3.11' reads it, or save it with -v7"), ('x.h5', 'it$')):
        with pytest.raises(ArmError, match=why):
            inspected_samples(tmp_path / name, JOINTS)


def test_names_of_joints_order_what_messages_in_json_and_voltages_have(tmp_path):
    rows = rows_of(name=SWAPPED, q=Q[:, ::-1].tolist())
    samples, _ = inspected_samples(written(tmp_path / 'x.jsonl', rows), JOINTS)
    np.testing.assert_array_equal(samples.q, Q)
    rows[7]['name'] = ['a', 'b']
    with pytest.raises(ArmError, match='joint names differ from row to row'):
        inspected_samples(written(tmp_path / 'x.jsonl', rows), JOINTS)
    volts = written(tmp_path / 'x.npz', {'voltage': Q[:, ::-1], 'joint_names': ['b', 'a']})
    np.testing.assert_array_equal(read_voltages(volts, JOINTS, TIMES), Q)


STAMPS = [{'sec': int(1e9 + t), 'nanosec': round(t % 1.0 * 1e9)} for t in TIMES]
MESSAGES = {
    'header': [{'stamp': stamp, 'frame_id': ''} for stamp in STAMPS],
    'name': SWAPPED,
    'position': Q[:, ::-1].tolist(),
    'effort': EFFORT[:, ::-1].tolist(),
}


@pytest.mark.parametrize('suffix', ['jsonl', 'parquet'])
def test_rows_of_messages_are_read_with_their_stamps_and_names(tmp_path, suffix):
    path = tmp_path / f'x.{suffix}'
    if suffix == 'jsonl':
        rows = zip(*MESSAGES.values(), strict=True)
        written(path, [dict(zip(MESSAGES, row, strict=True)) for row in rows])
    else:
        write_parquet(path, MESSAGES | {'picture': [b'x'] * len(TIMES)})
    with pytest.raises(ArmError, match='--columns .* reads them') as refused:
        inspected_samples(path, JOINTS)
    (columns,) = re.findall("--columns '(.*?)'", str(refused.value))
    samples, _ = inspected_samples(path, JOINTS, ReadAs(columns=columns))
    np.testing.assert_allclose(samples.times - 1e9, TIMES, atol=1e-6)
    np.testing.assert_array_equal(samples.q, Q)
    np.testing.assert_array_equal(samples.effort, EFFORT)


def test_lists_next_to_the_columns_of_a_parquet_file_do_no_harm(tmp_path):
    columns = {'time': TIMES, 'a.position': Q[:, 0], 'b.position': Q[:, 1], 'wrench': Q.tolist()}
    columns |= {'a.effort': EFFORT[:, 0], 'b.effort': EFFORT[:, 1]}
    write_parquet(tmp_path / 'x.parquet', columns)
    samples, _ = inspected_samples(tmp_path / 'x.parquet', JOINTS)
    np.testing.assert_array_equal(samples.q, Q)


def test_a_rate_stands_for_the_times_of_a_table_too(tmp_path):
    rows = np.column_stack([np.zeros(len(TIMES)), Q, EFFORT])
    np.savetxt(tmp_path / 'x.dat', rows, delimiter=',', header='time,q1,q2,tau1,tau2', comments='')
    how = ReadAs(columns='time=50Hz,position=q{1},effort=tau{1}')
    samples, _ = inspected_samples(tmp_path / 'x.dat', JOINTS, how)
    np.testing.assert_allclose(samples.times, TIMES)
    np.testing.assert_array_equal(samples.q, Q)


REFUSED = {
    'no names': ('x.npy', np.column_stack([TIMES, Q]), r'is one array \(50, 3\) without names'),
    'objects': ('x.npz', {'log': np.array({'t': TIMES})}, 'it has log of objects; --columns'),
    'code': ('x.npy', np.array([{}], dtype=object), 'has objects, which are code'),
    'a list': ('x.json', LISTS['q'], 'has no names: it must be {"t"'),
    'lengths': ('x.json', LISTS | {'q': LISTS['q'][:-1]}, r'q has shape \(49, 2\)'),
    'ragged': ('x.json', LISTS | {'q': [[0.0], *LISTS['q'][1:]]}, 'q has objects'),
    'other words': (
        'x.npz',
        {'timestamp': TIMES, 'qpos': Q, 'qvel': Q, 'torque': EFFORT},
        r"has no 't'; it has timestamp \(50,\), .*; --columns "
        "'time=timestamp,position=qpos,effort=torque' reads them",
    ),
    'no times': (
        'x.mat',
        {'q': Q, 'tau': EFFORT},
        r"--columns 'time=\?,position=q,effort=tau' names them, .*; time=125Hz, of rows at 125 Hz",
    ),
    'each': ('x.mat', EACH, r"--columns 'time=t,position=q\{1\},effort=tau\{1\}' reads them"),
    'each in a column': (
        'x.npz',
        {name: x[:, np.newaxis] for name, x in EACH.items()},
        r"--columns 'time=t,position=q\{1\},effort=tau\{1\}' reads them",
    ),
    'joints without names': (
        'x.npz',
        OWN | {'q': np.hstack([Q, Q])},
        r'q has shape \(50, 4\), and the arm 2 joints: give the file joint_names',
    ),
    'a line that is cut off': ('x.jsonl', None, 'line 2 is no JSON .*: delete the line'),
    'nested without end': ('x.json', None, 'is nested too deeply'),
    'damaged': ('x.json', None, 'x.json'),
}  # fmt: skip


@pytest.mark.parametrize('kind', REFUSED)
def test_what_cannot_be_read_is_refused_with_what_to_write(tmp_path, kind):
    name, content, why = REFUSED[kind]
    path = tmp_path / name
    if content is not None:
        written(path, content)
    else:
        text = '{"t": 0.0}\n{"t": [0.0'
        path.write_text('[' * 100_000 if kind.startswith('nested') else text)
    with pytest.raises(ArmError, match=why):
        inspected_samples(path, JOINTS)


def test_a_state_with_a_number_that_is_too_large_is_named_and_not_read(tmp_path):
    rows = [*ROWS[:-1], ROWS[-1] | {'t': 10**400}]
    samples, lines = inspected_samples(written(tmp_path / 'x.json', rows), JOINTS)
    assert len(samples.times) == len(TIMES) - 1
    assert any('1 of 50 states lack a number' in line for line in lines)


def test_a_pickle_is_never_opened(tmp_path):
    for name in ('x.pkl', 'x.npy'):
        (tmp_path / name).write_bytes(pickle.dumps(LISTS))
        with pytest.raises(ArmError):
            inspected_samples(tmp_path / name, JOINTS)
