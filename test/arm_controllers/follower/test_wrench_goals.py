"""Wrench goals: their frame, the axes that they select, when they begin, what is refused."""

import numpy as np
import pytest
from following import DT, HOME, MODEL, REST, SECOND, make

from arm_dynamics.checks import ArmError

DOWN = np.array([0.0, 0.0, -10.0, 0.0, 0.0, 0.0])


def wrench_at(arm, time_ns, q=HOME):
    return arm.update(time_ns, q, REST).wrench


def test_a_wrench_has_the_axes_of_its_frame_at_the_state_at_which_it_begins():
    arm, later = make(), HOME + 0.3
    arm.set_wrench(np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3]), 2 * DT, 'tool0')
    assert wrench_at(arm, DT) is None
    turn = MODEL.forward_kinematics(later, 'tool0').rotation
    expected = np.concatenate([turn @ [1.0, 2.0, 3.0], turn @ [0.1, 0.2, 0.3]])
    np.testing.assert_allclose(wrench_at(arm, 2 * DT, later), expected, atol=1e-14)
    np.testing.assert_allclose(wrench_at(arm, 3 * DT), expected, atol=1e-14)  # the axes stay
    arm.set_wrench(DOWN)
    np.testing.assert_array_equal(wrench_at(arm, 4 * DT), DOWN)
    assert arm.reference.selection is None
    arm.set_wrench(np.zeros(6))
    assert wrench_at(arm, 5 * DT) is None


def test_selected_axes_are_projected_into_base_axes():
    arm = make(wrench_axes=('x', 'rz'))
    arm.set_wrench(np.array([5.0, 0.0, 0.0, 0.0, 0.0, 0.0]), frame='tool0')
    wrench_at(arm, DT)
    turn = MODEL.forward_kinematics(HOME, 'tool0').rotation
    expected = np.zeros((6, 6))
    expected[:3, :3] = np.outer(turn[:, 0], turn[:, 0])
    expected[3:, 3:] = np.outer(turn[:, 2], turn[:, 2])
    np.testing.assert_allclose(arm.reference.selection, expected, atol=1e-14)


@pytest.mark.parametrize(
    ('wrench', 'from_ns', 'frame', 'text'),
    [
        ([0, 0, np.nan, 0, 0, 0], 0, '', r'force \[N\].*nan'),
        ([0, 0, np.inf, 0, 0, 0], 0, '', r'force \[N\].*inf'),
        ([0, 80.0, -80.0, 0, 0, 0], 0, '', r'force \[N\] .*113.*100'),
        ([0, 0, 1e300, 0, 0, 0], 0, '', r'force \[N\]'),
        ([0, 0, 0, 0, 0, 11.0], 0, '', r'torque \[N.m\] .*11.*10'),
        ([0, 3.0, 0, 0, 0, 0], 0, '', 'y is 3; only axes of wrench_goal.axes.*: z, rz'),
        ([0, 0, 3.0, 0, 0, 0], 0, 'tol0', "no frame 'tol0'"),
        ([0, 0, 3.0, 0, 0, 0], SECOND, '', 'stamp is 1 s before the newest state.*0.5 s'),
    ],
)
def test_a_refused_wrench_is_named_in_one_line_and_changes_nothing(wrench, from_ns, frame, text):
    arm = make(at=2 * SECOND, wrench_axes=('z', 'rz'))
    arm.set_wrench(DOWN)
    arm.update(2 * SECOND, HOME, REST)
    arm.set_wrench(0.5 * DOWN, 2 * SECOND + 100 * DT)
    with pytest.raises(ArmError, match=text) as caught:
        arm.set_wrench(np.array(wrench, dtype=float), from_ns, frame)
    assert '\n' not in str(caught.value)
    np.testing.assert_array_equal(wrench_at(arm, 2 * SECOND + DT), DOWN)
    np.testing.assert_array_equal(wrench_at(arm, 2 * SECOND + 99 * DT), DOWN)
    np.testing.assert_array_equal(wrench_at(arm, 2 * SECOND + 100 * DT), 0.5 * DOWN)


def test_more_waiting_wrenches_than_allowed_are_refused():
    arm = make(waiting_goals_limit=2)
    for k in (1, 2):
        arm.set_wrench(DOWN, k * SECOND)
    with pytest.raises(ArmError, match='2 wrench goals are waiting.*waiting_goals_limit = 2'):
        arm.set_wrench(DOWN, 3 * SECOND)
    arm.set_wrench(DOWN, SECOND)  # the later ones are forgotten
    arm.set_wrench(DOWN, 3 * SECOND)


def test_taking_over_again_ends_the_wrench_and_those_that_wait():
    arm = make()
    arm.set_wrench(DOWN)
    arm.update(DT, HOME, REST)
    arm.set_wrench(DOWN, 4 * DT)
    arm.activate(2 * DT, HOME, REST)
    assert wrench_at(arm, 3 * DT) is None
    assert wrench_at(arm, 5 * DT) is None
