"""The states of a control cycle: every event in every state."""

import pytest

from arm_controllers.cycle_state import CycleState, Event, is_active, next_state

INACTIVE, WAITING, READY, COMMANDING, REJECTED, RELEASING = CycleState


def after(*events):
    state = INACTIVE
    for event in events:
        state = next_state(state, event)
    return state


START = (Event.ACTIVATE, Event.GRANT, Event.BEGIN)


def test_a_controller_commands_after_its_activation_a_grant_and_a_first_command():
    assert [after(*START[:k]) for k in range(4)] == [INACTIVE, WAITING, READY, COMMANDING]


def test_a_controller_that_was_commanding_releases_and_then_is_inactive():
    assert after(*START, Event.DEACTIVATE) is RELEASING
    assert after(*START, Event.DEACTIVATE, Event.RELEASED) is INACTIVE
    assert after(*START[:2], Event.DEACTIVATE) is INACTIVE


@pytest.mark.parametrize('count', [1, 2, 3])
def test_a_rejected_controller_is_silent_until_it_is_accepted_and_then_begins_again(count):
    rejected = (*START[:count], Event.REJECT)
    assert after(*rejected) is REJECTED
    for event in (Event.GRANT, Event.BEGIN, Event.LOSE, Event.RELEASED):
        assert after(*rejected, event) is REJECTED
    assert after(*rejected, Event.ACCEPT, Event.BEGIN) is COMMANDING


def test_a_controller_that_has_lost_its_states_begins_again_without_another_grant():
    assert after(*START, Event.LOSE, Event.BEGIN) is COMMANDING


@pytest.mark.parametrize('state', [INACTIVE, RELEASING])
def test_nothing_but_an_activation_makes_a_controller_active(state):
    for event in set(Event) - {Event.ACTIVATE}:
        assert not is_active(next_state(state, event))
    assert next_state(state, Event.ACTIVATE) is WAITING
