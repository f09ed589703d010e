"""A publisher that commands under the active controller's name: found out, named, and braked."""

import numpy as np
import pytest
import rclpy
from action_msgs.msg import GoalStatus
from arm_system import HOME, INACTIVE, NAMES, goal, lockstep_arm, seconds
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from arm_controllers.ros.commander import NOBODY
from arm_controllers.ros.qos import CONTROL_QOS, RECORD_QOS, STATE_QOS

ACTIVE, WAITING = 'computed_torque_controller', 'pd_controller'
FAR = HOME + np.array([0.5, 0.2, -0.2, 0.1, 0.1, 0.3])
ODD = 3.125  # [N.m], a torque that no law commands here


@pytest.fixture(scope='module', params=['processes', 'composed'])
def arm(request):
    """A torque-driven UR5e, one controller that commands and one that waits for its turn."""
    with lockstep_arm('pd', composed=request.param == 'composed') as system:
        yield system


class Imitator:
    """Answers every state as the active controller does, with a torque of its own."""

    def __init__(self, arm):
        self.node = rclpy.create_node('imitator', context=arm.context)
        self.arm, self.efforts, self.speaks = arm, {}, False
        self.publisher = self.node.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
        arm.wait(lambda: self.publisher.get_subscription_count() > 0, 'simulator listening')
        self.node.create_subscription(JointState, 'joint_states', self.on_state, STATE_QOS)
        arm.executor.add_node(self.node)

    def on_state(self, state):
        self.efforts[state.header.stamp.sec, state.header.stamp.nanosec] = np.array(state.effort)
        if self.speaks:
            answer = JointState(name=NAMES, effort=[ODD] * 6)
            answer.header.stamp, answer.header.frame_id = state.header.stamp, ACTIVE
            self.publisher.publish(answer)

    def steps(self):
        """Return how many states were reached under the imitator's torque."""
        return sum(np.array_equal(effort, [ODD] * 6) for effort in self.efforts.values())

    def go(self):
        self.arm.executor.remove_node(self.node)
        self.node.destroy_node()


def found_out(arm):
    """Imitate amid a goal until the arm is braked for it; return the imitator."""
    before = arm.log('simulator').count('/imitator')
    arm.diagnostics.clear()  # an earlier imitator's words do not count
    imitator = Imitator(arm)
    _, end = arm.send(ACTIVE, goal([200.0], [FAR]))
    arm.wait(lambda: np.abs(arm.v).max() > 0.0015, 'motion')
    imitator.speaks = True
    answer = arm.result(end, 'end of the goal')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert f'another publisher commands as {ACTIVE!r}' in answer.result.error_string
    arm.words('simulator', '/imitator')
    arm.wait(lambda: np.abs(arm.v).max() < 1e-3, 'rest')
    held = arm.q.copy()
    arm.spin(1.0)  # it goes on
    np.testing.assert_allclose(arm.q, held, atol=1e-3)
    assert imitator.steps() <= 1
    line = f'/{ACTIVE}, /imitator, or ~/confirm_commander is called'
    assert line in arm.log('simulator')
    assert arm.log('simulator').count('/imitator') == before + 1
    arm.words(ACTIVE, 'silent')
    arm.wait(lambda: arm.values[WAITING]['commander'] == NOBODY, 'word at the one that waits')
    assert not arm.change(WAITING, Transition.TRANSITION_ACTIVATE)
    assert arm.lifecycle(WAITING) == INACTIVE
    return imitator


def assert_goes_on(arm, held):
    arm.words(ACTIVE, 'holding')
    np.testing.assert_allclose(arm.q, held, atol=1e-3)
    status, result = arm.follow(ACTIVE, goal([1.0], [HOME]))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string


def test_a_second_controller_of_the_commanders_name_never_commands_and_disturbs_nothing(arm):
    commands = []
    heard = arm.node.create_subscription(
        JointState, 'joint_commands', lambda m: commands.append(bool(m.name)), CONTROL_QOS
    )
    handle, end = arm.send(ACTIVE, goal([3000.0], [FAR]))
    arm.start(ACTIVE, 'autostart:=true', 'mode:=lockstep', label='second')
    arm.wait(lambda: f'another node named {ACTIVE!r} commands' in arm.log('second'), 'refusal')
    assert arm.stop('second') == 0
    arm.spin(0.5)
    assert not end.done()
    assert all(commands)  # no farewell, which would be the first one's
    arm.node.destroy_subscription(heard)
    assert 'more than one publisher' not in arm.log('simulator')
    arm.result(handle.cancel_goal_async(), 'answer to cancel')
    arm.words(ACTIVE, 'holding')
    assert_goes_on(arm, arm.q.copy())


def test_who_listens_to_commands_hears_every_answer_and_disturbs_nothing(arm):
    _, end = arm.send(ACTIVE, goal([2.0], [HOME + 0.1]))
    for _ in range(3):  # in one process: published for a listener, else handed over
        stamps = []
        heard = arm.node.create_subscription(
            JointState,
            'joint_commands',
            lambda m, seen=stamps: seen.append(seconds(m.header.stamp)),
            RECORD_QOS,
        )
        arm.wait(lambda seen=stamps: len(seen) > 100, 'commands')
        arm.node.destroy_subscription(heard)
        np.testing.assert_allclose(np.diff(np.unique(stamps)), 0.002, atol=1e-9)
        arm.spin(0.2)
    assert arm.result(end, 'end of the goal').status == GoalStatus.STATUS_SUCCEEDED
    assert arm.follow(ACTIVE, goal([1.0], [HOME]))[0] == GoalStatus.STATUS_SUCCEEDED
    assert 'more than one publisher' not in arm.log('simulator')


def test_imitator_moves_the_arm_by_one_command_at_most_until_it_has_gone(arm):
    imitator = found_out(arm)
    held = arm.q.copy()
    imitator.go()
    assert_goes_on(arm, held)


def test_confirmed_controller_is_heeded_beside_an_imitator_that_is_silent(arm):
    nothing = arm.call(Trigger, '/simulator/confirm_commander', Trigger.Request())
    assert not nothing.success
    imitator = found_out(arm)
    imitator.speaks = False
    held = arm.q.copy()
    arm.spin(0.6)  # its publisher is still there
    arm.words('simulator', '/imitator')
    assert arm.call(Trigger, '/simulator/confirm_commander', Trigger.Request()).success
    assert_goes_on(arm, held)
    imitator.go()
