"""Bytes that are no message, stamps that are no time, transitions that are not allowed."""

import itertools
import signal
import struct
import threading
import time

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from arm_system import ACTIVE, HOME, NAMES, ArmSystem, goal, trajectory
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from arm_controllers.ros.qos import CONTROL_QOS

CONTROLLER = 'computed_torque_controller'
WHOLE = bytes(
    serialize_message(JointState(name=NAMES, position=HOME, velocity=[0.0] * 6, effort=[0.0] * 6))
)
LENGTH = struct.Struct('<I')


def with_bytes(at, new):
    return WHOLE[:at] + new + WHOLE[at + len(new) :]


BAD = [
    WHOLE[:10],
    WHOLE[:40],
    WHOLE[:-4],
    WHOLE[:4],
    WHOLE[:1],
    with_bytes(0, b'\xff\xff'),
    with_bytes(0, b'\0\0'),
    *(with_bytes(at, b'\xff\xff\xff\xff') for at in (12, 20, 24, WHOLE.index(LENGTH.pack(6), 24))),
    with_bytes(4, b'\xff\xff\xff\x7f\xff\xff\xff\xff'),
]


@pytest.fixture(scope='module')
def arm():
    """A UR5e in lock-step and an inverse kinematics node; nothing may die."""
    with ArmSystem('lockstep') as system:
        system.simulator()
        system.controller('computed_torque')
        system.start('inverse_kinematics')
        system.wait_for_motion_control(CONTROLLER)
        system.wait(lambda: 'inverse_kinematics' in system.values, 'inverse kinematics')
        yield system
        system.assert_alive()


def counted(system, node, key):
    return int(system.values[node][key])


@pytest.mark.parametrize(
    ('topic', 'readers'),
    [
        ('joint_commands', [('simulator', 'refused inputs')]),
        (
            'joint_states',
            [(CONTROLLER, 'dropped states')],  # inverse kinematics subscribes when it needs a seed
        ),
    ],
)
def test_bytes_that_are_no_message_are_dropped_counted_and_end_no_node(arm, topic, readers):
    rogue = arm.node.create_publisher(JointState, topic, CONTROL_QOS)
    arm.wait(lambda: rogue.get_subscription_count() >= len(readers), 'listeners')
    before = [counted(arm, *reader) for reader in readers]
    begin, bad = time.monotonic(), itertools.cycle(BAD)

    def text():
        """Send on until all have counted: each keeps one message, and may not know of us yet."""
        rogue.publish(next(bad))
        arm.spin(0.01)
        counts = [counted(arm, *reader) for reader in readers]
        return (np.subtract(counts, before) >= 4 * len(BAD)).all()

    arm.wait(text, f'counts of {readers}')
    arm.node.destroy_publisher(rogue)
    for node, _ in readers:
        lines = [x for x in arm.log(node).splitlines() if 'cut off' in x or 'no JointState' in x]
        assert 0 < len(lines) < time.monotonic() - begin + 2  # one a second
    np.testing.assert_allclose(arm.q, HOME, atol=2e-3)
    status, result = arm.follow(CONTROLLER, goal([0.5], [HOME + 0.1]))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
    status, _ = arm.follow(CONTROLLER, goal([0.5], [HOME]))
    assert status == GoalStatus.STATUS_SUCCEEDED


@pytest.mark.parametrize(
    ('topic', 'message'),
    [
        (f'/{CONTROLLER}/joint_trajectory', trajectory([9.0], [HOME])),
        ('external_wrench', WrenchStamped()),
    ],
)
def test_bytes_that_are_no_trajectory_and_no_wrench_end_no_node(arm, topic, message):
    rogue = arm.node.create_publisher(type(message), topic, 10)
    arm.wait(lambda: rogue.get_subscription_count() > 0, 'listener')
    whole = bytes(serialize_message(message))
    cut = [whole[:size] for size in (1, 4, 10, 40, len(whole) - 4)]
    for bad in (*cut, b'\xff\xff' + whole[2:], whole[:12] + b'\xff\xff\xff\xff' + whole[16:]):
        rogue.publish(bad)
        arm.spin(0.02)
    arm.node.destroy_publisher(rogue)
    status, result = arm.follow(CONTROLLER, goal([0.5], [HOME]))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string


@pytest.mark.parametrize(
    'transition',
    [
        Transition.TRANSITION_CONFIGURE,
        Transition.TRANSITION_ACTIVATE,
        Transition.TRANSITION_DESTROY,
        99,
    ],
)
def test_transition_that_is_not_allowed_now_is_refused_and_the_controller_goes_on(arm, transition):
    assert not arm.change(CONTROLLER, transition)
    assert arm.lifecycle(CONTROLLER) == ACTIVE
    status, result = arm.follow(CONTROLLER, goal([0.2], [HOME]))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string


def test_deactivation_ends_when_a_simulator_that_was_stopped_has_received_the_release_message():
    with ArmSystem('lockstep') as arm:
        arm.simulator()
        arm.controller('computed_torque', 'time_jump_limit:=5.0')
        arm.wait_for_motion_control(CONTROLLER)
        simulator = arm.processes['simulator']
        simulator.send_signal(signal.SIGSTOP)
        waking = threading.Timer(0.3, simulator.send_signal, [signal.SIGCONT])
        waking.start()
        assert arm.change(CONTROLLER, Transition.TRANSITION_DEACTIVATE)
        waking.join()
        assert arm.change(CONTROLLER, Transition.TRANSITION_CLEANUP)
        assert arm.change(CONTROLLER, Transition.TRANSITION_CONFIGURE)
        assert arm.change(CONTROLLER, Transition.TRANSITION_ACTIVATE)
        arm.diagnostics.clear()
        arm.wait_for_motion_control(CONTROLLER)
        status, result = arm.follow(CONTROLLER, goal([0.5], [HOME]))
        assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
        assert 'has released the arm' in arm.log('simulator')


@pytest.mark.parametrize('mode', ['lockstep', 'realtime'])
def test_goal_that_is_sent_while_a_controller_is_cleaned_up_and_configured_is_refused(mode):
    with ArmSystem(mode) as arm:
        arm.simulator()
        arm.controller('computed_torque', 'time_jump_limit:=5.0')
        arm.wait_for_motion_control(CONTROLLER)
        refused = []
        for _ in range(5):
            assert arm.change(CONTROLLER, Transition.TRANSITION_DEACTIVATE)
            assert arm.change(CONTROLLER, Transition.TRANSITION_CLEANUP)
            refused.append(arm.send(CONTROLLER, goal([0.5], [HOME + 0.1]))[1])
            late = arm._action_clients[CONTROLLER].send_goal_async(goal([0.5], [HOME + 0.1]))
            assert arm.change(CONTROLLER, Transition.TRANSITION_CONFIGURE)
            assert arm.change(CONTROLLER, Transition.TRANSITION_ACTIVATE)
            arm.result(late, 'answer to the goal')
        for end in refused:
            answer = arm.result(end, 'end of the goal')
            assert answer.status == GoalStatus.STATUS_ABORTED
            assert 'not active' in answer.result.error_string
        arm.diagnostics.clear()
        arm.wait_for_motion_control(CONTROLLER)
        status, result = arm.follow(CONTROLLER, goal([0.5], [HOME]))
        assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
        assert 'Traceback' not in arm.log(CONTROLLER)
