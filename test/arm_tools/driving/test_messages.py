"""Ages and rates of messages: against the events of the node, one by one, and delayed drives."""

from dataclasses import replace

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_lab.experiments.ranges import Ranges
from arm_sim.loop.loop import Loop
from arm_tools.driving.messages import MessageRanges, RemoteLaw, arrivals
from arm_tools.driving.rehearsal import BEGINS, experiment_of, rehearse, supervisor_of, table
from arm_tools.driving.supervised_law import SupervisedLaw
from arm_tools.driving.supervisor_parameters import SupervisorParameters

EXACT = Ranges(mass=0, friction=0, delay=0, position_noise=0, velocity_noise=0, effort=1)
LIMITS = SupervisorParameters(rest_time=0.1, ramp_time=0.1)
AGE, SILENCE = 'age of the newest state', "age of the law's newest command"
PERIOD = 'difference of the mean period of the states from the control period'


def rows_of(ranges=EXACT, sample=0, **messages):
    experiment = experiment_of(
        'planar_3r', 'step', 'computed_torque', 'effort', '', engine='analytical', ranges=ranges
    )
    found = rehearse(experiment, LIMITS, [sample], MessageRanges(**messages))
    rows = table(supervisor_of(experiment.load(), LIMITS), found, [sample])
    return {row.name: row for row in rows}


def by_events(sent, arrived, answered):
    """Return age, silence and answer at each cycle, and what the robot has at each state."""
    states, answers = ([(t, kind, k) for k, t in enumerate(times)]
                       for kind, times in (('state', arrived), ('answer', answered)))  # fmt: skip
    newest, command, waits, cycles = -1, -1, False, []

    def cycle(now):
        silence = now - answered[command] if command >= 0 else np.inf
        cycles.append((now, now - arrived[newest], silence, command))

    for now, kind, k in sorted([*states, *answers], key=lambda event: event[0]):
        if kind == 'answer':
            command = k
            if k == newest:
                cycle(now)
                waits = False
        else:
            if waits:
                cycle(now)
            newest, waits = k, True
    acts = [sum(now <= t for now, *_ in cycles) - 1 for t in sent]
    return *np.array(cycles)[:, 1:].T, np.array(acts)


def test_what_is_seen_of_messages_is_what_their_events_give_one_by_one():
    rng, n, period = np.random.default_rng(2), 300, 0.002
    late, answers = rng.uniform(3e-4, 6e-3, n + 20), rng.uniform(2e-4, 4e-3, n + 20)
    sent = period * np.arange(n + 20)
    # Equal times have an order only where they differ by a little.
    order = 1e-12 * np.arange(n + 20)
    arrived = np.maximum.accumulate(sent + late) + order
    answered = np.maximum.accumulate(arrived + answers) + order
    found = arrivals(late, answers, period, 0.05)
    for one, other in zip(found, by_events(sent, arrived, answered), strict=True):
        np.testing.assert_allclose(one[:n], other[:n], atol=1e-9)
    assert (found.answer[:n] < np.arange(n)).mean() > 0.1
    assert (found.age[:n] == answers[:n]).any()


@pytest.mark.slow
def test_messages_within_a_period_are_drives_that_are_a_period_late():
    late = rows_of(state_latency='0.001', command_latency='0.0005')
    np.testing.assert_allclose((late[AGE].value, late[AGE].limit), (0.0005, 0.05))
    assert SILENCE not in late
    model = experiment_of('planar_3r', 'step', 'pd', 'effort', '').load().robot.model
    delayed = replace(EXACT, delay=1)
    sample = next(i for i in range(9) if delayed.draw(model, 0, i).delay)
    other, at_once = rows_of(delayed, sample), rows_of()
    for name in ('speed', 'tracking error', 'torque', 'rate of the torque'):
        np.testing.assert_allclose(late[name].value, other[name].value, rtol=1e-9)
        assert abs(late[name].value / at_once[name].value - 1.0) > 1e-6


def test_messages_without_age_are_a_supervised_law_to_the_last_bit():
    loaded = experiment_of(
        'planar_3r', 'step', 'pd', 'effort', '', engine='analytical', ranges=EXACT
    ).load()
    goal, start = loaded.robot.start + 0.1, loaded.robot.start

    def reference(t, row):
        row.row[:] = 0.0
        row.q[:] = goal

    found, period = [], loaded.experiment.timestep
    none = MessageRanges().arrivals(period, LIMITS.state_age_limit, 500, 0, 0)
    for kind, more in (SupervisedLaw, ()), (RemoteLaw, (period, none)):
        plant, _ = loaded.plants()
        loop = Loop(plant, kind(loaded.law(), supervisor_of(loaded, LIMITS), *more), reference)
        loop.reset(start)
        for _ in range(500):
            loop.step()
        found.append([plant.q, plant.v])
    np.testing.assert_array_equal(*found)
    assert np.abs(found[0][0] - start).min() > 0.05


def test_a_rate_of_the_states_moves_their_mean_period_or_keeps_the_law_from_beginning():
    row = rows_of(state_rate=(400.0, 400.0))[PERIOD]
    # A first-order mean over 50 periods has come as far as this.
    np.testing.assert_allclose((row.value, row.limit), (0.0005, 0.001), rtol=0.05)
    row = rows_of(state_rate=(200.0, 200.0))[BEGINS]
    assert (row.value, row.beyond) == (np.inf, 1)


def test_a_pause_of_the_states_is_no_go(tmp_path):
    trace = tmp_path / 'latencies.txt'
    trace.write_text('\n'.join(['0.001'] * 400 + ['0.08'] + ['0.001'] * 10))
    row = rows_of(state_latency=str(trace))[AGE]
    np.testing.assert_allclose((row.value, row.beyond), (0.081, 1), atol=0.0011)


def test_ranges_without_meaning_are_refused():
    with pytest.raises(ArmError, match='^state_rate is 500,400 Hz; it must be the lowest and the'):
        MessageRanges(state_rate=(500.0, 400.0))
    with pytest.raises(ArmError, match="^latency is 'soon'; it must be seconds such as"):
        MessageRanges(command_latency='soon')
