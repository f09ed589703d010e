"""Tables without names, and folders with a file for each quantity, as laboratories keep them."""

import numpy as np
import pytest

from arm_dynamics import ArmError
from arm_tools.readers.read_options import ReadAs
from arm_tools.readers.recorded_samples import inspected_samples

COUNT = 8
TIMES = 0.01 * np.arange(COUNT)
Q, V, EFFORT = np.random.default_rng(1).normal(size=(3, COUNT, 2)).round(6)
NUMBERS = np.column_stack([TIMES, Q, V, EFFORT])
JOINTS = 'a', 'b'


def read(path, columns=''):
    return inspected_samples(path, JOINTS, ReadAs(columns=columns))


def saved(file, values, header=''):
    np.savetxt(file, values, fmt='%.16g', delimiter=',', header=header, comments='')
    return file


def check(samples):
    np.testing.assert_allclose(samples.times, TIMES, atol=1e-12)
    np.testing.assert_array_equal(samples.q, Q)
    np.testing.assert_array_equal(samples.effort, EFFORT)


@pytest.mark.parametrize('header', ['', '0,1,2,3,4,5,6', '1,2,3,4,5,6,7'])
def test_columns_without_names_are_counted_from_any_number(tmp_path, header):
    file = saved(tmp_path / 'x.csv', NUMBERS, header)
    check(read(file, 'time=c1,position=c{2},effort=c{6}')[0])
    with pytest.raises(
        ArmError,
        match=r'called c1 to c7: --columns \'time=c1,position=c\{2\},'
        r'effort=c\{6\}\' reads them, .* of the blocks of 2 that begin at c2, c4, ',
    ):
        read(file)  # fmt: skip
    text = file.read_text()
    file.write_text(text.replace(f'{V[0, 0]:.16g}', ''))  # a number that nobody asks for
    check(read(file, 'time=c1,position=c{2},effort=c{6}')[0])


def test_columns_that_are_called_as_counted_ones_are_no_table_without_a_header(tmp_path):
    file = saved(tmp_path / 'x.csv', NUMBERS, 'c1,c2,c3,c4,c5,c6,c7')
    check(read(file, 'time=c1,position=c{2},effort=c{6}')[0])
    with pytest.raises(ArmError, match='has no column .*; it has c1, c2, c3,'):
        read(file)


def test_a_first_state_that_counts_is_a_state(tmp_path):
    numbers = np.arange(7.0) + np.cumsum(np.full((len(NUMBERS), 7), 0.01), axis=0) - 0.01
    file = saved(tmp_path / 'x.csv', numbers)
    assert file.read_text().startswith('0,1,2,3,4,5,6\n')
    samples, _ = read(file, 'time=c1,position=c{2},effort=c{6}')
    assert len(samples.times) == len(NUMBERS)


def test_columns_without_names_and_times_need_a_rate(tmp_path):
    file = saved(tmp_path / 'x.csv', NUMBERS[:, 1:])
    check(read(file, 'time=100Hz,position=c{1},effort=c{5}')[0])
    with pytest.raises(ArmError, match=r'time=125Hz,position=c\{1\},effort=c\{5\}'):
        read(file)


def test_a_folder_has_a_table_for_each_quantity(tmp_path):
    (tmp_path / 'README.md').write_text('positions and torques\n')
    saved(tmp_path / 'arm_position.csv', NUMBERS[:, :3], 't,- a_position,- b_position')
    saved(tmp_path / 'arm_velocity.csv', NUMBERS[:, [0, 3, 4]], 't,a_velocity,b_velocity')
    saved(tmp_path / 'arm_effort.csv', NUMBERS[:, [0, 5, 6]], 't,a_effort,b_effort')
    samples, lines = read(tmp_path)
    check(samples)
    assert 'effort of arm_effort.csv, position of arm_position.csv' in lines[0]
    (tmp_path / 'bag.mcap').touch()
    with pytest.raises(ArmError, match='not an MCAP file, or an empty one'):
        read(tmp_path)
    (tmp_path / 'bag.mcap').unlink()
    saved(tmp_path / 'torques.csv', NUMBERS[:, 5:], 'a,b')
    with pytest.raises(ArmError, match='it has README.md, arm_effort.csv, .*: give one of these'):
        read(tmp_path)


def test_a_folder_of_arrays_has_times_and_numbers_of_all_joints(tmp_path):
    for name, values in {'t': TIMES, 'q': Q, 'dq': V, 'tau': EFFORT.ravel()}.items():
        np.save(tmp_path / f'{name}.npy', values)
    with pytest.raises(ArmError, match=r"'time=time,position=c\{1\}.position,effort=c\{1\}.effo"):
        read(tmp_path)
    samples, lines = read(tmp_path, 'time=time,position=c{1}.position,effort=c{1}.effort')
    check(samples)
    assert 'tau.npy: read as 2 numbers for each time, one below another' in lines


def test_files_of_other_rows_or_times_are_no_recording(tmp_path):
    saved(tmp_path / 'q.csv', NUMBERS[:, :3], 't,a,b')
    saved(tmp_path / 'tau.csv', NUMBERS[:-1, [0, 5, 6]], 't,a,b')
    with pytest.raises(ArmError, match=r'tau.csv has 7 rows, and q.csv 8|q.csv has 8 rows, and '):
        read(tmp_path)
    saved(tmp_path / 'tau.csv', NUMBERS[:, [0, 5, 6]] + [0.02, 0.0, 0.0], 't,a,b')
    with pytest.raises(ArmError, match='its times are up to 0.02 s from those of the other files'):
        read(tmp_path)


def test_a_time_that_one_of_the_files_lacks_is_that_of_the_other(tmp_path):
    saved(tmp_path / 'arm_ang.csv', NUMBERS[:, :3], 't,a,b')
    efforts = NUMBERS[:, [0, 5, 6]]
    efforts[3, 0] = np.nan
    saved(tmp_path / 'tau.csv', efforts, 't,a,b')
    check(read(tmp_path)[0])


def test_two_numbers_are_a_state_and_no_count_of_columns(tmp_path):
    own = np.vstack([[0.0, 1.0], np.tile(Q[1], (COUNT - 1, 1))])  # it jumps from 0, 1
    saved(tmp_path / 'q.csv', own)
    saved(tmp_path / 'tau.csv', EFFORT)
    np.save(tmp_path / 't.npy', TIMES)
    samples, _ = read(tmp_path, 'time=time,position=c{1}.position,effort=c{1}.effort')
    np.testing.assert_array_equal(samples.q, own)


def test_the_option_for_columns_that_are_no_whole_blocks_is_not_guessed(tmp_path):
    for count in (3, 4, 6):  # no efforts; a column more than a time and blocks of two
        file = saved(tmp_path / f'{count}.csv', NUMBERS[:, :count])
        with pytest.raises(
            ArmError, match=r"effort=c\{(\?|\d)\}' (names them, with a|reads)"
        ) as error:
            read(file)
        option = str(error.value).partition("--columns '")[2].partition("'")[0]
        if '?' not in option:
            read(file, option.replace('125Hz', '100Hz'))


def test_a_damaged_row_of_a_file_without_times_is_refused(tmp_path):
    saved(tmp_path / 'q.csv', np.tile(NUMBERS[:, 1:3], (40, 1)), 'a,b')
    lines = (tmp_path / 'q.csv').read_text().splitlines()
    (tmp_path / 'tau.csv').write_text('\n'.join([*lines[:5], 'x,y', *lines[6:]]))
    with pytest.raises(ArmError, match=r'tau.csv: rows: 1 damaged.*; without times nothing shows'):
        read(tmp_path, 'time=100Hz')
    (tmp_path / 'tau.csv').write_text('only words\n')
    (tmp_path / 'velocity.csv.7z').touch()  # is not read, and hides no other file
    with pytest.raises(ArmError, match='tau.csv: has'):
        read(tmp_path, 'time=100Hz')


def test_a_recording_without_fingers_names_the_arm_without_them(tmp_path):
    file = saved(tmp_path / 'x.csv', NUMBERS, 'time,a.position,b.position,u,v,a.effort,b.effort')
    with pytest.raises(ArmError, match="--robot 'NAME joints:=a,b', NAME as before, holds the"):
        inspected_samples(file, (*JOINTS, 'finger'), ReadAs())
