"""When the simulated arm steps in real time, and when it brakes."""

import numpy as np
import pytest
from clocked_arm import GRAVITY, PERIOD, realtime, run
from following import HOME, MODEL
from following import goal as a_goal
from following import make as make_follower

from arm_controllers.laws import law_class
from arm_controllers.measurement import Measurement
from arm_sim.simulation.limits import Limits
from arm_sim.simulation.resend_timeout import RESEND_PERIOD
from arm_tools.standards.steps import Steps

PUSH = GRAVITY + np.array([5.0, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize('factor', [0.01, 0.5, 1.0, 20.0])
def test_real_time_follows_the_wall_clock_times_its_factor(factor):
    clock, simulation, output, wall = realtime(factor=factor)
    assert clock.pacing.tick_period <= RESEND_PERIOD
    run(clock, wall, 1.0)
    assert simulation.time_ns * 1e-9 == pytest.approx(factor, abs=0.005)
    assert output.shown == 1 + simulation.steps
    assert clock.pacing.skipped == clock.pacing.late == 0


def test_real_time_catches_up_a_little_and_gives_up_what_is_more():
    clock, simulation, _, wall = realtime()
    wall.now += 0.0101
    clock.tick()
    assert (simulation.steps, clock.pacing.late, clock.pacing.skipped) == (5, 1, 0)
    wall.now += 3.0
    clock.tick()
    assert (simulation.steps, clock.pacing.late, clock.pacing.skipped) == (6, 2, 1499)
    wall.now += 0.0021
    clock.tick()
    assert simulation.steps == 7


def test_two_steps_due_at_once_are_late_and_one_is_not():
    clock, simulation, _, wall = realtime()
    for late, periods in enumerate((1, 2, 3)):
        wall.now += (periods + 0.1) * PERIOD * 1e-9
        clock.tick()
        wall.now -= 0.1 * PERIOD * 1e-9
        assert clock.pacing.late == late
    assert simulation.steps == 6


def test_a_command_of_the_timeout_is_still_used_and_of_a_period_more_no_longer():
    clock, simulation, _, wall = realtime()
    run(clock, wall, 0.02)
    clock.take(simulation.time_ns, PUSH)
    given = simulation.time_ns
    while simulation.time_ns <= given + 100_000_000:  # the step at this age goes on
        assert not simulation.braking or simulation.time_ns == given
        run(clock, wall, clock.pacing.tick_period)
    assert not simulation.braking
    run(clock, wall, clock.pacing.tick_period)
    assert simulation.braking


def test_real_time_holds_the_newest_command_until_it_is_too_old():
    clock, simulation, output, wall = realtime()
    run(clock, wall, 0.02)
    newest = simulation.time_ns
    assert clock.pacing.accepts(newest)
    assert clock.pacing.accepts(newest - PERIOD)
    assert not clock.pacing.accepts(newest + PERIOD)
    clock.take(newest, PUSH)
    assert clock.pacing.accepts(newest)  # any controller that answers the same state again
    assert not clock.pacing.accepts(newest - PERIOD)
    run(clock, wall, 0.09)
    assert not simulation.braking
    assert not output.warnings
    run(clock, wall, 0.03)
    assert simulation.braking
    assert output.warnings[0].startswith('no command for 0.1')
    assert clock.pacing.oldest_command_ns >= 100_000_000
    run(clock, wall, 2.0)
    assert simulation.at_rest
    assert (len(output.warnings), clock.lost) == (1, 1)


def test_simulated_time_stands_still_for_a_late_command_and_then_goes_on_without_braking():
    clock, simulation, output, wall = realtime(wait=1.0)
    run(clock, wall, 0.02)
    clock.take(simulation.time_ns, GRAVITY)
    run(clock, wall, 1.05)
    stood = simulation.time_ns
    assert stood == clock.command_ns + 102_000_000
    assert clock.pacing.skipped > 400
    assert not simulation.braking
    clock.take(stood, GRAVITY)
    run(clock, wall, 0.05)
    assert 0.05e9 <= simulation.time_ns - stood <= 0.07e9  # it catches up by 10 steps at most
    assert not output.warnings


def test_a_controller_that_is_silent_for_longer_than_the_wait_is_lost():
    clock, simulation, output, wall = realtime(wait=1.0)
    run(clock, wall, 0.02)
    clock.take(simulation.time_ns, GRAVITY)
    run(clock, wall, 1.09)
    assert not simulation.braking
    run(clock, wall, 0.03)
    assert simulation.braking
    assert output.warnings[0].startswith('no command for 0.102 s')
    assert ', nor while time stood still for 1 s: braking' in output.warnings[0]


def test_time_in_which_the_simulator_itself_is_stopped_is_no_silence_of_a_controller():
    clock, simulation, output, wall = realtime(wait=1.0)
    run(clock, wall, 0.02)
    clock.take(simulation.time_ns, GRAVITY)
    run(clock, wall, 0.2)
    wall.now += 25.0
    run(clock, wall, 0.5)
    assert not simulation.braking
    assert not output.warnings


def test_many_steps_of_a_paused_clock_are_made_in_real_time_too_so_that_commands_keep_up():
    clock, simulation, output, wall = realtime()
    clock.pause(True)
    steps = Steps(clock, 10**15)
    for k in range(100):
        clock.take(simulation.time_ns, GRAVITY)
        run(clock, wall, clock.pacing.tick_period)
        assert simulation.steps == k + 1
    assert not simulation.braking
    assert not output.warnings
    clock.pause(True)
    assert steps.failure == f'stopped in between: 100 of {10**15} steps were made'
    run(clock, wall, 0.1)
    assert simulation.steps == 100


def test_a_state_that_stays_is_shown_again_after_a_tenth_of_a_second():
    clock, _, output, wall = realtime()
    clock.pause(True)
    run(clock, wall, 0.09)
    assert output.shown_again == 0
    run(clock, wall, 0.02)
    assert output.shown_again == 1


def test_paused_real_time_stands_still_steps_when_allowed_and_then_does_not_catch_up():
    clock, simulation, output, wall = realtime()
    clock.pause(True)
    run(clock, wall, 1.0)
    assert simulation.time_ns == 0
    assert output.shown_again in (9, 10)
    clock.allow_step()
    clock.allow_step()
    run(clock, wall, 0.01)
    assert simulation.time_ns == 2 * PERIOD
    clock.pause(False)
    run(clock, wall, 0.01)
    assert simulation.time_ns == 7 * PERIOD
    assert clock.pacing.late == 0


@pytest.mark.parametrize(('age', 'message'), [(0, False), (12, True)])
def test_bad_news_of_real_time_name_a_machine_that_is_too_slow_and_by_how_much(
    age, message, monkeypatch
):
    clock, simulation, output, wall = realtime()
    given = -1
    for _ in range(200):  # each command answers a state that is this number of periods old
        stamp = simulation.time_ns - age * PERIOD
        if stamp > given:
            given = stamp
            clock.take(stamp, GRAVITY)
        run(clock, wall, clock.pacing.tick_period)
    simulation.guard.notice = 'too fast'
    run(clock, wall, clock.pacing.tick_period)
    monkeypatch.setattr(simulation.plant, 'step', lambda command: simulation.plant.q.fill(np.nan))
    run(clock, wall, clock.pacing.tick_period)
    for words in (output.warnings[-1], output.failures[-1]):
        assert (
            'the machine is too slow for real time: commands are 24 ms old, 12' in words
        ) == message
        assert ('a smaller real_time_factor' in words) == message


@pytest.mark.parametrize('stop', [10, 20, 30, 40])
def test_a_torque_that_is_held_for_the_timeout_moves_no_joint_beyond_the_drives_speed(stop):
    # As in a storm of goals: 0.06 rad in 0.1 s are allowed; the controller stops during them.
    clock, simulation, _, wall = realtime()
    law_of = law_class('computed_torque')
    law, follower = law_of(MODEL, law_of.Parameters()), make_follower()
    state = law.start(Measurement(HOME, np.zeros(6)), follower.reference)
    follower.set_goal(a_goal([0.1], [HOME + 0.06]), 0)
    shares = []
    for step in range(150):
        time_ns, q, v = simulation.time_ns, simulation.plant.q.copy(), simulation.plant.v.copy()
        shares.append((np.abs(v) / MODEL.velocity_limit).max())
        if step < stop:
            reference = follower.update(time_ns, q, v)
            command, state = law(state, Measurement(q, v), reference, 0.002)
            clock.take(time_ns, command)
        run(clock, wall, clock.pacing.tick_period)
    assert simulation.braking
    assert max(shares) < Limits().speed_limit_factor
    assert (max(shares) > 1.2) == (stop == 10), max(shares)  # no law can help what is held


def test_a_factor_that_is_set_counts_from_then_on():
    clock, simulation, _, wall = realtime()
    periods = []
    clock.wake = periods.append
    run(clock, wall, 0.5)
    clock.pacing.set_timing(factor=0.1, timeout=0.1)
    assert periods == [clock.pacing.tick_period] == [pytest.approx(0.02)]
    run(clock, wall, 1.0)
    assert simulation.time_ns * 1e-9 == pytest.approx(0.6, abs=0.005)
    assert clock.pacing.late == clock.pacing.skipped == 0
