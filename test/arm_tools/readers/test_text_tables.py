"""Tables as people and programs write them: read right, or refused in one line."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
import zstandard
from optional import optional
from scipy.io import savemat

from arm_dynamics import ArmError
from arm_tools.inspection.position_units import unwrapped
from arm_tools.readers.findings import Doubt
from arm_tools.readers.read_options import ReadAs
from arm_tools.readers.recorded_samples import inspected_samples, read_followed

COUNT = 8
TIMES = 0.01 * np.arange(COUNT)
Q, EFFORT = np.random.default_rng(1).normal(size=(2, COUNT, 2)).round(6)
NAMES = 'time', 'a.position', 'b.position', 'a.effort', 'b.effort'
EVENING = 1_700_000_000.0  # some time of this century [s]


def text(names=NAMES, between=',', times=TIMES, decimal='.', q=Q, effort=EFFORT):
    """Return a table with names, separator, decimal sign."""
    rows = np.column_stack([times, q, effort])
    lines = [between.join(f'{x:.16g}'.replace('.', decimal) for x in row) for row in rows]
    return '\n'.join([between.join(names), *lines]) + '\n'


def lines_of(change):
    """Return the table with changed lines."""
    return '\n'.join(change(text().splitlines())) + '\n'


def read(tmp_path, content, name='x.csv', how=None, joints=('a', 'b')):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return inspected_samples(file, joints, how or ReadAs())


IN_DEGREES = ('time [ms]', 'a.position [deg]', 'b.position (rad)', 'a.effort[mNm]', 'b.effort')
TOPICS = ('__time', *(f'/joint_states/{j}/{x}' for x in ('position', 'effort') for j in 'ab'))


def with_times(form, written=lambda t: [t]):
    """Return the table, with semicolons, with the times of a form, which has `written` of each."""
    return lines_of(
        lambda x: [x[0], *(f'{form.format(*written(t))},{y.partition(",")[2]}'
                           for t, y in zip(TIMES, x[1:], strict=True))]
    ).replace(',', ';')  # fmt: skip


def parts_of(t):
    """Return hours, minutes and seconds of a time [s]."""
    return t // 3600.0, t // 60.0 % 60.0, t % 60.0


def with_stamps(seconds, fraction):
    """Return the table with the times in two columns."""
    return lines_of(
        lambda x: [f'{seconds},{fraction},{x[0].partition(",")[2]}',
                   *(f'0,{k}0000000,{y.partition(",")[2]}' for k, y in enumerate(x[1:]))]
    )  # fmt: skip


def placed(place, names):
    """Return the table in the order b, a, whose rows have the names of the joints."""
    heads = [place.format(x, k) for x in ('position', 'effort') for k in range(2)]
    texts = ','.join(f'"{x}"' if ',' in x else x for x in names.values())
    rows = [','.join(map(repr, map(float, [t, *q[::-1], *e[::-1]]))) + f',{texts}'
            for t, q, e in zip(TIMES, Q, EFFORT, strict=True)]  # fmt: skip
    return '\n'.join([','.join(['Time', *heads, *names]), *rows])


def with_a_row_each(order=slice(None)):
    """Return the table with a row for each joint."""
    rows = [f'{t},{joint},{q[k]},{e[k]}' for t, q, e in zip(TIMES, Q, EFFORT, strict=True)
            for k, joint in enumerate('ab')]  # fmt: skip
    return '\n'.join(['time,joint,position,effort', *np.array(rows)[order]])


def echoed(*numbers, frame='', names='b,a'):
    """Return what `ros2 topic echo --csv` prints of joint states in the order b, a."""
    return ''.join(
        f'0,{10_000_000 * k},{frame},{names},{",".join(map(repr, row.tolist()))}\n'
        for k, row in enumerate(np.column_stack([x[:, ::-1] for x in numbers]))
    )


SAME = {
    'echo of ROS 2': echoed(Q, 0.0 * Q, EFFORT),
    'echo of ROS 2 with a frame': echoed(Q, 0.0 * Q, EFFORT, frame='base_link'),
    'echo of ROS 1': placed('field.{}{}', {'field.name0': 'b', 'field.name1': 'a'}),
    'a list of names': placed('{}_{}', {'name': "['b', 'a']"}),
    'a row for each joint': with_a_row_each(),
    'bars': text(between='|'),
    'stamps of ROS 2 in two columns': with_stamps('header.stamp.sec', 'header.stamp.nanosec'),
    'stamps of ROS 1 in two columns': with_stamps('secs', 'nsecs'),
    'topics with stamps': with_stamps('/joint_states/stamp/sec', '/joint_states/stamp/nanosec'),
    'dates of Germany': with_times('28.1.2026 12:00:{:06.3f}'),
    'times of day': with_times('12:00:{:06.3f}'),
    'times of day past midnight': with_times(
        '{:02.0f}:{:02.0f}:{:06.3f}', lambda t: parts_of((86399.98 + t) % 86400.0)
    ),
    'minutes and seconds past the hour': with_times(
        '{1:02.0f}:{2:06.3f}', lambda t: parts_of((3599.98 + t) % 3600.0)
    ),
    'minutes and seconds': with_times('{:.0f}:{:06.3f}', lambda t: divmod(3599.98 + t, 60.0)),
    'minutes and seconds, the first without a fraction': with_times('01:{:06.3f}').replace(
        '01:00.000', '01:00'
    ),
    'minus signs of typography': text().replace('-', chr(0x2212)),
    'UTF-16 without a mark': text(between='\t').encode('utf-16-le'),
    'plain': text(),
    'semicolons and decimal commas': text(between=';', decimal=','),
    'tabs and decimal commas': text(between='\t', decimal=','),
    'spaces': text(between='  '),
    'quoted': text([f'"{x}"' for x in NAMES]),
    'capitals': text(['Time', *NAMES[1:]]),
    'byte order mark': b'\xef\xbb\xbf' + text().encode(),
    'UTF-16, as of Excel': text(between='\t').encode('utf-16'),
    'lines of DOS': text().replace('\n', '\r\n'),
    'separator named, as of Excel': 'sep=;\n' + text(between=';'),
    'units in brackets': text(
        IN_DEGREES, times=1e3 * TIMES, q=Q * [180 / np.pi, 1], effort=EFFORT * [1e3, 1]
    ),
    'line of units': lines_of(lambda x: [x[0], 's,rad,rad,Nm,Nm', *x[1:]]),
    'comment before the header': '# of a robot\n# on a day\n' + text(),
    'header in a comment': '# ' + text(),
    'comment below the header': lines_of(lambda x: [x[0], '# of Monday', '# 5 Hz', *x[1:]]),
    'comment of five words below the header': lines_of(
        lambda x: [x[0], '# here, it, was, touched, twice', *x[1:]]
    ),
    'units in a comment': lines_of(lambda x: [x[0], '# s,rad,rad,Nm,Nm', *x[1:]]),
    'comment among the rows': lines_of(lambda x: [*x[:4], '# here it was touched', *x[4:]]),
    'lines about the file': 'robot: UR10\nrate,100\n\n' + text(),
    'empty lines': text().replace('\n', '\n\n'),
    'separator at the end': text().replace('\n', ',\n'),
    'other columns, another order': lines_of(
        lambda x: [','.join(['label', *y.split(',')[::-1], 'z']) for y in x]
    ),
    'a gripper, and another arm': lines_of(
        lambda x: [x[0] + ',gripper.position,left_a.position', *(y + ',0.04,' for y in x[1:])]
    ),
    'of PlotJuggler': text(TOPICS, times=TIMES + EVENING),
    'milliseconds since 1970': text(times=(TIMES + EVENING) * 1e3),
    'nanoseconds since 1970': lines_of(
        lambda x: [x[0], *(f'{1_700_000_000_000_000_000 + 10_000_000 * k},{y.partition(",")[2]}'
                           for k, y in enumerate(x[1:]))]
    ),
    'dates': lines_of(
        lambda x: [x[0], *(f'2023-11-14T22:13:20.{k:02}Z,{y.partition(",")[2]}'
                           for k, y in enumerate(x[1:]))]
    ),
}  # fmt: skip


def test_of_two_numbers_for_each_joint_of_an_echo_the_first_is_its_position(tmp_path):
    columns = 'time=time,position={joint}.position,effort={joint}.effort_or_v'
    samples, _ = read(tmp_path, echoed(Q, EFFORT), how=ReadAs(columns=columns))
    np.testing.assert_allclose(samples.q, Q, atol=1e-6)
    np.testing.assert_allclose(samples.effort, EFFORT, atol=1e-6)


@pytest.mark.parametrize('what', SAME)
def test_a_table_is_read_in_whatever_form_it_was_written(tmp_path, what):
    samples, _ = read(tmp_path, SAME[what])
    np.testing.assert_allclose(samples.q, Q, atol=1e-6)
    np.testing.assert_allclose(samples.effort, EFFORT, atol=1e-6)
    np.testing.assert_allclose(samples.times - samples.times[0], TIMES, atol=1e-6)


PAST = ['23:59:59.98', '23:59:59.99', '00:00:00.00', '00:00:00.01']


@pytest.mark.parametrize(
    ('order', 'times', 'said'),
    [
        ([0, 1, 2, 3], [0.0, 0.01, 0.02, 0.03], ['pass midnight (row 3), and go on']),
        ([0, 2, 1, 3], [0.0, 0.02, 0.01, 0.03], ['pass midnight (row 2)', 'go back 1 times']),
        ([2, 1, 0, 3], [0.02, 0.01, 0.0, 0.03], ['pass midnight', 'go back 2 times']),
        ([1, 0, 3, 2], [0.01, 0.0, 0.03, 0.02], ['pass midnight (row 3)', 'go back 2 times']),
    ],
)
def test_times_of_day_go_on_past_midnight_also_out_of_order(tmp_path, order, times, said):
    rows = [f'{PAST[k]};{k};1;1;1' for k in order]
    more = [f'00:00:00.{k:02};{k};1;1;1' for k in range(4, 20)]
    samples, lines = read(tmp_path, '\n'.join([';'.join(NAMES), *rows, *more]))
    named = [x for x in lines if 'midnight' in x or 'go back' in x]
    assert len(named) == len(said)
    assert all(part in line for part, line in zip(said, named, strict=True))
    found = samples.times[samples.q[:, 0] <= 3]
    np.testing.assert_allclose(found - found.min(), times, atol=1e-9)


def test_a_recording_of_the_evening_that_follows_one_of_the_morning_stays_on_its_day(tmp_path):
    rows = [f'{time}:00.{k:02};{k};1;1;1' for time in ('07:00', '21:00') for k in range(9)]
    samples, lines = read(tmp_path, '\n'.join([';'.join(NAMES), *rows]))
    assert not [x for x in lines if 'midnight' in x]
    assert np.ptp(samples.times) == pytest.approx(14 * 3600.0 + 0.08)


@pytest.mark.parametrize(
    ('suffix', 'packed'),
    [
        ('.gz', gzip.compress),
        ('.bz2', bz2.compress),
        ('.xz', lzma.compress),
        ('.zst', zstandard.compress),
    ],
)
def test_a_compressed_table_is_read(tmp_path, suffix, packed):
    samples, _ = read(tmp_path, packed(text().encode()), f'x.csv{suffix}')
    np.testing.assert_array_equal(samples.q, Q)
    samples, _ = read(tmp_path, packed(text().encode()), f'x.CSV{suffix.upper()}')
    np.testing.assert_array_equal(samples.q, Q)
    with pytest.raises(ArmError, match=r'is not read here, but \.csv\.gz.*decompress'):
        read(tmp_path, b'', f'x.npz{suffix}')


def test_a_small_file_of_endless_text_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr('arm_tools.readers.text_table._MOST', 1 << 20)
    with pytest.raises(ArmError, match='has more than 1 MiB of text: split it'):
        read(tmp_path, gzip.compress(text().encode() + b'\n' * (1 << 20)), 'x.csv.gz')


DAMAGED = {
    'row that ends early': (lambda x: [*x, x[-1][:9]], COUNT, 'damaged'),
    'number cut off': (lambda x: [*x, '1,2,3,4,-'], COUNT, 'lack a number'),
    'header above each row': (
        lambda x: [y for row in x[1:] for y in (x[0], row)], COUNT, f'{COUNT - 1} more headers'
    ),
    'header again': (lambda x: [*x[:5], *x], COUNT + 4, 'more headers'),
    'not a number': (lambda x: [*x[:3], '0.015,nan,1,1,1', *x[3:]], COUNT, 'lack a number'),
    'empty fields': (lambda x: [*x[:3], '0.015,,1,,1', *x[3:]], COUNT, 'lack a number'),
    'no number, as Windows writes it': (
        lambda x: [*x[:3], '0.015,1.#QNAN,1,1,1', '0.016,1,1,-1.#IND00e+000,-nan(ind)', *x[3:]],
        COUNT, 'lack a number',
    ),
    'infinite': (lambda x: [*x[:3], '0.015,1,inf,1,1', *x[3:]], COUNT, 'lack a number'),
    'two of each stamp': (lambda x: [x[0], *np.repeat(x[1:], 2)], 2 * COUNT, 'row before'),
    'counter that overflowed': (lambda x: [*x, *x[1:]], 2 * COUNT, 'go back 1 times'),
}  # fmt: skip


@pytest.mark.parametrize('what', DAMAGED)
def test_damaged_rows_are_left_out_and_named(tmp_path, what):
    change, count, said = DAMAGED[what]
    samples, lines = read(tmp_path, lines_of(change))
    assert len(samples.times) == count
    assert any(said in line and isinstance(line, Doubt) for line in lines)
    assert np.isin(samples.q, Q).all()


WRONG = {
    'a row for each joint, sorted by joint': (
        with_a_row_each(np.argsort(np.arange(2 * COUNT) % 2, kind='stable')),
        'a row for each joint, sorted by joint: sort the rows by their time',
    ),
    'two topics': (
        text([*TOPICS[:3], '/arm/a/effort', '/arm/b/effort']).replace(
            '__time', '/arm/a/position,__time').replace('\n', '\n1,'),
        'it has /arm/a/position, __time, /joint_states/a/position',
    ),
    'no header': (lines_of(lambda x: x[1:]), 'has no header'),
    'header of numbers': (lines_of(lambda x: ['0,1,2,3,4', *x[1:]]), 'has no header'),
    'two publishers in an echo': (
        echoed(Q, Q, EFFORT) + echoed(Q, Q, EFFORT, names='a,b'), 'line 9 names a, b, and line 1 b'
    ),
    'an echo without velocities or efforts': (
        echoed(Q, EFFORT), "'time=time,position={joint}.position,effort={joint}.effort_or_v' reads"
    ),
    'empty': ('', 'has no header'),
    'thousands, or decimal commas': (
        '\n'.join([','.join(NAMES), *(f'{t},"1,001",1,1,1' for t in TIMES)]),
        'has a decimal comma, or is a thousand times larger',
    ),
    'header alone': (text().splitlines()[0], 'has no rows'),
    'decimal commas between commas': (text(decimal=','), 'fields, the header 5'),
    'row numbers without a name': (
        lines_of(lambda x: [x[0], *(f'{k},{y}' for k, y in enumerate(x[1:]))]),
        'has 6 fields, the header 5',
    ),
    'a name twice': (lines_of(lambda x: [f'{y},{y}' for y in x]), "has 2 columns 'time'"),
    'other names': (text(['time', 'q1', 'q2', 'tau1', 'tau2']), 'it has time, q1, q2, tau1'),
    **{
        f'unit unknown: {x}': (
            text([y + f' [{x}]' * (y.endswith(of)) for y in NAMES]), rf'{of} \[{x}\].* known unit'
        )
        for x, of in (('min', 'time'), ('ticks', 'position'), ('counts', 'effort'))
    },
    'units unknown below the header': (
        lines_of(lambda x: [x[0], 's,ticks,ticks,Nm,Nm', *x[1:]]), r'a.position \[ticks\]',
    ),
    'unit of another number': (text([NAMES[0], 'a.position [Nm]', *NAMES[2:]]), 'is in Nm'),
    'milliseconds': (text(times=1e3 * TIMES), '--time-unit ms'),
    'days': (text(times=46000.0 + TIMES / 86400.0), r'advance by 1.16e-07, .* are they days'),
    'row numbers as times': (text(times=np.arange(COUNT)), '--time-unit'),
    'text': (lines_of(lambda x: [*x[:3], '0.015,1,x,1,1', *x[3:]]), "line 4: 'x' in column 'b.po"),
    'a time of two readings': (with_times('1/2/2026 12:00:{:06.3f}'), 'no time as 2026-11-28'),
    'numbers with units': (
        lines_of(lambda x: [x[0], *(y.replace(',', ' rad,') for y in x[1:])]),
        'each number needs a column of its own, without a unit',
    ),
    'lists of words': (
        'time,q,tau\n' + '0.1,"[one, two]","[a, b]"\n' * COUNT, r"line 9 is '0.1, \[one, two\]",
    ),
    'UTF-32': (text().encode('utf-32'), 'save it as CSV in UTF-8'),
    'no text': (b'\x00\x01' * COUNT, 'save it as CSV in UTF-8'),
    'pointer of Git LFS': (
        'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n', 'git lfs pull',
    ),
    'page of the web': ('<!DOCTYPE html>\n<html>404</html>', 'a page of the web'),
    'none whole': (
        lines_of(lambda x: [x[0], *(y.rpartition(',')[0] + (',' if k % 2 else ',1')
                                    if k % 2 else f'{y.partition(",")[0]},,,,1'
                                    for k, y in enumerate(x[1:]))]),
        'each of its 8 states lacks a number',
    ),
}  # fmt: skip


@pytest.mark.parametrize('what', WRONG)
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path, what):
    content, said = WRONG[what]
    with pytest.raises(ArmError, match=said) as refused:
        read(tmp_path, content)
    assert '\n' not in str(refused.value)


def test_the_unit_of_times_can_be_said(tmp_path):
    samples, _ = read(tmp_path, text(times=1e3 * TIMES), how=ReadAs(time_unit='ms'))
    np.testing.assert_allclose(samples.times, TIMES)


def test_times_that_may_be_milliseconds_are_doubted(tmp_path):
    _, lines = read(tmp_path, text(times=25.0 * TIMES))  # 4 kHz
    (doubt,) = (x for x in lines if isinstance(x, Doubt))
    assert doubt == 'clock: 4 rows per second; if the times are ms: --time-unit ms'
    assert not any(isinstance(x, Doubt) for x in read(tmp_path, text(times=10.0 * TIMES))[1])


def test_times_that_float32_has_rounded_and_efforts_without_a_number_are_refused(tmp_path):
    file, count = tmp_path / 'x.npz', 100
    q = np.random.default_rng(0).normal(size=(count, 2))
    times = (EVENING + 0.01 * np.arange(count)).astype(np.float32)
    np.savez(file, t=times, q=q, effort=q)
    with pytest.raises(ArmError, match='of 100 rows have the time .* as float32 does near 1.7e'):
        inspected_samples(file, ['a', 'b'])
    np.savez(file, t=np.repeat([0.0, 1.0], 50), q=np.repeat(q[:2], 50, 0), effort=q)  # repeated
    assert len(inspected_samples(file, ['a', 'b'], ReadAs(time_unit='s'))[0].times) == count
    np.savez(file, t=0.01 * np.arange(count), q=q, effort=np.nan * q)
    with pytest.raises(ArmError, match='its efforts have no number'):
        inspected_samples(file, ['a', 'b'])
    np.savez(file, t=0.01 * np.arange(count), q=q * [1.0, np.nan], effort=q)
    with pytest.raises(ArmError, match="joint 'b': its positions have no number"):
        inspected_samples(file, ['a', 'b'])


def test_units_at_the_end_of_a_name_are_those_of_the_option_columns(tmp_path):
    names = 'time_ms', 'q1_deg', 'q2_deg', 'tau1', 'tau2'
    rows = text(names, times=1e3 * TIMES, q=np.degrees(Q))
    samples, _ = read(
        tmp_path, rows, how=ReadAs(columns='time=time_ms,position=q{1}_deg,effort=tau{1}')
    )
    np.testing.assert_allclose(samples.times, TIMES)
    np.testing.assert_allclose(samples.q, Q)


def test_degrees_of_the_header_are_not_turned_into_radians_twice(tmp_path):
    file, names = tmp_path / 'x.csv', ['time', 'a.position [{}]', 'a.effort', 'a.command [{}]']
    rows = [f'{t},{q},1,{q}' for t, q in zip(TIMES, 90.0 * TIMES, strict=True)]
    for unit in ('deg', 'Deg', '°', 'degrees'):
        file.write_text('\n'.join([','.join(names).format(unit, unit), *rows]))
        np.testing.assert_allclose(read_followed(file, ('a',))[0].q[:, 0], 0.5 * np.pi * TIMES)
        for reader in (inspected_samples, read_followed):
            with pytest.raises(ArmError, match='says degrees, .* omit --units deg'):
                reader(file, ('a',), ReadAs(units='deg'))


def test_a_log_of_an_arm_with_more_joints_is_refused(tmp_path):
    names = 'timestamp', 'actual_q_0', 'actual_q_1', 'actual_current_0', 'actual_current_1'
    assert len(read(tmp_path, text(names))[0].times) == COUNT
    with pytest.raises(ArmError, match=r"'actual_q_1', of one joint more than the arm"):
        read(tmp_path, text(names), joints=('a',))


@pytest.mark.parametrize(
    'listed',
    [
        lambda x: f'"{x.tolist()}"',
        lambda x: str(x),
        lambda x: f'"array(\'d\', {x.tolist()})"',
        lambda x: f'"({x[0]},\n {x[1]})"',
    ],
    ids=['pandas', 'NumPy', 'ROS', 'over two lines'],
)
def test_lists_of_numbers_in_a_field_are_columns(tmp_path, listed):
    rows = [
        f"{t},\"['b', 'a']\",{listed(q[::-1])},{listed(tau[::-1])},[]"
        for t, q, tau in zip(TIMES, Q, EFFORT, strict=True)
    ]
    (tmp_path / 'x.csv').write_text('\n'.join(['time,name,position,effort,velocity', *rows]))
    samples, _ = inspected_samples(tmp_path / 'x.csv', ('a', 'b'))
    np.testing.assert_allclose(samples.q, Q, atol=1e-7)
    np.testing.assert_allclose(samples.effort, EFFORT, atol=1e-6)
    damaged = ['9,,"[1, 2]","[1, 2, 3]",[]', '9,,"[1, 2]","[1, 2]",[],7', '9,,"[1, 2]"']
    header = 'time,name,position,effort,velocity'
    (tmp_path / 'z.csv').write_text('\n'.join([header, *rows * 60, *damaged, rows[-1]]))
    _, lines = inspected_samples(tmp_path / 'z.csv', ('a', 'b'), ReadAs(time_unit='s'))
    assert any(line.startswith('rows: 3 damaged, not read') for line in lines)
    rows = [f'{t};{q.tolist()};{q.tolist()}' for t, q in zip(TIMES, Q, strict=True)]
    (tmp_path / 'y.csv').write_text('\n'.join(['t;q;tau', *rows]))
    with pytest.raises(ArmError, match=r"'time=t,position=q_\{0\},effort=tau_\{0\}' reads them"):
        inspected_samples(tmp_path / 'y.csv', ('a', 'b'))


def test_arrays_with_names_are_read_by_these_and_fields_of_a_struct_too(tmp_path):
    arrays = {'t': TIMES, 'q': Q[:, ::-1], 'effort': EFFORT[:, ::-1], 'joint_names': ['b', 'a']}
    np.savez(tmp_path / 'x.npz', **arrays)
    savemat(tmp_path / 'x.mat', {'log': arrays})
    (tmp_path / 'Y.NPZ').write_bytes((tmp_path / 'x.npz').read_bytes())
    for name in ('x.npz', 'x.mat', 'Y.NPZ'):
        samples, _ = inspected_samples(tmp_path / name, ('a', 'b'))
        np.testing.assert_array_equal(samples.q, Q)
        with pytest.raises(ArmError, match=r"joint_names has b, a; 'c' must be there once"):
            inspected_samples(tmp_path / name, ('a', 'c'))


def test_arrays_of_objects_are_refused_where_they_are_needed(tmp_path):
    file = tmp_path / 'x.npz'
    whole = {'t': TIMES, 'q': Q, 'effort': EFFORT, 'about': np.array({'robot': 'x'})}
    np.savez(file, **whole)
    np.testing.assert_array_equal(inspected_samples(file, ['a', 'b'])[0].q, Q)
    np.savez(
        file,
        **whole | {'joint_names': np.array([b'a', b'b']), 't': (1e9 * TIMES).astype('m8[ns]')},
    )
    np.testing.assert_allclose(inspected_samples(file, ['a', 'b'])[0].times, TIMES, atol=1e-8)
    for other, why in (
        (Q.astype(object), 'q has objects: save it'),
        (Q[:-1], r'q has shape \(\d+, 2\); it must be'),
        (Q + 0j, 'q is an array of complex128: save it as one of numbers'),
        (Q.astype(np.float16), 'q is an array of float16'),
    ):
        np.savez(file, **whole | {'q': other})
        with pytest.raises(ArmError, match=why):
            inspected_samples(file, ['a', 'b'])


def test_moments_and_units_of_parquet_are_read(tmp_path):
    optional('pyarrow', 'pyarrow>=17')
    import pyarrow as arrow
    from pyarrow import parquet

    nanoseconds = 1_700_000_000_000_000_000 + 10_000_000 * np.arange(COUNT)
    columns = [arrow.array(nanoseconds.astype('datetime64[ns]')), *np.degrees(Q.T), *EFFORT.T]
    names = [x.replace('position', 'position [deg]') for x in NAMES]
    parquet.write_table(
        arrow.table(dict(zip(names, columns, strict=True))), tmp_path / 'x.parquet'
    )
    samples, _ = inspected_samples(tmp_path / 'x.parquet', ('a', 'b'))
    np.testing.assert_allclose(samples.times - samples.times[0], TIMES, atol=1e-6)
    np.testing.assert_allclose(samples.q, Q)


def test_jumps_of_a_turn_are_taken_out_and_named():
    t = np.linspace(0.0, 4.0, 200)[:, np.newaxis]
    q = np.hstack([2.0 * t, 3.0 - t, 4.0 * t])
    wrapped = np.mod(q + np.pi, 2.0 * np.pi) - np.pi
    found, (line,) = unwrapped(wrapped, ('a', 'b', 'c'), np.array([False, False, False]))
    np.testing.assert_allclose(np.diff(found, axis=0), np.diff(q, axis=0), atol=1e-12)
    assert line.startswith('positions: a, c: 4 jumps of a turn')
    fast = np.cumsum(np.linspace(0.0, 7.0, 50))[:, np.newaxis]  # has every step
    for untouched, slides in ((wrapped, [True] * 3), (fast, [False])):
        assert unwrapped(untouched, ('a', 'b', 'c'), np.array(slides)) == (untouched, [])
