"""Steps, resets and faults of a clock, in lock-step and in real time without ROS."""

from dataclasses import replace

import numpy as np
import pytest
from clocked_arm import GRAVITY, PERIOD, lockstep, realtime, run
from following import HOME, MODEL

from arm_dynamics.checks import ArmError
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.simulation import Simulation
from arm_tools.standards.steps import Steps

PUSH = GRAVITY + np.array([5.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_steps_end_when_they_are_made_and_time_is_paused_again():
    clock, simulation, _, _ = lockstep()
    clock.pause(True)
    steps = Steps(clock, 3)
    for k in range(3):
        assert (steps.made, steps.ended) == (k, False)
        clock.take(k * PERIOD, GRAVITY)
    assert (steps.made, steps.ended, steps.failure) == (3, True, '')
    clock.take(3 * PERIOD, GRAVITY)
    assert simulation.steps == 3
    assert Steps(clock, 0).ended


@pytest.mark.parametrize('end', ['stop', 'reset', 'play'])
def test_steps_that_are_ended_before_say_how_many_were_made(end):
    clock, _, _, _ = lockstep()
    clock.pause(True)
    clock.allow_step()
    clock.take(0, GRAVITY)
    steps = Steps(clock, 3)
    with pytest.raises(ArmError, match='steps are under way'):
        Steps(clock, 1)
    clock.take(PERIOD, GRAVITY)
    {'stop': steps.stop, 'reset': clock.reset, 'play': lambda: clock.pause(False)}[end]()
    assert steps.ended
    why = 'time was reset' if end == 'reset' else '1 of 3 steps were made'
    assert steps.failure == f'stopped in between: {why}'
    if end != 'play':
        time_ns = clock.simulation.time_ns
        clock.take(time_ns, GRAVITY)
        assert clock.waits
        assert clock.simulation.time_ns == time_ns


def test_no_steps_are_made_by_a_clock_that_runs_or_whose_physics_has_stopped():
    clock, _, _, _ = lockstep()
    with pytest.raises(ArmError, match='not paused: pause it'):
        Steps(clock, 1)
    clock.pause(True)
    clock.fault = 'joint 1 flew away'
    with pytest.raises(ArmError, match='joint 1 flew away'):
        Steps(clock, 1)


@pytest.mark.parametrize('start', [lockstep, realtime])
def test_release_brakes_at_once_and_a_reset_goes_back_to_a_held_arm_at_time_zero(start):
    clock, simulation, output, wall = start()
    for _ in range(20):
        clock.take(simulation.time_ns, PUSH)
        run(clock, wall, clock.pacing.tick_period)
    assert not simulation.braking
    clock.release()
    run(clock, wall, 2.0)
    assert simulation.braking
    assert simulation.at_rest
    clock.reset()
    assert simulation.time_ns == 0
    np.testing.assert_array_equal(simulation.plant.q, HOME)
    assert not output.warnings


def moved(start, seconds=0.2):
    """Return a clock whose arm moves, with its simulation and its wall clock."""
    clock, simulation, _, wall = start()
    while simulation.time_ns < seconds * 1e9:
        clock.take(simulation.time_ns, PUSH)
        run(clock, wall, clock.pacing.tick_period)
    return clock, simulation, wall


@pytest.mark.parametrize('start', [lockstep, realtime])
def test_a_reset_of_time_alone_leaves_the_arm_where_it_is_and_as_fast(start):
    clock, simulation, wall = moved(start)
    everywhere = lambda joints: True  # noqa: E731
    claim = clock.claims.claim('own', MODEL.joint_names, everywhere)
    claim.newest_ns = simulation.time_ns
    simulation.push('tool0', [9.0, 0, 0, 0, 0, 0], simulation.time_ns + PERIOD)
    q, v = simulation.plant.q.copy(), simulation.plant.v.copy()
    clock.reset(state=False)
    assert (simulation.time_ns, simulation.steps, claim.newest_ns) == (0, 0, -1)
    np.testing.assert_array_equal([simulation.plant.q, simulation.plant.v], [q, v])
    assert np.abs(v).max() > 0.1
    assert not simulation.can_be_claimed()
    clock.take_from(claim, 0, GRAVITY)
    run(clock, wall, 2 * clock.pacing.tick_period)
    assert simulation.time_ns >= PERIOD
    assert not simulation.plant.wrenches


@pytest.mark.parametrize('start', [lockstep, realtime])
def test_after_a_reset_of_the_state_alone_no_command_for_the_state_before_is_used(start):
    clock, simulation, wall = moved(start)
    simulation.push('tool0', [9.0, 0, 0, 0, 0, 0])
    now = simulation.time_ns
    clock.reset(time=False)
    assert simulation.time_ns == now
    assert not simulation.plant.wrenches
    np.testing.assert_array_equal([simulation.plant.q, simulation.plant.v], [HOME, 0.0 * HOME])
    assert clock.pacing.accepts(now) == (
        start is lockstep
    )  # where nothing goes on without an answer
    if clock.pacing.accepts(now):
        clock.take(now, GRAVITY + 50.0)
    wall.now += PERIOD * 1e-9 + 1e-9
    clock.tick()
    assert simulation.time_ns == now + PERIOD
    np.testing.assert_allclose(simulation.plant.q, HOME, atol=1e-9)
    assert clock.pacing.accepts(now + PERIOD)
    clock.take(now + PERIOD, PUSH)
    wall.now += PERIOD * 1e-9 + 1e-9
    clock.tick()
    assert simulation.plant.v[0] > 1e-3
    assert not simulation.braking


def test_faults_keep_to_simulated_time_when_time_or_state_is_reset_alone():
    clock, simulation, _ = moved(lockstep, 0.1)
    joint = MODEL.joint_names[0]
    offset = f'[{{kind: offset_encoder, joint: {joint}, value: 0.5, time: 0.15}}]'
    parameters = replace(simulation.plant.parameters, faults=offset)
    simulation.change_devices(frozenset(['faults']), parameters)

    def error():
        return simulation.plant.measured.q[0] - simulation.plant.q[0]

    while simulation.time_ns < 200_000_000:
        assert error() == pytest.approx(0.5 * (simulation.time_ns >= 150_000_000))
        clock.take(simulation.time_ns, PUSH)
    clock.reset(time=False)
    assert error() == pytest.approx(0.5)
    for _ in range(2):
        clock.take(simulation.time_ns, GRAVITY)
        assert error() == pytest.approx(0.5)
    clock.reset(state=False)
    clock.take(0, GRAVITY)
    assert error() == 0.0


def test_a_payload_that_has_fallen_off_is_back_after_a_reset_of_time_and_state_only():
    plants = [MujocoPlant(MODEL, PlantParameters('torque')) for _ in range(2)]
    simulation = Simulation(plants[0], MODEL, HOME, None, (PERIOD, plants[1]))
    for state in (False, True):
        for _ in range(2):
            simulation.advance(GRAVITY)
        assert simulation.plant is plants[1]
        simulation.reset(time=not state, state=state)
        assert simulation.plant is plants[1]
        assert simulation.payload_fell
        simulation.push('tool0', [9.0, 0, 0, 0, 0, 0])
        for _ in range(2):
            simulation.advance(GRAVITY)
        assert simulation.plant.wrenches  # it has not fallen off again
        simulation.reset()
        assert simulation.plant is plants[0]


@pytest.mark.quick(1)
@pytest.mark.parametrize('start', [lockstep, realtime])
def test_a_reset_leaves_the_arm_to_its_controller_until_that_is_silent_for_the_timeout(start):
    clock, simulation, _, wall = start()
    everywhere = lambda joints: True  # noqa: E731
    claim = clock.claims.claim('own', MODEL.joint_names, everywhere)
    clock.take_from(claim, 0, GRAVITY)
    run(clock, wall, clock.pacing.tick_period)
    clock.reset()
    assert claim.newest_ns == -1
    with pytest.raises(ArmError, match="'own' has claimed it, 'intruder' is refused"):
        clock.claims.claim('intruder', MODEL.joint_names, everywhere)
    clock.take_from(claim, 0, GRAVITY)
    run(clock, wall, clock.pacing.tick_period)
    assert simulation.time_ns >= PERIOD
    clock.reset()
    run(clock, wall, 40.0)
    assert len(clock.claims) == 0


@pytest.mark.parametrize('start', [lockstep, realtime])
def test_physics_that_has_failed_stands_still_until_the_reset(start, monkeypatch):
    clock, simulation, output, wall = start()
    monkeypatch.setattr(simulation.plant, 'step', lambda command: simulation.plant.q.fill(np.nan))
    clock.take(0, GRAVITY)
    run(clock, wall, 1.0)
    assert len(output.failures) == 1
    assert 'physics diverged' in clock.fault
    assert simulation.steps == 1
    monkeypatch.undo()
    with pytest.raises(ArmError, match='physics diverged.*; reset the state too'):
        clock.reset(state=False)
    clock.reset()
    assert not clock.fault
    clock.take(0, GRAVITY)
    run(clock, wall, clock.pacing.tick_period)
    assert simulation.steps == 1
    assert np.isfinite(simulation.plant.q).all()
