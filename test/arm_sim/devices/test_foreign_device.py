"""What a device of another package returns is refused with the device, the hook and the value."""

import numpy as np
import pytest

from arm_controllers.measurement import Measurement
from arm_dynamics.checks import ArmError
from arm_sim.devices import Device
from arm_sim.devices._foreign import look_at

MEASURED = Measurement(np.zeros(3), np.ones(3))


def device_with(**hooks):
    device = type('MineDevice', (Device,), hooks)(type('Setup', (), {'plant': None})())
    look_at(device)
    return device


@pytest.mark.parametrize('hook', ['sent', 'acting'])
@pytest.mark.parametrize(
    ('found', 'words'),
    [
        (None, r'object of shape \(\)'),
        (1.0, r'float64 of shape \(\)'),
        (np.ones(1), r'float64 of shape \(1,\)'),
        (np.ones((3, 1)), r'float64 of shape \(3, 1\)'),
        (np.ones(3) * 1j, r'complex128 of shape \(3,\)'),
        (np.array([1.0, np.nan, 1.0]), r'\[1.0, nan, 1.0\]'),
    ],
)
def test_a_command_that_is_no_finite_number_per_joint_is_refused(hook, found, words):
    device = device_with(**{hook: lambda self, command: found})
    allowed = r'it must be finite numbers of shape \(3,\)$'
    with pytest.raises(ArmError, match=f'^device MineDevice: {hook} returns {words}; {allowed}'):
        getattr(device, hook)(np.zeros(3))


@pytest.mark.parametrize(
    ('found', 'words'),
    [
        (None, 'NoneType; it must be a Measurement'),
        (
            MEASURED._replace(q=np.ones(1)),
            r'q of float64 of shape \(1,\); it must be',
        ),
        (MEASURED._replace(v=np.ones(3) * 1j), 'v of complex128'),
    ],
)
@pytest.mark.parametrize('hook', ['read', 'reset'])
def test_a_reading_of_another_form_is_refused(hook, found, words):
    device = device_with(**{hook: lambda self, *given: found})
    given = (0, MEASURED) if hook == 'reset' else (MEASURED,)
    with pytest.raises(ArmError, match=f'^device MineDevice: {hook} returns {words}'):
        getattr(device, hook)(*given)


def test_a_device_that_changes_nothing_leaves_the_views_of_the_state():
    device = device_with()
    first = device.reset(0, MEASURED)
    assert np.shares_memory(first.q, MEASURED.q)
    assert device.sent(MEASURED.v) is MEASURED.v


def test_lists_are_the_numbers_that_they_hold():
    device = device_with(sent=lambda self, command: [1, 2, 3])
    np.testing.assert_array_equal(device.sent(np.zeros(3)), [1.0, 2.0, 3.0])
