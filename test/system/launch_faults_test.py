"""Faults over ROS: what the arm does, and what the log says."""

import re
import signal
from contextlib import contextmanager

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from arm_system import (
    ACTIVE,
    HOME,
    NAMES,
    ArmSystem,
    goal,
    trajectory,
)
from control_msgs.action import FollowJointTrajectory
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import JointState

from arm_controllers.ros.qos import CONTROL_QOS

RESULT = FollowJointTrajectory.Result
CONTROLLER = 'computed_torque_controller'
FAR = HOME + np.array([1.0, 0.3, -0.4, 0.2, 0.2, 0.5])


@contextmanager
def torque_driven_arm():
    """A UR5e in real time under computed torque, holding; nothing may die of itself."""
    with ArmSystem('realtime') as system:
        # A loaded machine may pause a process for a while; that is not the fault under test.
        system.simulator('real_time_factor:=0.3')
        system.controller('computed_torque', 'time_jump_limit:=5.0')
        system.wait_for_motion_control(CONTROLLER)
        yield system
        system.assert_alive()


@pytest.fixture(scope='module')
def standing():
    with torque_driven_arm() as system:
        yield system


@pytest.fixture
def arm(standing):
    """The arm that several tests share, at home and holding."""
    assert standing.reset()
    assert standing.set_parameters(CONTROLLER, time_jump_limit=5.0).successful
    standing.states.clear()
    standing.diagnostics.clear()
    standing.wait_for_motion_control(CONTROLLER)
    return standing


@pytest.fixture
def doomed():
    """An arm of whose processes some will be killed."""
    with torque_driven_arm() as system:
        yield system


def start_moving(system, seconds=4.0, controller=CONTROLLER):
    """Send a long goal and wait until the arm is well under way, without a stop in between."""
    for _ in range(10):
        stops = system.log('simulator').count('no command for')
        handle, end = system.send(controller, goal([seconds], [FAR]))
        system.wait(lambda: end.done() or np.abs(system.v).max() > 0.2, 'motion')  # noqa: B023
        if not end.done() and system.log('simulator').count('no command for') == stops:
            return handle, end
        # The machine held the controller up, and the arm was braked: try again.
        system.follow(controller, goal([2.0], [HOME]))
        system.wait(lambda: np.abs(system.q - HOME).max() < 2e-3, 'return')
        system.states.clear()
        system.wait(lambda: system.states, 'state')
    raise AssertionError('no motion without a stop')


def assert_no_free_fall(system, since=0, limit=0.6):
    """Nothing may move faster than the motion that was asked for, nor jump."""
    rows = list(system.states)[since:]
    v = np.array([row[2] for row in rows])
    assert np.abs(v).max() < limit
    t, q = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    steps = np.diff(t) > 0
    speeds = np.abs(np.diff(q, axis=0)[steps]) / np.diff(t)[steps, None]
    assert speeds.max() < limit


def wait_for_rest(system):
    system.wait(lambda: np.abs(system.v).max() < 1e-3, 'rest')


def assert_held_then_braked(system):
    """The last torque is held for command_timeout, then the brake takes v/rate: no free fall.

    Torque that is held while the arm moves on fits less and less; it may change the speed by
    `drift`, which is a tenth of what gravity would.
    """
    rate, drift = 10.0, 1.0  # [1/s], [rad/s^2]
    pattern = r'no command for ([\d.]+) s \(t = ([\d.]+) s\)'
    found = re.findall(pattern, system.log('simulator'))[-1]
    silence, braked_at = (float(number) for number in found)
    np.testing.assert_allclose(silence, 0.1, atol=0.005)
    t, q, v = (np.array(column) for column in zip(*system.states, strict=True))
    last = np.searchsorted(t, braked_at - silence - 1e-6)
    s = np.clip(t[last:, None] - t[last], 0.0, silence)  # time under the held torque
    decay = np.exp(-rate * np.clip(t[last:, None] - braked_at, 0.0, None))
    drifted = drift * s * (s / 2 + (1 - decay) / rate)
    expected = v[last] * (s + (1 - decay) / rate)
    assert np.abs(v[last]).max() > 0.1
    assert (np.abs(q[last:] - q[last] - expected) <= drifted + 1e-3).all()


# Something dies, or messages are lost


def test_controller_killed_in_motion_the_plant_brakes_logs_it_and_a_new_one_takes_over(doomed):
    start_moving(doomed)
    doomed.kill(CONTROLLER)
    doomed.words('simulator', 'no command: the arm is braked and held')
    wait_for_rest(doomed)
    stopped = doomed.q.copy()
    assert_held_then_braked(doomed)
    assert_no_free_fall(doomed)
    doomed.spin(0.5)
    np.testing.assert_allclose(doomed.q, stopped, atol=2e-3)

    doomed.controller('computed_torque', 'time_jump_limit:=5.0')
    doomed.wait(lambda: 'running' in doomed.diagnostics['simulator'][1], 'a running arm')
    doomed.spin(0.5)
    np.testing.assert_allclose(doomed.q, stopped, atol=5e-3)
    assert_no_free_fall(doomed)
    doomed.diagnostics.clear()
    doomed.wait_for_motion_control(CONTROLLER)
    status, _ = doomed.follow(CONTROLLER, goal([1.5], [HOME]))
    assert status == GoalStatus.STATUS_SUCCEEDED


def test_simulator_killed_in_motion_ends_the_goal_and_a_new_one_is_taken_up(doomed):
    doomed.set_parameters(CONTROLLER, goal_time_limit=3.0)
    _, end = start_moving(doomed)
    doomed.kill('simulator')
    doomed.words(CONTROLLER, 'is the simulator, or the supervisor of drive, running?')
    answer = doomed.result(end, 'end of the goal')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'no state for' in answer.result.error_string
    assert answer.result.error_string.endswith('If it is, restart this controller')
    doomed.states.clear()
    doomed.diagnostics.clear()
    doomed.simulator()
    doomed.wait_for_motion_control(CONTROLLER)
    np.testing.assert_allclose(doomed.q, HOME, atol=2e-3)
    status, _ = doomed.follow(CONTROLLER, goal([0.5], [HOME + 0.1]))
    assert status == GoalStatus.STATUS_SUCCEEDED


def test_commands_with_nan_infinity_or_unknown_joints_are_refused_by_name(doomed):
    doomed.kill(CONTROLLER)
    doomed.words('simulator', 'braked and held')
    rogue = doomed.node.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
    doomed.wait(lambda: rogue.get_subscription_count() > 0, 'simulator listening')
    cases = (
        (NAMES, [0.0, np.nan, 0.0, 0.0, 0.0, 0.0], f"'{NAMES[1]}': effort nan"),
        (NAMES, [0.0, 0.0, np.inf, 0.0, 0.0, 0.0], f"'{NAMES[2]}': effort inf"),
        (NAMES, [0.0] * 4, '4 effort values for 6'),
        ([*NAMES[:5], 'elbow'], [0.0] * 6, "unknown joint 'elbow'"),
    )
    before = doomed.q.copy()
    for names, effort, expected in cases:

        def text(names=names, effort=effort, expected=expected):
            message = JointState(name=names, effort=effort)
            message.header.stamp.sec = int(doomed.now)
            message.header.stamp.nanosec = int(doomed.now % 1 * 1e9)
            rogue.publish(message)
            return expected in doomed.log('simulator')

        doomed.wait(text, f'a line on {expected}')
    np.testing.assert_allclose(doomed.q, before, atol=1e-3)
    doomed.wait(
        lambda: int(doomed.values['simulator']['refused inputs']) > 0, 'a count of the refused'
    )


def test_interrupted_processes_end_in_silence_within_five_seconds(doomed):
    start_moving(doomed)
    for name in (CONTROLLER, 'simulator'):
        assert doomed.stop(name) in (0, -signal.SIGINT)
        assert 'Traceback' not in doomed.log(name)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_controller_that_ends_answers_its_goal_before(number):
    with ArmSystem('lockstep') as system:
        system.simulator()
        system.controller('computed_torque')
        system.wait_for_motion_control(CONTROLLER)
        _, end = system.send(CONTROLLER, goal([200.0], [FAR]))
        system.wait(lambda: np.abs(system.v).max() > 0.0015, 'motion')
        system.kill(CONTROLLER, number)
        answer = system.result(end, 'end of the goal')
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert answer.result.error_string == 'the controller ends'
        system.words('simulator', 'no command: the arm is braked and held')


def test_lost_delayed_and_doubled_commands_leave_the_arm_within_its_path_tolerance():
    rng = np.random.default_rng(3)
    with ArmSystem('realtime') as system:
        system.simulator('real_time_factor:=0.3')
        relay = system.node.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
        held = []

        def on_command(message):
            """Lose a fifth, delay a fifth by one message or more, double a fifth."""
            fate = rng.integers(5)
            if fate == 1:
                held.append(message)
            elif fate >= 2:
                relay.publish(message)
            if fate == 2:
                relay.publish(message)
            if held and fate == 3:
                relay.publish(held.pop(0))

        system.node.create_subscription(JointState, 'relayed_commands', on_command, CONTROL_QOS)
        system.controller(
            'computed_torque',
            'time_jump_limit:=5.0',
            *(f'constraints.{name}.trajectory:=0.2' for name in NAMES),
            remap=('joint_commands', 'relayed_commands'),
        )
        system.wait_for_motion_control(CONTROLLER)
        for target in (FAR, HOME, FAR, HOME, FAR):
            stops, since = system.log('simulator').count('no command for'), len(system.states)
            status, result = system.follow(CONTROLLER, goal([3.0], [target]))
            if system.log('simulator').count('no command for') == stops:
                break  # else the machine held us or the controller up, and the arm was braked
        assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
        assert_no_free_fall(system, since, limit=1.5)
        system.wait(lambda: np.abs(system.q - target).max() < 0.01, 'arrival')
        system.words('simulator', 'commands came too late to be used')
        assert int(system.values['simulator']['stale commands']) > 0


# All live on


def test_controller_that_hung_finds_time_far_ahead_drops_its_goal_and_holds(arm):
    assert arm.set_parameters(CONTROLLER, time_jump_limit=0.5).successful
    _, end = start_moving(arm)
    arm.processes[CONTROLLER].send_signal(signal.SIGSTOP)
    arm.words('simulator', 'no command: the arm is braked and held')
    hung = arm.now
    arm.wait(lambda: arm.now > hung + 0.6, 'time without the controller')
    stopped = arm.q.copy()
    assert_held_then_braked(arm)
    arm.processes[CONTROLLER].send_signal(signal.SIGCONT)
    answer = arm.result(end, 'end of the goal')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'time jumped forward by' in answer.result.error_string
    arm.words('simulator', 'running')
    arm.words(CONTROLLER, 'holding; goal ended: time jumped forward')
    np.testing.assert_allclose(arm.q, stopped, atol=5e-3)
    assert_no_free_fall(arm)


def test_reset_of_time_drops_the_goal_and_holds_at_the_initial_state(arm):
    _, end = start_moving(arm)
    arm.reset()
    answer = arm.result(end, 'end of the goal')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'time jumped back' in answer.result.error_string
    arm.wait(lambda: np.abs(arm.q - HOME).max() < 2e-3, 'home')
    arm.spin(0.5)
    np.testing.assert_allclose(arm.q, HOME, atol=2e-3)
    arm.words(CONTROLLER, 'holding; goal ended: time jumped back')


def test_second_publisher_of_commands_is_refused_and_both_are_named(arm):
    rogue = arm.node.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
    arm.wait(lambda: rogue.get_subscription_count() > 0, 'simulator listening')
    message = JointState(name=NAMES, effort=[20.0] * 6)
    message.header.frame_id = 'rogue'
    # An arm that is braked because the machine holds its controller up would accept the rogue.
    assert arm.set_parameters('simulator', command_timeout=60.0).successful
    since = len(arm.states)

    def text():
        message.header.stamp.sec = int(arm.now)
        message.header.stamp.nanosec = int(arm.now % 1 * 1e9)
        rogue.publish(message)
        return 'two controllers' in arm.diagnostics.get('simulator', (0, ''))[1]

    arm.wait(text, 'words about two controllers')
    words = arm.diagnostics['simulator'][1]
    arm.node.destroy_publisher(rogue)
    assert arm.set_parameters('simulator', command_timeout=0.1).successful
    assert CONTROLLER in words
    assert 'rogue' in words
    assert np.abs(np.array([row[2] for row in list(arm.states)[since:]])).max() < 0.01


def test_goal_is_refused_in_every_state_but_active_and_the_arm_stays(arm):
    before, since = arm.q.copy(), len(arm.states)
    small = goal([0.5], [HOME])
    assert arm.change(CONTROLLER, Transition.TRANSITION_DEACTIVATE)
    status, result = arm.follow(CONTROLLER, small)
    assert status == GoalStatus.STATUS_ABORTED
    assert 'not active' in result.error_string
    for transition in (
        Transition.TRANSITION_CLEANUP,
        Transition.TRANSITION_CONFIGURE,
        Transition.TRANSITION_ACTIVATE,
        Transition.TRANSITION_DEACTIVATE,
        Transition.TRANSITION_ACTIVATE,
    ):
        publisher = arm.node.create_publisher(
            type(trajectory([], [])), f'/{CONTROLLER}/joint_trajectory', 10
        )
        publisher.publish(trajectory([0.001], [FAR]))
        assert arm.change(CONTROLLER, transition)
        publisher.publish(trajectory([0.001], [FAR]))
        arm.node.destroy_publisher(publisher)
    assert arm.lifecycle(CONTROLLER) == ACTIVE
    rows = list(arm.states)[since:]
    np.testing.assert_allclose([q for _, q, _ in rows], np.tile(before, (len(rows), 1)), atol=5e-3)
    arm.diagnostics.clear()  # 'holding' of an earlier activation does not count
    arm.wait_for_motion_control(CONTROLLER)
    status, result = arm.follow(CONTROLLER, small)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
