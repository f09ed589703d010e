"""Lock-step with a controller_manager: what proves a cycle, and what does not."""

import numpy as np
from clocked_arm import GRAVITY, PERIOD, Output, make

from arm_sim.simulation.claims import Claim
from arm_tools.standards.manager_pacing import GRACE, ManagerPacing, State

CLAIM = Claim('manager', (), np.arange(6))
NONE, EARLIER, COMMANDS = (
    'unproven: no message of joint_state_broadcaster',
    'unproven: the hardware component read an earlier state',
    'unproven: not one command of the hardware component',
)


class StateAndClock(Output):
    """Notes states and messages of /clock."""

    simulation, holds_clock, clocks = None, False, 0

    def __init__(self):
        super().__init__()
        self.notes, self.state_bytes = [], []
        self.note = self.notes.append

    def show(self):
        super().show()
        plant = self.simulation.plant
        self.state_bytes = [each.tobytes() for each in (plant.q, plant.v, plant.effort)]
        self.clocks += not self.holds_clock

    def show_clock(self, after=0.0):
        self.clocks += 1


class Manager:
    """Answers like a manager: a command in `write`, and what was read."""

    def __init__(self):
        self.clock, self.simulation, self.output, self.wall = make(
            ManagerPacing, output=StateAndClock, timeout=5.0
        )

    def reads(self, state=None):
        state = self.output.state_bytes if state is None else state
        self.clock.pacing.read(self.simulation.time_ns, state)

    def writes(self, command=GRAVITY):
        self.clock.take_from(CLAIM, self.simulation.time_ns, command)
        self.clock.pacing.written()

    def cycle(self, command=GRAVITY):
        """The usual order: the command first, the broadcaster's thread after it."""
        stamp, state = self.simulation.time_ns, self.output.state_bytes
        self.writes(command)
        self.clock.pacing.read(stamp, state)

    def locked(self):
        self.reads()
        self.writes()
        self.ticks(1.1 * GRACE)  # the first cycle waits for what may be under way
        return self

    def ticks(self, seconds):
        for _ in range(round(seconds / 0.01)):
            self.wall.now += 0.01
            self.clock.tick()

    @property
    def unproven(self):
        return [self.clock.pacing.counts[name] for name in (NONE, EARLIER, COMMANDS)]


def test_time_follows_the_wall_clock_until_the_broadcaster_sends():
    manager = Manager()
    manager.ticks(0.1)
    assert manager.simulation.time_ns == 10 * PERIOD
    manager.locked()
    time_ns = manager.simulation.time_ns
    manager.ticks(2.0)
    assert manager.simulation.time_ns == time_ns
    assert manager.output.notes == ['lock-step with the controller_manager']


def test_a_cycle_needs_the_command_and_what_was_read_in_any_order():
    manager = Manager().locked()
    time_ns, clocks = manager.simulation.time_ns, manager.output.clocks
    state = manager.output.state_bytes
    manager.writes()
    assert manager.simulation.time_ns == time_ns + PERIOD  # the step needs the command alone
    assert manager.output.clocks == clocks  # the next update needs the proof as well
    manager.clock.pacing.read(time_ns, state)
    assert manager.output.clocks == clocks + 1
    manager.reads()
    assert manager.simulation.time_ns == time_ns + PERIOD
    manager.writes()
    assert manager.simulation.time_ns == time_ns + 2 * PERIOD
    assert manager.output.clocks == clocks + 2
    assert manager.unproven == [0, 0, 0]
    assert manager.clock.pacing.counts['lock-step cycles'] == 3


def test_the_command_of_an_update_acts_in_the_period_after_its_state():
    manager, other = Manager().locked(), Manager().locked()
    manager.cycle(GRAVITY + 1.0)
    other.simulation.advance(GRAVITY + 1.0)
    assert np.array_equal(manager.simulation.plant.q, other.simulation.plant.q)


def test_an_earlier_state_is_counted_and_the_run_goes_on():
    manager = Manager().locked()
    stamp, earlier = manager.simulation.time_ns, manager.clock.pacing.before
    assert earlier != manager.output.state_bytes
    manager.writes()
    manager.clock.pacing.read(stamp, earlier)
    assert manager.unproven == [0, 1, 0]
    (warning,) = manager.output.warnings
    assert 'cycle 2 of the lock-step (t = 0.0020 s) is not proven: the hardware' in warning
    manager.cycle()
    assert manager.unproven == [0, 1, 0]


def test_a_lost_message_of_the_broadcaster_is_counted_after_the_grace():
    manager = Manager().locked()
    clocks = manager.output.clocks
    manager.writes()
    manager.ticks(0.9 * GRACE)
    assert manager.output.clocks == clocks
    manager.ticks(0.2 * GRACE)
    assert manager.output.clocks == clocks + 1
    assert manager.unproven == [1, 0, 0]


def test_a_silent_component_means_its_last_command_and_is_counted():
    manager, other = Manager().locked(), Manager().locked()
    for each in (manager, other):
        each.cycle(GRAVITY + 1.0)
    manager.reads()
    manager.ticks(1.1 * GRACE)
    other.simulation.advance(GRAVITY + 1.0)
    assert np.array_equal(manager.simulation.plant.v, other.simulation.plant.v)
    assert manager.unproven == [0, 0, 1]


def test_a_late_command_shifts_no_later_one():
    manager, other = Manager().locked(), Manager().locked()
    manager.reads()
    manager.ticks(1.1 * GRACE)  # its command is late
    manager.reads()
    manager.writes(GRAVITY + 1.0)  # here it comes
    manager.writes(GRAVITY + 2.0)
    manager.ticks(1.1 * GRACE)
    assert manager.unproven == [0, 0, 2]
    manager.reads()
    manager.writes(GRAVITY + 3.0)
    manager.ticks(1.1 * GRACE)
    manager.cycle(GRAVITY + 4.0)
    for more in (0.0, 2.0, 3.0, 4.0):
        other.simulation.advance(GRAVITY + more)
    assert np.array_equal(manager.simulation.plant.v, other.simulation.plant.v)
    assert manager.unproven == [0, 0, 2]


def test_a_state_that_was_answered_before_the_lock_step_does_not_block_it():
    manager = Manager()
    manager.clock.pacing.read(-PERIOD, manager.output.state_bytes)
    manager.ticks(1.1 * GRACE)
    assert manager.simulation.time_ns == PERIOD
    assert manager.unproven == [0, 0, 0]  # the first cycle is part of the start


def test_a_pause_ends_no_cycle_and_a_lost_clock_comes_again():
    manager = Manager().locked()
    time_ns, again = manager.simulation.time_ns, manager.output.shown_again
    manager.clock.pause(True)
    manager.cycle()
    manager.ticks(1.0)
    assert manager.simulation.time_ns == time_ns
    assert manager.output.shown_again > again
    manager.clock.pause(False)
    assert manager.simulation.time_ns == time_ns + PERIOD
    assert manager.unproven == [0, 0, 0]


def test_a_reset_of_the_state_alone_keeps_the_lock_step_and_one_of_time_ends_it():
    manager = Manager().locked()
    manager.clock.pause(True)
    manager.cycle(GRAVITY + 1.0)
    manager.clock.reset(time=False)
    manager.clock.pause(False)
    assert manager.simulation.braking  # for one period, as after each reset of the state
    manager.cycle(GRAVITY)
    assert not manager.simulation.braking
    assert manager.unproven == [0, 0, 0]
    assert manager.clock.pacing.state is State.COMMAND
    manager.clock.reset()
    assert manager.clock.pacing.state is State.NO_MANAGER


def test_a_manager_that_is_gone_leaves_a_braked_arm_and_a_running_clock():
    manager = Manager().locked()
    manager.ticks(5.1)
    assert 'no command for' in manager.output.warnings[-1]
    time_ns = manager.simulation.time_ns
    manager.ticks(0.1)
    assert manager.simulation.time_ns > time_ns
    assert manager.simulation.braking
