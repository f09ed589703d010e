"""From one controller to another in motion, in lock-step: every step of the arm is looked at."""

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from arm_system import ACTIVE, HOME, INACTIVE, ArmSystem, goal, lockstep_arm
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import JointState

from arm_controllers.ros.qos import RECORD_QOS

FIRST, SECOND, THIRD = (
    f'{law}_controller' for law in ('computed_torque', 'pd', 'independent_joint')
)
# Far for wrist_3: lock-step makes 7000 steps a second, and the test may be held up.
FAR = HOME + np.array([1.0, 0.3, -0.4, 0.2, 0.2, 5.5])
DT = 0.002
BRAKE_RATE = 10.0  # [1/s], of the plant
# The goals' own acceleration may add to the speed in the last period of the old controller.
ACCELERATION = 3.0


@pytest.fixture(scope='module')
def arm():
    """A torque-driven UR5e with three controllers: the first commands, the others wait."""
    with lockstep_arm('independent_joint') as system:
        system.releases = []

        def on_command(message):
            if not message.name:
                stamp = message.header.stamp
                system.releases.append(stamp.sec + stamp.nanosec * 1e-9)

        system.node.create_subscription(JointState, 'joint_commands', on_command, RECORD_QOS)
        system.controller('pd')
        yield system


def set_off(system, controller):
    """Send a long goal to the farther of two places; return the future of its end, in motion."""
    target = max(HOME, FAR, key=lambda place: np.abs(place - system.q).max())
    _, end = system.send(controller, goal([20.0], [target]))
    system.wait(lambda: np.abs(system.v).max() > 0.15, 'motion')
    return end


def activate(system, name):
    """Activate; again where it has heard late that no controller commands."""
    system.wait(lambda: system.change(name, Transition.TRANSITION_ACTIVATE), f'{name} active')


def switch(system, old, new):
    """Deactivate one and activate the other, both through their services; return when [s]."""
    system.releases.clear()
    assert system.change(old, Transition.TRANSITION_DEACTIVATE)
    activate(system, new)
    system.wait(lambda: system.releases, 'release message of the old controller')
    return system.releases[0]


def test_controller_that_activates_itself_next_to_an_active_one_is_refused_by_its_name(arm):
    arm.wait(lambda: f"'{FIRST}' commands this arm" in arm.log(SECOND), 'refusal')
    assert arm.lifecycle(SECOND) == INACTIVE
    arm.pause()  # the first is silent now, and active still
    try:
        arm.spin(1.0)
        for other in (SECOND, THIRD):
            assert not arm.change(other, Transition.TRANSITION_ACTIVATE)
            assert arm.lifecycle(other) == INACTIVE
            assert f"'{FIRST}' commands this arm; deactivate it before '{other}'" in arm.log(other)
    finally:
        arm.pause(False)
    assert arm.lifecycle(FIRST) == ACTIVE


@pytest.mark.parametrize(('old', 'new'), [(FIRST, SECOND), (SECOND, THIRD)])
def test_switch_in_motion_moves_no_joint_by_more_than_its_speed_times_one_step(arm, old, new):
    end = set_off(arm, old)
    start = switch(arm, old, new)
    answer = arm.result(end, 'end of the goal')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'the controller was deactivated' in answer.result.error_string
    arm.wait(lambda: arm.now > start + 1.5, '1.5 s under the new controller')
    rows = [row for row in arm.states if start - DT / 2 <= row[0] <= start + 1.5]
    t, q, v = (np.array(column) for column in zip(*rows, strict=True))
    fresh = np.append(True, np.diff(t) > 0)  # a state may be shown twice
    t, q, v = t[fresh], q[fresh], v[fresh]
    dt = np.diff(t)[:, None]  # on a busy machine some states do not reach us
    speed = np.abs(v[0])
    assert speed.max() > 0.1
    assert (np.abs(np.diff(q, axis=0)) <= speed * dt + ACCELERATION * DT * dt).all()
    # The plant's brake alone rests after v/rate; the new controller's own brake is shorter, and
    # takes over sooner or later. Both keep the direction: all joints go the same time at v.
    way = q[-1] - q[0]
    time_at_v = way @ v[0] / (v[0] @ v[0])
    assert 0 < time_at_v <= DT + 1 / BRAKE_RATE + 1e-4 / speed.max()
    np.testing.assert_allclose(way, v[0] * time_at_v, atol=1e-4)
    assert np.abs(v[-1]).max() < 1e-4
    arm.words(new, 'holding')


def test_controller_that_is_shut_down_in_motion_ends_its_goal_and_leaves_the_arm_held(arm):
    end = set_off(arm, THIRD)
    assert arm.change(THIRD, Transition.TRANSITION_ACTIVE_SHUTDOWN)
    answer = arm.result(end, 'end of the goal')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'the controller was shut down' in answer.result.error_string
    arm.wait(lambda: np.abs(arm.v).max() < 1e-3, 'rest')
    arm.diagnostics.clear()
    arm.words('simulator', 'no command: the arm is braked and held')
    held = arm.q.copy()
    activate(arm, FIRST)
    arm.words(FIRST, 'holding')
    np.testing.assert_allclose(arm.q, held, atol=1e-3)


def test_of_controllers_that_start_at_once_one_is_left_active():
    names = (FIRST, SECOND, THIRD)
    with ArmSystem('lockstep') as system:
        for name in names:
            system.controller(name.removesuffix('_controller'))
        system.simulator()
        system.wait(
            lambda: sum(system.lifecycle(name) == ACTIVE for name in names) == 1, 'one active'
        )
        system.spin(0.5)
        (left,) = (name for name in names if system.lifecycle(name) == ACTIVE)
        system.words(left, 'holding')
        for name in set(names) - {left}:
            why = f'{left!r} commands this arm; deactivate it before {name!r}'
            system.wait(lambda name=name, why=why: why in system.log(name), why)
