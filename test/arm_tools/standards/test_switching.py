"""What a request of SwitchController comes to, level of strictness by level."""

import re

import pytest

from arm_dynamics.checks import ArmError
from arm_tools.standards.switching import (
    AUTO,
    BEST_EFFORT,
    FORCE_AUTO,
    STRICT,
    Controller,
    Switch,
    plan,
)

JOINTS = ('hip/effort', 'knee/effort')
FOUND = {
    'pd': Controller('active', JOINTS),
    'computed_torque': Controller('inactive', JOINTS),
    'momentum': Controller('inactive', JOINTS),
    'fresh': Controller('unconfigured', JOINTS),
    'servo': Controller('inactive', ('hip/position', 'knee/position')),
}


def planned(strictness, activate=(), deactivate=()):
    return plan(FOUND, JOINTS, activate, deactivate, strictness)


@pytest.mark.parametrize('strictness', [0, BEST_EFFORT, STRICT, AUTO, FORCE_AUTO])
def test_a_request_that_can_be_met_is_met_at_every_level(strictness):
    found = planned(strictness, ['computed_torque'], ['pd'])
    assert found == Switch(('pd',), ('computed_torque',))
    assert planned(strictness) == Switch((), ())
    assert planned(strictness, [], ['pd', 'pd']) == Switch(('pd',), ())


@pytest.mark.parametrize(
    ('activate', 'deactivate', 'reason'),
    [
        (['nobody'], ['pd'], "no controller 'nobody'; there is: computed_torque, fresh, momentum"),
        (['computed_torque'], ['nobody'], "no controller 'nobody'"),
        (['fresh'], ['pd'], "'fresh' is unconfigured; only from inactive can it be activated"),
        (['pd'], [], "'pd' is active; only from inactive can it be activated"),
        ([], ['momentum'], "'momentum' is inactive; only from active can it be deactivated"),
        (
            ['computed_torque'],
            [],
            "'computed_torque' requires hip/effort, which 'pd' has; deactivate 'pd' in the same",
        ),
        (
            ['computed_torque', 'momentum'],
            ['pd'],
            "'momentum' requires hip/effort, which 'computed_torque' has",
        ),
        (['servo'], ['pd'], "'servo' requires hip/position, which the arm does not offer; "),
        (['nobody', 'fresh'], [], "no controller 'nobody'; there is: "),
    ],
)
def test_what_cannot_be_met_is_refused_whole_or_by_best_effort_in_part(
    activate, deactivate, reason
):
    for strictness in (STRICT, AUTO):
        with pytest.raises(ArmError, match=re.escape(reason)):
            planned(strictness, activate, deactivate)
    done = planned(BEST_EFFORT, activate, deactivate)
    assert len(done.activate) + len(done.deactivate) < len(activate) + len(deactivate)


def test_best_effort_does_what_can_be_done_and_names_the_rest():
    done = planned(BEST_EFFORT, ['nobody', 'computed_torque'], ['pd', 'momentum'])
    assert (done.deactivate, done.activate) == (('pd',), ('computed_torque',))
    assert [each.partition(';')[0] for each in done.left_out] == ["no controller 'nobody'"]
    assert not done.in_vain


def test_best_effort_fails_only_where_one_of_its_lists_comes_to_nothing():
    assert planned(BEST_EFFORT, ['fresh', 'nobody'], ['pd']).in_vain
    assert planned(BEST_EFFORT, ['momentum'], ['nobody']).in_vain
    already = planned(BEST_EFFORT, ['pd'], ['momentum'])
    assert already == Switch((), ())


def test_force_auto_deactivates_who_is_in_the_way_but_starts_no_two_for_one_joint():
    assert planned(FORCE_AUTO, ['momentum']) == Switch(('pd',), ('momentum',))
    with pytest.raises(ArmError, match="'momentum' requires hip/effort, which 'computed_torque'"):
        planned(FORCE_AUTO, ['computed_torque', 'momentum'])
    with pytest.raises(ArmError, match='is unconfigured'):
        planned(FORCE_AUTO, ['fresh'])


def test_another_strictness_is_refused_with_those_that_there_are():
    with pytest.raises(ArmError, match=r'strictness is 5; allowed: BEST_EFFORT \(1\), STRICT'):
        planned(5, ['momentum'])
