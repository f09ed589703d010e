"""What the simulator says of itself on /diagnostics where its machine is too slow."""

import time
from types import SimpleNamespace

import pytest

rclpy = pytest.importorskip('rclpy')

from arm_sim.ros.diagnostics import SimulatorDiagnostics  # noqa: E402


@pytest.fixture
def reported(monkeypatch):
    """Return the report of a fake clock's diagnostics, and what it publishes and logs."""
    module = 'arm_sim.ros.diagnostics'
    published, logged = [], []
    monkeypatch.setattr(
        f'{module}.status_publisher', lambda node: lambda *status: published.append(status)
    )
    log = SimpleNamespace(warning=logged.append, debug=lambda text: None)
    node = SimpleNamespace(get_logger=lambda: log)
    simulation = SimpleNamespace(
        steps=0,
        braking=False,
        time_ns=0,
        period_ns=2_000_000,
        saturated=0,
        guard=SimpleNamespace(samples=0),
    )
    clock = SimpleNamespace(
        pacing=SimpleNamespace(counts={}, factor=1.0, skipped=0, late=0, oldest_command_ns=0),
        readers=SimpleNamespace(lag=False, reached_ns=None),
        simulation=simulation,
        fault='',
        lost=0,
        tick=lambda: None,
        waits=False,
        awaited=(),
    )
    commands = SimpleNamespace(rejection='', competing='', sources=['pd'], stale=0)
    shown = SimpleNamespace(clocks=0)
    periodic = []
    monkeypatch.setattr(f'{module}.now_and_then', lambda *timer: periodic.append(timer))
    SimulatorDiagnostics(node, clock, shown, commands, {})
    ((_, period, report),) = periodic
    assert period == 1.0
    clock.commands = commands
    return report, clock, published, logged, shown


def test_a_machine_that_misses_a_tenth_of_real_time_logs_it_once_and_shows_it_as_long_as_it_is_so(
    reported, monkeypatch
):
    report, clock, published, logged, _ = reported
    now = [time.monotonic()]
    monkeypatch.setattr('arm_sim.ros.diagnostics.time.monotonic', lambda: now[0])
    words = []
    for taken, skipped in ((500, 0), (460, 40), (300, 200), (125, 375), (500, 0)):
        clock.simulation.steps += taken
        clock.pacing.skipped += skipped
        now[0] += 1.0
        report()
        words.append(published[-1][1])
    carries = 'and carries {} control periods of 2 ms per second'
    assert [each.partition(':')[0] for each in words] == [
        'running',
        'running',
        f'running; the machine misses 40% of real time {carries.format(300)}',
        f'running; the machine misses 75% of real time {carries.format(125)}',
        'running',
    ]
    assert 'a smaller real_time_factor' in words[2]
    assert len(logged) == 1
    assert logged[0].startswith('the machine misses 40% of real time and carries 300 ')
    for skipped in 60 * [0] + [200]:
        clock.simulation.steps += 300
        clock.pacing.skipped += skipped
        now[0] += 1.0
        report()
    assert logged[1].endswith(' (and 1 warning before it)')


def test_a_simulator_that_was_stopped_says_so_and_nothing_of_what_the_machine_carries(
    reported, monkeypatch
):
    report, clock, _, logged, _ = reported
    now = [time.monotonic()]
    monkeypatch.setattr('arm_sim.ros.diagnostics.time.monotonic', lambda: now[0])

    def tick():
        # It comes after the report: the skipped periods were counted in the next one, of 1 s.
        clock.pacing.skipped += 2500
        clock.simulation.steps += 1

    clock.tick = tick
    for seconds, taken in ((1.0, 500), (6.0, 499), (1.0, 500)):
        now[0] += seconds
        clock.simulation.steps += taken
        report()
    assert logged == [
        'the simulator got no CPU time for 5.0 s, in which simulated time stood still: '
        'the machine was suspended, or busy'
    ]


def test_no_share_of_a_second_with_a_pause_or_a_reset_is_called_a_share_of_real_time(
    reported, monkeypatch
):
    report, clock, published, logged, _ = reported
    now = [time.monotonic()]
    monkeypatch.setattr('arm_sim.ros.diagnostics.time.monotonic', lambda: now[0])
    for steps, skipped in ((500, 0), (530, 15), (20, 35), (420, 135)):
        # a second of 500 periods; 45 periods, then a pause; 40, then a reset; another second
        clock.simulation.steps = steps
        clock.pacing.skipped = skipped
        now[0] += 1.0
        report()
    assert [words for _, words, _ in published[:3]] == 3 * ['running']
    (line,) = logged
    assert line.startswith('the machine misses 20% of real time and carries 400 control periods')


def test_what_is_missed_while_the_controller_and_others_start_is_not_said_of_the_machine(reported):
    report, clock, _, logged, _ = reported
    clock.simulation.braking = True
    report()
    clock.simulation.braking = False  # the controller has come in this second
    clock.simulation.steps, clock.pacing.skipped = 4, 400
    report()
    assert not logged
    clock.simulation.steps, clock.pacing.skipped = 304, 600
    report()
    assert logged[0].startswith('the machine misses 40% of real time')


def test_of_one_command_that_came_too_late_the_diagnostics_speak_in_the_singular(reported):
    report, clock, published, _, _ = reported
    clock.commands.stale = 1
    report()
    assert published[-1][1] == 'running; 1 command came too late to be used'


def test_what_is_missed_before_anybody_commands_is_nobodys_loss(reported):
    report, clock, published, logged, _ = reported
    clock.simulation.braking = True
    clock.simulation.steps, clock.pacing.skipped = 10, 1000
    report()
    assert 'misses' not in published[-1][1]
    assert not logged


def test_a_second_clock_in_the_graph_is_named_as_long_as_it_is_there(reported):
    report, clock, published, _, shown = reported
    words = []
    for shown.clocks in (0, 1, 0):
        clock.simulation.steps += 500
        report()
        words.append(published[-1][1])
    second = 'running; another node publishes /clock: one arm has clock:=true'
    assert words == ['running', second, 'running']
