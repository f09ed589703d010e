"""How a controller judges the time between two states."""

import pytest

from arm_controllers.follower.state_steps import StateSteps, Step

PERIOD = 2_000_000
NEXT, BACK, MISSED = Step.NEXT, Step.BACK, Step.MISSED


def steps(periods, lockstep=True):
    """Return what each of these stamps, in periods, is after the first."""
    made = StateSteps(PERIOD, lockstep)
    found = [made.take(round(k * PERIOD)) for k in periods]
    assert made.time_ns == round(periods[-1] * PERIOD)
    return found[1:]


@pytest.mark.parametrize('lockstep', [True, False])
def test_states_a_period_apart_follow_each_other_and_so_does_one_seen_twice(lockstep):
    assert steps([5, 6, 7, 7, 8], lockstep) == [NEXT] * 4


def test_in_lockstep_a_longer_step_means_that_the_plants_brake_had_the_arm():
    assert steps([0, 1, 4, 5, 15]) == [NEXT, MISSED, NEXT, MISSED]


def test_in_real_time_a_longer_step_means_nothing():
    assert steps([0, 1, 4, 5, 500], lockstep=False) == [NEXT] * 4


def test_a_plant_of_a_longer_period_than_was_told_is_missed_once_at_most():
    assert steps([0, 2, 4, 6, 8]) == [MISSED, NEXT, NEXT, NEXT]
    assert steps([0, 0.5, 1, 1.5]) == [NEXT] * 3


@pytest.mark.parametrize('lockstep', [True, False])
def test_an_earlier_state_is_a_step_back_and_time_goes_on_from_there(lockstep):
    assert steps([100, 101, 0, 1, 2], lockstep) == [NEXT, BACK, NEXT, NEXT]


def test_a_state_that_is_a_few_milliseconds_old_was_overtaken_on_its_way():
    made = StateSteps(PERIOD, True)
    made.take(1_000 * PERIOD)
    assert [made.overtaken((1_000 - k) * PERIOD, 0.001) for k in (1, 2, 5)] == [True] * 3
    assert not made.overtaken(1_000 * PERIOD, 0.001)
    assert not made.overtaken(1_001 * PERIOD, 0.001)
    assert made.take(1_001 * PERIOD) is NEXT


@pytest.mark.parametrize('newest', [1, 2, 3, 5, 1000])
def test_a_reset_is_told_from_a_state_that_was_overtaken_however_early_it_comes(newest):
    made = StateSteps(PERIOD, True)
    made.take(newest * PERIOD)
    assert not made.overtaken(0, 0.001)  # the simulator's
    if newest > 1:
        assert not made.overtaken(PERIOD, 0.06)  # another plant's, that waits for its answer
    if newest > 6:
        assert not made.overtaken(PERIOD, 0.001)


def test_states_of_a_long_period_may_be_overtaken_too():
    made = StateSteps(50 * PERIOD, False)
    made.take(500 * PERIOD)
    assert made.overtaken(450 * PERIOD, 0.001)
    assert not made.overtaken(350 * PERIOD, 0.001)
