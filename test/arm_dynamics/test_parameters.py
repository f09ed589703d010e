"""The facts of a parameter are at its field: it is checked, described and resolved from there."""

from dataclasses import dataclass

import numpy as np
import pytest

from arm_controllers.laws import Law
from arm_controllers.parameter_values import parameter_fields, read_fields
from arm_dynamics.checks import ArmError, units
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, PerJoint, Stepping, parameter, with_arrays
from arm_dynamics.robots import find_urdf

JOINTS = ('a', 'b')


@dataclass(frozen=True)
class Some(Parameters):
    kp: PerJoint = parameter((4.0,), 'gain [1/s^2]', min=0)
    inertia: PerJoint = parameter((), '[kg m^2]', above=0)
    axes: PerJoint = parameter((1.0,), 'of the tip', per=('x', 'y', 'z'))
    center: tuple[float, ...] = parameter((0.0, 0.0, 0.0), '[m]', length=3, max=1)
    rate: float = parameter(1.0, '[Hz]', above=0, max=10)
    mode: str = parameter('fast', 'how', one_of=('fast', 'slow'))
    start: PerJoint = parameter((0.1,), '[rad]', min=0, name='constraints.{}.start')


@dataclass(frozen=True)
class Plain:
    kp: tuple[float, ...] = (4.0,)


@pytest.mark.parametrize(
    ('given', 'message'),
    [
        ({'rate': 0.0}, 'rate is 0; it must be finite, > 0 and <= 10'),
        ({'rate': np.nan}, 'rate is nan; it must be finite'),
        ({'mode': 'idle'}, "mode is 'idle'; allowed: fast, slow"),
        ({'center': (1.0,)}, r'center is \(1.0,\); it must be three finite numbers'),
        ({'center': (0.0, 2.0, 0.0)}, 'center is 2; it must be finite, <= 1'),
        ({'kp': (1.0, -1.0)}, "kp of joint 'b' is -1; it must be >= 0"),
        ({'inertia': (0.0,)}, "inertia of joint 'a' is 0; it must be > 0"),
        ({'axes': (1.0, np.nan, 1.0)}, "axes of joint 'y' is nan; it must be finite"),
        ({'start': (-1.0,)}, "constraints.start of joint 'a' is -1; it must be >= 0"),
        ({'kp': (1.0, 2.0, 3.0)}, 'kp has 3 values'),
    ],
)
def test_what_is_not_allowed_is_refused_in_one_line(given, message):
    with pytest.raises(ArmError, match=message):
        with_arrays(Some(**given), JOINTS)


def test_numbers_per_joint_become_arrays_and_what_is_left_out_stays_so():
    found = with_arrays(Some(), JOINTS)
    np.testing.assert_array_equal(found.kp, (4.0, 4.0))
    np.testing.assert_array_equal(found.axes, (1.0, 1.0, 1.0))
    assert (found.inertia, found.rate) == ((), 1.0)
    assert Some().kp == (4.0,)


def test_fields_describe_to_ros_what_is_allowed_and_have_a_name_per_joint():
    fields = {field.name: field for field in parameter_fields(Some, joint_names=JOINTS)}
    assert (fields['rate'].description, fields['rate'].allowed) == ('[Hz]', '> 0 and <= 10')
    assert (fields['mode'].allowed, fields['axes'].allowed) == ('fast, slow', '')
    assert fields['constraints.b.start'].default == 0.1
    values = {'constraints.a.start': 1, 'constraints.b.start': 2.0}
    assert read_fields(Some, values, joint_names=JOINTS).start == (1.0, 2.0)


def test_a_step_is_a_whole_number_of_nanoseconds():
    assert Stepping(timestep=0.001, control_decimation=4).period_ns == 4_000_000
    with pytest.raises(ArmError, match='whole number of nanoseconds'):
        Stepping(timestep=1e-3 / 3)


def test_the_period_in_seconds_is_that_of_the_integer_clock_to_the_last_bit():
    stepping = Stepping(timestep=0.0025, control_decimation=3)
    assert stepping.period == 7_500_000 * 1e-9
    assert stepping.period != 0.0025 * 3


def test_a_plain_dataclass_of_parameters_will_do():
    class Mine(Law):
        Parameters = Plain

    arm = RobotModel.from_urdf(find_urdf('planar_3r'))
    assert Mine(arm, Plain()).parameters.kp == (4.0,)
    (field,) = parameter_fields(Plain)
    assert (field.name, field.default, field.description, field.allowed) == ('kp', (4.0,), '', '')


def test_a_picture_or_table_has_the_unit_of_the_joints_that_an_arm_has():
    both = 'N.m | N'
    turning, sliding, mixed = (np.array(x, dtype=bool) for x in ([0, 0], [1, 1], [0, 1]))
    assert [units(both, x) for x in (turning, sliding, mixed)] == ['N.m', 'N', both]
    assert units('V', mixed) == 'V'
