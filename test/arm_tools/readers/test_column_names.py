"""Tables of other names: `--columns` reads them, and a refusal has the option filled in."""

import re

import numpy as np
import pytest

from arm_dynamics import ArmError
from arm_tools.readers.column_names import named_columns
from arm_tools.readers.read_options import ReadAs
from arm_tools.readers.recorded_samples import inspected_samples, read_followed, read_voltages

TIMES = 0.01 * np.arange(8)
Q, EFFORT = np.random.default_rng(1).normal(size=(2, 8, 2)).round(6)
JOINTS = 'a', 'b'


def table(file, names, q=Q, above=''):
    rows = [','.join(map(repr, map(float, x))) for x in np.column_stack([TIMES, q, EFFORT])]
    file.write_text('\n'.join([above + ','.join(names), *rows]))
    return file


OTHERS = {
    'as of ur_rtde': (
        ['t', 'actual_q_0', 'actual_q_1', 'actual_current_0', 'actual_current_1'],
        'time=t,position=actual_q_{0},effort=actual_current_{0}',
    ),
    'axes with units': (
        ['Zeit [s]', 'Axis1 [rad]', 'Axis2 [rad]', 'Moment1 [Nm]', 'Moment2 [Nm]'],
        'time=Zeit,position=Axis{1},effort=Moment{1}',
    ),
    'forces': (['t', 'q1', 'q2', 'force1', 'force2'], 'time=t,position=q{1},effort=force{1}'),
    'names of the joints': (
        ['stamp', 'a_pos', 'b_pos', 'a_torque', 'b_torque'],
        'time=stamp,position={joint}_pos,effort={joint}_torque',
    ),
    'commands and velocities between': (
        ['time', 'target_q_1', 'qd_1', 'q_1', 'target_q_2', 'qd_2', 'q_2', 'tau_1', 'tau_2'],
        'time=time,position=q_{1},effort=tau_{1}',
    ),
}


@pytest.mark.parametrize('what', OTHERS)
def test_the_option_of_the_refusal_reads_the_table(tmp_path, what):
    names, option = OTHERS[what]
    file = tmp_path / 'x.csv'
    if len(names) == 5:
        table(file, names)
    else:
        other = np.full((8, 2), 7.0)
        rows = np.column_stack([TIMES, other, Q[:, 0], other, Q[:, 1], EFFORT])
        np.savetxt(file, rows, delimiter=',', header=','.join(names), comments='')
    with pytest.raises(ArmError, match=re.escape(f"--columns '{option}' reads them")) as refused:
        inspected_samples(file, JOINTS)
    assert '\n' not in str(refused.value)
    samples, _ = inspected_samples(file, JOINTS, ReadAs(columns=option))
    np.testing.assert_allclose(samples.times, TIMES, atol=1e-9)
    np.testing.assert_allclose(samples.q, Q, atol=1e-9)
    np.testing.assert_allclose(samples.effort, EFFORT, atol=1e-9)


def test_columns_without_a_rule_are_named_one_by_one(tmp_path):
    file = table(tmp_path / 'x.csv', ['n', 'shoulder, left', 'foo [mrad]', 'bar', 'baz'])
    file.write_text(file.read_text().replace('shoulder, left', '"shoulder, left"'))
    with pytest.raises(ArmError, match=r"--columns 'time=\?,position=\?,effort=\?' names them"):
        inspected_samples(file, JOINTS)
    option = 'time=n,a.position=shoulder, left,b.position=foo,a.effort=bar,b.effort=baz'
    samples, lines = inspected_samples(file, JOINTS, ReadAs(columns=option))
    np.testing.assert_allclose(samples.q, Q * [1.0, 1e-3])
    assert 'file: read in mrad, as the units of the header' in lines


def test_commands_voltages_and_arrays_have_the_option_too(tmp_path):
    file = table(tmp_path / 'x.csv', ['s', 'q1', 'q2', 'u1', 'u2'])
    how = ReadAs(columns='time=s,position=q{1},command=u{1},voltage=u{1}')
    np.testing.assert_allclose(read_followed(file, JOINTS, how)[0].command, EFFORT)
    np.testing.assert_allclose(read_voltages(file, JOINTS, TIMES, how), EFFORT)
    np.savez(tmp_path / 'x.npz', time=TIMES, pos=Q, tau=EFFORT)
    with pytest.raises(ArmError, match="--columns 'time=time,position=pos,effort=tau' reads"):
        inspected_samples(tmp_path / 'x.npz', JOINTS)
    how = ReadAs(columns='time=time,position=pos,effort=tau')
    np.testing.assert_array_equal(inspected_samples(tmp_path / 'x.npz', JOINTS, how)[0].q, Q)


@pytest.mark.parametrize(
    ('option', 'said'),
    [
        ('time=t,posi=q{1}', r"'posi=q\{1\}': it must be NAME=COLUMN with NAME one of time"),
        ('position', 'it must be NAME=COLUMN'),
        ('position=q', r'which joint\? \{1\} counts joints from 1'),
        ('c.position=q', 'it must be NAME=COLUMN'),
    ],
)
def test_an_option_that_cannot_be_is_refused(option, said):
    with pytest.raises(ArmError, match=said):
        named_columns(option, JOINTS)


WRONG = {
    'a.position [mm]': (False, 'in mm, which is no unit of position of a revolute joint'),
    'a.position [deg]': (True, 'in deg, which is no unit of position of a prismatic joint'),
    'a.effort [N]': (False, 'in N, which is no unit of effort of a revolute joint'),
    'a.effort [Nm]': (True, 'in Nm, which is no unit of effort of a prismatic joint'),
}


@pytest.mark.parametrize('name', WRONG)
def test_a_unit_that_the_joint_cannot_have_is_refused(tmp_path, name):
    slide, said = WRONG[name]
    plain = ['time', 'a.position', 'b.position', 'a.effort', 'b.effort']
    names = [name if name.startswith(x) else x for x in plain]
    file = table(tmp_path / 'x.csv', names)
    with pytest.raises(ArmError, match=said):
        inspected_samples(file, JOINTS, slides=[slide, False])
    inspected_samples(file, JOINTS, slides=[not slide, False])


@pytest.mark.parametrize(
    'above',
    ['Sample rate;100;;;\n', 'Device;UR10;;;\nPoints;8;;;\nScale;1;1;1;1\n\n', 'x;1;;;\n' * 5],
)
def test_settings_above_the_header_are_no_rows(tmp_path, above):
    names = ['time', 'a.position', 'b.position', 'a.effort', 'b.effort']
    file = table(tmp_path / 'x.csv', names)
    file.write_text(above + file.read_text().replace(',', ';'))
    samples, _ = inspected_samples(file, JOINTS)
    np.testing.assert_allclose(samples.q, Q)


@pytest.mark.parametrize(
    ('option', 'line'),
    [
        ('position=q{1},effort=q{1}', "'q1' is position and effort: give one of them another"),
        ('position=q{1},position=p{1}', 'gives position twice: write one'),
        ('a.position=q,b.position=q', ''),  # two fingers of one drive
        ('position=q{1},a.position=q2,b.position=q1', ''),
    ],
)
def test_a_place_of_two_things_in_the_option_is_refused(option, line):
    if line:
        with pytest.raises(ArmError, match=line):
            named_columns(option, JOINTS)
    else:
        assert named_columns(option, JOINTS)
