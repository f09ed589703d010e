"""How a controller judges what lies between two states: time, senders, the way of the joints."""

import re

import numpy as np
import pytest
from following import HOME, MODEL

from arm_controllers.follower.state_sequence import StateOrder, StateSequence
from arm_dynamics.model import RobotModel

PERIOD = 2_000_000
NEXT, BACK, MISSED, JUMPED = StateOrder
REST = np.zeros(6)


def steps(periods, lockstep=True):
    """Return what each of these stamps, in periods, is after the first."""
    made = StateSequence(PERIOD, lockstep, MODEL)
    found = [made.take(round(k * PERIOD), HOME, REST) for k in periods]
    assert made.time_ns == round(periods[-1] * PERIOD)
    return found[1:]


@pytest.mark.parametrize('lockstep', [True, False])
def test_states_a_period_apart_follow_each_other_and_so_does_one_seen_twice(lockstep):
    assert steps([5, 6, 7, 7, 8], lockstep) == [NEXT] * 4


def test_in_lockstep_a_longer_step_means_that_the_plants_brake_had_the_arm():
    assert steps([0, 1, 4, 5, 15]) == [NEXT, MISSED, NEXT, MISSED]


def test_in_real_time_a_longer_step_means_nothing():
    assert steps([0, 1, 4, 5, 500], lockstep=False) == [NEXT] * 4


def test_a_plant_of_a_longer_period_than_configured_is_missed_once_at_most():
    assert steps([0, 2, 4, 6, 8]) == [MISSED, NEXT, NEXT, NEXT]
    assert steps([0, 0.5, 1, 1.5]) == [NEXT] * 3


@pytest.mark.parametrize('lockstep', [True, False])
def test_an_earlier_state_is_a_step_back_and_time_goes_on_from_there(lockstep):
    assert steps([100, 101, 0, 1, 2], lockstep) == [NEXT, BACK, NEXT, NEXT]


def test_a_state_that_is_a_few_milliseconds_old_was_overtaken_on_its_way():
    made = StateSequence(PERIOD, True, MODEL)
    made.take(1_000 * PERIOD, HOME, REST)
    assert [made.overtaken((1_000 - k) * PERIOD, 0.001) for k in (1, 2, 5)] == [True] * 3
    assert not made.overtaken(1_000 * PERIOD, 0.001)
    assert not made.overtaken(1_001 * PERIOD, 0.001)
    assert made.take(1_001 * PERIOD, HOME, REST) is NEXT


@pytest.mark.parametrize('newest', [1, 2, 3, 5, 1000])
def test_a_reset_is_distinguished_from_an_overtaken_state_however_early_it_comes(newest):
    made = StateSequence(PERIOD, True, MODEL)
    made.take(newest * PERIOD, HOME, REST)
    assert not made.overtaken(0, 0.001)  # the simulator's
    if newest > 1:
        assert not made.overtaken(PERIOD, 0.06)  # another plant's, that waits for its answer
    if newest > 6:
        assert not made.overtaken(PERIOD, 0.001)


def test_states_of_a_long_period_may_be_overtaken_too():
    made = StateSequence(50 * PERIOD, False, MODEL)
    made.take(500 * PERIOD, HOME, REST)
    assert made.overtaken(450 * PERIOD, 0.001)
    assert not made.overtaken(350 * PERIOD, 0.001)


def after_rest(way, periods=1, v=REST, sender='here'):
    """Return how a state follows one at rest, that far away and so much later."""
    made = StateSequence(PERIOD, False, MODEL)
    made.take(0, HOME, REST, 'here')
    made.take(PERIOD, HOME, REST, 'here')
    return made.take((1 + periods) * PERIOD, HOME + way, v, sender), made.jump


def test_a_joint_that_is_farther_away_than_it_can_have_moved_has_jumped():
    reach = 2.0 * MODEL.velocity_limit * PERIOD * 1e-9
    for joint in range(6):
        way = np.zeros(6)
        for sign in (1.0, -1.0):
            way[joint] = sign * 0.99 * reach[joint]
            assert after_rest(way)[0] is NEXT
            assert after_rest(10.0 * way, periods=10)[0] is NEXT
            way[joint] = sign * 1.01 * reach[joint]
            step, jump = after_rest(way)
            assert step is JUMPED
            assert f'{MODEL.joint_names[joint]!r}: position jumped by 0.0' in jump
    assert after_rest(0.99 * reach)[0] is NEXT  # all joints at once


def test_an_arm_that_moves_as_fast_as_it_says_has_not_jumped():
    v = 5.0 * MODEL.velocity_limit
    assert after_rest(v * PERIOD * 1e-9, v=v)[0] is NEXT
    assert after_rest(v * PERIOD * 1e-9)[0] is JUMPED


def test_states_of_two_simulators_do_not_follow_each_other_at_any_position():
    step, jump = after_rest(np.zeros(6), sender='there')
    assert step is JUMPED
    assert jump == "states come from 'there', no longer from 'here'"


def test_a_joint_without_a_speed_limit_may_be_anywhere():
    free = RobotModel.from_urdf(re.sub('velocity="[^"]*"', 'velocity="0"', MODEL.urdf))
    made = StateSequence(PERIOD, False, free)
    made.take(0, HOME, REST)
    assert made.take(PERIOD, HOME + 3.0, REST) is NEXT
