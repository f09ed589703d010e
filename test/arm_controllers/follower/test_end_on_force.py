"""Goals that end on force or distance: when, with which result, and how far the arm overshoots."""

import numpy as np
import pytest
from following import DT, HOME, MODEL, REST, SECOND, ends, goal, make, run

from arm_controllers.follower.goal import ResultCode
from arm_dynamics.checks import ArmError
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.goals import followed
from arm_sim.loop.loop import Loop
from arm_sim.robot import Robot

PERIOD = DT * 1e-9
STIFFNESS = 1e4


def tool(q):
    return MODEL.forward_kinematics(q).translation


def felt(q, force):
    """Return the wrench that the sensor measures of a force in base axes."""
    turn = MODEL.forward_kinematics(q, MODEL.tool_carrier).rotation
    return np.concatenate([turn.T @ force, np.zeros(3)])


def down(speed, duration):
    """Return a goal along which the tool moves down."""
    v = np.linalg.solve(MODEL.jacobian(HOME), [0.0, 0.0, -speed, 0.0, 0.0, 0.0])
    times = np.array([0.2, duration])
    return goal(times, [HOME + v * t for t in times], [v, 0 * v], identifier='down')


def press(arm, surface, ticks=1000):
    """Let an arm without any error move against a spring; return the forces over time [N]."""
    forces, speeds = [], []
    for time_ns in range(DT, ticks * DT, DT):
        before = arm.peek(time_ns).copy()
        force = STIFFNESS * max(surface - tool(before.q)[2], 0.0)
        arm.update(time_ns, before.q, before.v, felt(before.q, np.array([0.0, 0.0, force])))
        forces.append(force)
        speeds.append((MODEL.jacobian(before.q)[:3] @ before.v)[2])
    return np.array(forces), np.array(speeds)


def test_the_overshoot_is_stiffness_times_latency_and_braking_distance():
    arm = make(end_force=10.0, end_direction=(0.0, 0.0, 1.0), max_deceleration_on_cancel=(5.0,))
    arm.set_goal(down(0.1, 1.5), 0)
    forces, speeds = press(arm, tool(HOME)[2] - 0.05)
    first = int(np.argmax(forces >= 10.0))
    speed = abs(speeds[first])
    latest = STIFFNESS * speed * PERIOD  # the threshold is crossed between two measurements
    assert 10.0 <= forces[first] < 10.0 + 1.01 * latest
    v = np.linalg.solve(MODEL.jacobian(HOME), [0.0, 0.0, -speed, 0.0, 0.0, 0.0])
    braking = 0.5 * speed * np.abs(v).max() / 5.0
    np.testing.assert_allclose(forces[-1] - forces[first], STIFFNESS * braking, rtol=0.05)
    assert forces.max() == forces[-1]
    (end,) = arm.results
    assert (end.identifier, end.code) == ('down', ResultCode.SUCCESSFUL)
    assert 'ended on force: 1' in end.message
    assert "along [0.0, 0.0, 1.0] of 'base_link'" in end.message
    assert not arm.reference.v.any()


@pytest.mark.parametrize(
    ('direction', 'frame', 'stops'),
    [
        ((0.0, 0.0, 0.0), '', True),
        ((0.0, 0.0, -2.0), '', True),
        ((1.0, 0.0, 0.0), '', False),
        ((0.0, 0.0, 1.0), 'tool0', True),  # the tool points down
        ((1.0, 0.0, 0.0), 'tool0', False),
    ],
)
def test_the_force_counts_along_the_direction_in_axes_of_the_frame(direction, frame, stops):
    arm = make(end_force=10.0, end_direction=direction, end_frame=frame)
    arm.set_goal(down(0.1, 0.5), 0)
    press(arm, tool(HOME)[2] - 0.03, 400)
    (end,) = arm.results
    assert end.code is ResultCode.SUCCESSFUL
    assert bool(end.message) is stops


def test_the_measured_force_is_turned_from_the_sensor_into_base_axes():
    q, force = HOME + 0.4, np.array([1.0, -2.0, 2.0])
    for direction, size in (((1.0, -2.0, 2.0), 3.0), ((0.0, 1.0, 0.0), 2.0)):
        for threshold, stops in ((0.999 * size, True), (1.001 * size, False)):
            arm = make(q=q, end_force=threshold, end_direction=direction)
            arm.set_goal(goal([1.0], [q + 0.1]), 0)
            arm.update(DT, q, REST, felt(q, force))
            assert bool(arm.results) is stops


def test_a_goal_ends_at_a_distance_of_the_tool_and_those_that_wait_end_too():
    arm = make(end_distance=0.02)
    arm.set_goal(down(0.1, 1.5), 0)
    arm.set_goal(goal([3.0], [HOME], start_ns=2 * SECOND, identifier='later'), 0)
    q, _, _ = run(arm, DT, SECOND)
    first, second = arm.results
    assert (first.identifier, first.code) == ('down', ResultCode.SUCCESSFUL)
    assert 'the tool has moved by 0.02' in first.message
    assert (second.identifier, second.code) == ('later', ResultCode.INVALID_GOAL)
    assert second.message == 'the goal before it ended on force'
    moved = np.linalg.norm(tool(q[-1]) - tool(HOME))
    assert 0.02 <= moved < 0.025


def test_without_the_parameters_or_a_goal_no_force_ends_anything():
    hard = felt(HOME, np.array([0.0, 0.0, 500.0]))
    arm = make()
    arm.set_goal(down(0.1, 0.5), 0)
    arm.update(DT, HOME, REST, hard)
    assert not arm.results
    holding = make(end_force=1.0)
    before = holding.reference.row.copy()
    np.testing.assert_array_equal(holding.update(DT, HOME, REST, hard).row, before)


def test_an_unknown_frame_is_refused():
    with pytest.raises(ArmError, match="no frame 'tol0'"):
        make(end_frame='tol0')


def test_in_the_loop_an_arm_stops_on_a_surface_and_stays_there():
    case = Experiment.of_files('ur5e gripper:=probe', 'press', 'servo')
    robot = Robot.load(case.robot)
    loaded = LoadedExperiment(case, robot, {'surface_stiffness': STIFFNESS})
    plant, law = loaded.plants()[0], loaded.law()
    plant.reset(robot.start)
    rules = {'end_force': 10.0, 'max_deceleration_on_cancel': (5.0,)}
    arm = make(robot.model, robot.start, **rules)
    v = np.linalg.solve(robot.model.jacobian(robot.start), [0, 0, -0.05, 0, 0, 0])
    times = np.array([0.2, 1.0])
    arm.set_goal(goal(times, [robot.start + v * t for t in times], [v, 0 * v]), 0)
    loop = Loop(plant, law, followed(arm, lambda: plant.measured))
    forces, speeds = [], []

    def observe(step):
        forces.append(np.linalg.norm(step.measured.wrench[:3]))
        speeds.append(np.abs(step.v).max())

    loop.run(1.5, [observe])
    assert [code for _, code in ends(arm)] == [ResultCode.SUCCESSFUL]
    first = int(np.argmax(np.array(forces) >= 10.0))
    speed, braking = 0.05, 0.5 * 0.05 * np.abs(v).max() / 5.0
    # The tip may go on by two periods, until the force is measured and the arm commanded, and by
    # the braking distance, on the spring of the surface.
    assert max(forces) < 10.0 + STIFFNESS * (2.0 * speed * PERIOD + braking)
    assert first * PERIOD < 0.5
    assert 2.0 < forces[-1] < 12.0
    assert speeds[-1] < 1e-3
