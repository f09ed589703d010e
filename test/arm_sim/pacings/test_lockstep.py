"""When the simulated arm steps in lock-step, and when a state is shown again."""

import numpy as np
import pytest
from clocked_arm import GRAVITY, PERIOD, Own, lockstep, run

from arm_sim.simulation.readers import CAMERA_START

PUSH = GRAVITY + np.array([5.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_lockstep_accepts_only_what_answers_the_present_state_and_steps_once_with_it():
    clock, simulation, output, _ = lockstep()
    for k in range(3):
        assert [clock.pacing.accepts((k + d) * PERIOD) for d in (-1, 0, 1)] == [False, True, False]
        clock.take(k * PERIOD, GRAVITY)
        assert simulation.time_ns == (k + 1) * PERIOD
    assert output.shown == 4


def test_lockstep_shows_a_state_again_that_no_node_answers_and_in_the_end_brakes_to_rest():
    clock, simulation, output, wall = lockstep()
    run(clock, wall, 20.0)
    assert simulation.time_ns == 0  # no controller has commanded yet
    assert output.shown_again == pytest.approx(200, abs=1)
    for k in range(50):
        clock.take(k * PERIOD, PUSH)
    assert not simulation.at_rest
    run(clock, wall, 4.9)
    assert simulation.time_ns == 50 * PERIOD
    assert not output.warnings
    run(clock, wall, 0.3)
    assert output.warnings[0].startswith('no command for 5')
    assert simulation.braking
    assert simulation.at_rest
    at_rest_ns = simulation.time_ns
    run(clock, wall, 20.0)
    assert simulation.time_ns == at_rest_ns
    assert len(output.warnings) == 1


@pytest.mark.parametrize('comes', [False, True])
def test_time_waits_for_the_start_of_a_camera_and_goes_on_without_one_after_the_limit(comes):
    clock, simulation, output, wall = lockstep()
    clock.readers.await_camera()
    clock.take(0, GRAVITY)
    wall.now += CAMERA_START - 0.1
    clock.tick()
    assert simulation.steps == 0
    clock.readers.is_there = lambda reader: comes
    wall.now += 0.2
    clock.tick()
    assert simulation.steps == (0 if comes else 1)
    says = f'no node camera within {CAMERA_START:g} s: time begins without pictures'
    assert output.warnings == [says] * (not comes)
    clock.readers.is_there = lambda reader: False  # a camera that has come and gone
    clock.tick()
    assert simulation.steps == 1
    assert len(output.warnings) == (not comes)


def test_paused_lockstep_takes_one_step_for_each_that_is_allowed_before_or_after_its_command():
    clock, simulation, _, wall = lockstep()
    clock.pause(True)
    clock.take(0, GRAVITY)
    run(clock, wall, 20.0)
    assert simulation.time_ns == 0
    clock.allow_step()
    assert simulation.time_ns == PERIOD
    clock.allow_step()
    assert simulation.time_ns == PERIOD
    clock.take(PERIOD, GRAVITY)
    clock.take(2 * PERIOD, GRAVITY)
    assert simulation.time_ns == 2 * PERIOD
    clock.pause(False)
    assert simulation.time_ns == 3 * PERIOD


def test_own_command_source_of_a_lockstep_clock_goes_on_alone_and_takes_over_from_a_lost_one():
    own = Own()
    clock, simulation, output, wall = lockstep(own)
    assert [clock.go_on() for _ in range(3)] == [True] * 3
    assert simulation.time_ns == 3 * PERIOD
    clock.yield_to('pd_controller')
    assert not clock.go_on()
    clock.take(3 * PERIOD, PUSH)
    run(clock, wall, 5.2)
    assert len(output.warnings) == 1
    assert own.in_charge
    assert clock.go_on()
    assert not simulation.braking


class LossyLink:
    """A controller that answers after a round trip, over topics that lose some messages."""

    def __init__(self, loss, round_trip=2e-4, seed=0, spread=(0.8, 1.4)):
        self.clock, self.simulation, self.output, self.wall = lockstep()
        self.output.show = self.output.show_again = self.send
        self.clock.wake = self.wake
        self.loss, self.round_trip, self.spread = loss, round_trip, spread
        self.rng = np.random.default_rng(seed)
        self.answers, self.sent = [], 0
        self.tick_at, self.period = self.wall.now, self.clock.pacing.tick_period

    def wake(self, period):
        self.tick_at, self.period = self.wall.now + period, period

    def send(self):
        self.sent += 1
        if (self.rng.random(2) >= self.loss).all():  # the state, its answer
            delay = self.round_trip * self.rng.uniform(*self.spread)
            self.answers.append((self.wall.now + delay, self.simulation.time_ns))

    def run(self, steps):
        """Return the time that these steps take [s]."""
        start, end = self.wall.now, self.simulation.steps + steps
        if not self.sent:
            self.send()
        while self.simulation.steps < end:
            time, stamp = min([*self.answers, (self.tick_at, None)], key=lambda each: each[0])
            self.wall.now = max(time, self.wall.now)
            if stamp is None:
                self.tick_at += self.period
                self.clock.tick()
            else:
                self.answers.remove((time, stamp))
                if self.clock.pacing.accepts(stamp):
                    self.clock.take(stamp, GRAVITY)
                elif stamp == self.simulation.time_ns - PERIOD:
                    self.clock.pacing.answered_again()
        return self.wall.now - start


@pytest.mark.slow
def test_lockstep_that_loses_a_third_of_its_messages_takes_at_most_three_times_as_long():
    whole = LossyLink(0.0)
    whole.run(1000)
    expected = whole.run(300)
    assert whole.sent == 1 + 1300  # nothing was sent twice
    for seed in range(10):
        lossy = LossyLink(0.3, seed=seed)
        lossy.run(500)
        assert lossy.run(300) < 3.0 * expected


def test_answers_that_are_only_late_are_not_asked_for_again_and_again():
    link = LossyLink(0.0, spread=(0.5, 3.0))
    link.run(1000)
    link.answers.clear()  # one is lost
    before = link.sent
    link.run(2000)
    assert link.sent - before < 2200


def test_the_first_loss_is_noticed_within_a_few_milliseconds_and_the_next_at_once():
    link = LossyLink(0.0)
    link.run(1000)
    for longest in (0.016, 0.001):
        link.loss = 1.0
        link.answers.clear()
        link.clock.show()
        link.loss = 0.0
        assert link.run(2) < longest


def test_a_controller_that_is_slow_is_asked_ever_less_often():
    link = LossyLink(0.0)
    link.run(1000)
    link.loss, link.sent = 1.0, 0
    link.clock.show()
    run_until = link.wall.now + 1.0
    while link.wall.now < run_until:
        link.wall.now = link.tick_at
        link.tick_at += link.period
        link.clock.tick()
    assert 25 < link.sent < 60


def test_a_timeout_that_is_set_counts_from_then_on():
    clock, _, output, wall = lockstep()
    clock.take(0, PUSH)
    run(clock, wall, 2.0)
    assert not output.warnings
    clock.pacing.set_timing(timeout=1.0)
    run(clock, wall, 0.1)
    assert output.warnings
