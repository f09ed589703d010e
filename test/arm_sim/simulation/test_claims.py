"""Joint claims: who may command which joints of the arm, and in which order the arm steps."""

import numpy as np
import pytest
from clocked_arm import GRAVITY, PERIOD, lockstep, make, realtime, run

from arm_dynamics.checks import ArmError
from arm_sim.pacings.lockstep import LockstepPacing
from arm_sim.simulation.claims import REJECTION_TIME, Claims, Endpoint

NAMES = ('shoulder', 'elbow', 'finger')
ARM, FINGER = NAMES[:2], NAMES[2:]


class Wall:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def claims():
    wall = Wall()
    made = Claims(NAMES, wall)
    made.wall = wall
    return made


def at_rest(joints):
    return True


def in_motion(joints):
    return False


def test_two_controllers_claim_different_joints_and_a_third_none_of_theirs(claims):
    claims.claim('arm', ('elbow', 'shoulder'), at_rest)
    assert claims.unclaimed.tolist() == [2]
    claims.claim('gripper', FINGER, at_rest)
    assert {each.source: each.joint_names for each in claims} == {'arm': ARM, 'gripper': FINGER}
    with pytest.raises(ArmError, match="joint 'finger': 'gripper' has claimed it, 'other' is ref"):
        claims.claim('other', FINGER, at_rest)
    claims.release('gripper')
    claims.claim('third', FINGER, at_rest)


def test_unknown_joints_are_named_only_next_to_all_joints_of_the_arm(claims):
    with pytest.raises(ArmError, match="unknown joint 'fingr'; nearest known: 'finger'"):
        claims.claim('arm', (*ARM, 'fingr'), at_rest)
    assert claims.claim('arm', (*NAMES, 'camera'), at_rest).joint_names == NAMES


def test_no_claim_while_the_joints_move_but_for_the_endpoint_that_had_them_last(claims):
    claims.claim('arm', ARM, at_rest, number=7)
    claims.expire()
    for source, number in (('other', 8), ('arm', 7), ('arm', 3)):
        with pytest.raises(ArmError, match='gets no claim while the joints move'):
            claims.claim(source, ARM, in_motion, number=number)
    assert claims.claim('arm', ARM, in_motion, number=8).number == 8
    claims.clear()
    with pytest.raises(ArmError, match='gets no claim while the joints move'):
        claims.claim('arm', ARM, in_motion, number=9)


def test_a_spoofed_name_is_rejected_until_no_command_came_for_ten_seconds(claims):
    claims.claim('arm', NAMES, at_rest, Endpoint('/arm', b'1'), 5)
    claims.reject('arm', 'another publisher commands as arm')
    assert len(claims) == 0
    for _ in range(5):
        claims.wall.now += 0.9 * REJECTION_TIME
        with pytest.raises(ArmError, match='another publisher commands as arm'):
            claims.claim('arm', NAMES, at_rest, number=6)
    claims.wall.now += 1.1 * REJECTION_TIME
    assert claims.rejections == {}
    claims.claim('arm', NAMES, at_rest, number=6)


def test_a_competing_source_gets_a_claim_ten_seconds_after_it_competed_last(claims):
    claims.claim('arm', NAMES, at_rest)
    with pytest.raises(ArmError, match='two controllers command'):
        claims.claim('other', NAMES, at_rest)
    claims.release('arm')
    claims.wall.now += 0.9 * REJECTION_TIME
    with pytest.raises(ArmError, match='gets no claim for 10 s after a rejection'):
        claims.claim('other', NAMES, at_rest)
    claims.wall.now += 0.2 * REJECTION_TIME
    claims.claim('other', NAMES, at_rest)


def test_a_flood_of_names_is_not_remembered_and_does_not_end_a_spoofed_names_rejection(claims):
    claims.claim('arm', NAMES, at_rest)
    claims.reject('spoofed', 'why')
    for k in range(1000):
        with pytest.raises(ArmError):
            claims.claim(f'name {k}', NAMES, at_rest)
    assert len(claims.rejections) <= 101
    assert claims.rejections['spoofed'] == 'why'
    with pytest.raises(ArmError, match='has a name of 300 characters; allowed: 255'):
        claims.claim('x' * 300, NAMES, at_rest)


def claimed(clock, source, joints):
    names = [clock.simulation.plant.joint_names[k] for k in joints]
    return clock.claims.claim(source, names, clock.simulation.can_be_claimed)


def test_lockstep_steps_when_every_controller_has_answered_the_present_state():
    clock, simulation, _, _ = lockstep()
    arm, wrist = claimed(clock, 'arm', range(4)), claimed(clock, 'wrist', (4, 5))
    for k in range(3):
        clock.take_from(arm, k * PERIOD, GRAVITY[:4])
        assert simulation.steps == k
        clock.take_from(wrist, k * PERIOD, GRAVITY[4:])
        assert simulation.steps == k + 1
    clock.take_from(arm, 3 * PERIOD, GRAVITY[:4])
    clock.release_one(wrist)  # nothing else is missing
    assert simulation.steps == 4
    clock.take_from(arm, 4 * PERIOD, GRAVITY[:4])
    assert simulation.steps == 5


def test_lockstep_begins_when_every_awaited_controller_has_answered_and_then_awaits_none():
    clock, simulation, _, wall = make(LockstepPacing, timeout=5.0, awaited=('arm', 'wrist'))
    clock.take_from(claimed(clock, 'arm', range(4)), 0, GRAVITY[:4])
    run(clock, wall, 20.0)
    assert (simulation.steps, clock.awaited, len(clock.claims)) == (0, {'wrist'}, 1)
    wrist = claimed(clock, 'wrist', (4, 5))
    clock.take_from(wrist, 0, GRAVITY[4:])
    assert simulation.steps == 1
    clock.release_one(wrist)
    clock.take_from(clock.claims.get('arm'), PERIOD, GRAVITY[:4])
    assert simulation.steps == 2


def test_two_controllers_move_the_arm_as_one_that_commands_all_joints_does():
    push = GRAVITY + np.array([5.0, 0.0, 0.0, 0.0, 0.1, 0.0])
    one, whole, _, _ = lockstep()
    two, halves, _, _ = lockstep()
    claim = claimed(one, 'arm', range(6))
    arm, wrist = claimed(two, 'arm', range(4)), claimed(two, 'wrist', (4, 5))
    for k in range(50):
        one.take_from(claim, k * PERIOD, push)
        two.take_from(wrist, k * PERIOD, push[4:])
        two.take_from(arm, k * PERIOD, push[:4])
    np.testing.assert_array_equal(whole.plant.q, halves.plant.q)


@pytest.mark.parametrize('start', [lockstep, realtime])
def test_the_brake_holds_the_joints_that_no_controller_has_claimed(start):
    clock, simulation, _, wall = start()
    wrist = claimed(clock, 'wrist', (4, 5))
    q = simulation.plant.q.copy()
    for _ in range(100):
        clock.take_from(wrist, simulation.time_ns, GRAVITY[4:] + np.array([0.0, 0.05]))
        run(clock, wall, clock.pacing.tick_period)
    moved = np.abs(simulation.plant.q - q)
    assert moved[:4].max() < 1e-3 < moved[5]
    assert not simulation.braking


def test_a_moving_arm_is_claimed_only_when_the_brake_has_brought_it_to_rest():
    clock, simulation, _, wall = realtime()
    first = claimed(clock, 'first', range(6))
    for _ in range(50):
        clock.take_from(first, simulation.time_ns, GRAVITY + 5.0)
        run(clock, wall, clock.pacing.tick_period)
    clock.release_one(first)
    with pytest.raises(ArmError, match='while the joints move'):
        claimed(clock, 'second', range(6))
    run(clock, wall, 2.0)
    claimed(clock, 'second', range(6))


def test_a_controller_that_is_silent_loses_its_claim_and_the_other_one_goes_on():
    clock, simulation, output, wall = lockstep()
    arm, _ = claimed(clock, 'arm', range(4)), claimed(clock, 'wrist', (4, 5))
    clock.take_from(arm, 0, GRAVITY[:4])
    run(clock, wall, 5.2)
    assert output.warnings[0].startswith('no command for 5')
    assert " s (t = 0.000 s) from 'wrist': braking" in output.warnings[0]
    assert len(clock.claims) == 0
    arm = claimed(clock, 'arm', range(4))
    clock.take_from(arm, simulation.time_ns, GRAVITY[:4])
    assert not simulation.braking


def test_a_refusal_names_all_shared_joints(claims):
    claims.claim('arm', NAMES, at_rest)
    both = ', '.join(map(repr, NAMES[:2]))
    with pytest.raises(ArmError, match=f"command joint {both}: 'arm' has claimed it, 'other' is"):
        claims.claim('other', NAMES[:2], at_rest)
