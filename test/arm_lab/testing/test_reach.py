"""`reach`: a goal from its start to its end, whoever spins the node, and why it fails."""

import threading
import time

import pytest

rclpy = pytest.importorskip('rclpy')

from control_msgs.action import FollowJointTrajectory  # noqa: E402
from control_msgs.msg import JointTrajectoryControllerState  # noqa: E402
from domains import fresh_domain  # noqa: E402
from rclpy.action import ActionServer, GoalResponse  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402

from arm_dynamics.checks import ArmError  # noqa: E402
from arm_lab.testing import reach  # noqa: E402
from arm_lab.testing.ros import reach as module  # noqa: E402

JOINTS = ['b', 'a']  # in the controller's order; joint_states has the other one


class Server(ActionServer):
    """Loses the first answers to requests of a result."""

    lost = 0

    def _send_result_response(self, header, future):
        self.lost -= 1
        if self.lost < 0:
            super()._send_result_response(header, future)


class Arm:
    """An arm that is at its goal at once, in a thread.

    Attributes:
        q: positions by joint.
        miss: distance from a goal at its end.
        end: of goals: succeed, abort, reject or never.
    """

    def __init__(self):
        self.q, self.miss, self.end, self.time = dict.fromkeys('ab', 0.0), 0.0, 'succeed', 0.0
        self.node = rclpy.create_node('arm')
        self.action = Server(
            self.node, FollowJointTrajectory, 'own/follow_joint_trajectory', self.execute,
            goal_callback=lambda goal: GoalResponse(1 + (self.end != 'reject')),
            handle_accepted_callback=lambda goal: None if self.end == 'never' else goal.execute(),
        )  # fmt: skip
        self.node.create_subscription(
            JointTrajectory, 'external/joint_trajectory', lambda goal: None, 1
        )
        self.states = self.node.create_publisher(JointState, 'joint_states', 10)
        kind = JointTrajectoryControllerState
        self.own_states = self.node.create_publisher(kind, 'own/controller_state', 10)
        self.node.create_timer(0.01, self.publish)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        threading.Thread(target=self.executor.spin, daemon=True).start()

    def publish(self):
        state = JointState(name=[*self.q], position=[*self.q.values()])
        self.time += 0.1  # ten times as fast as the wall clock
        state.header.stamp.sec = int(self.time)
        self.states.publish(state)
        self.own_states.publish(JointTrajectoryControllerState(joint_names=JOINTS))

    def execute(self, goal):
        asked = goal.request.trajectory
        values = [self.miss + value for value in asked.points[-1].positions]
        self.q |= dict(zip(asked.joint_names, values, strict=True))
        getattr(goal, self.end)()
        code = 0 if self.end == 'succeed' else -4
        return FollowJointTrajectory.Result(error_code=code, error_string='it is tired')


@pytest.fixture
def arm():
    rclpy.init(domain_id=int(fresh_domain()))
    found = Arm()
    yield found
    found.executor.shutdown()
    rclpy.shutdown()


@pytest.fixture
def node(arm):
    return rclpy.create_node('user')


def in_no_executor(node):
    pass


def spun_once(node):
    rclpy.spin_once(node, timeout_sec=0.01)  # the global executor stays in node.executor


def spun_by_a_thread(node):
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    threading.Thread(target=executor.spin, daemon=True).start()
    return executor


def in_an_executor_that_nothing_spins(node):
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    return executor


@pytest.mark.slow
def test_a_node_whose_callbacks_take_long_keeps_no_goal_waiting(arm, node):
    for _ in range(8):
        node.create_subscription(JointState, 'joint_states', lambda _: time.sleep(0.005), 10)
    reach(node, 'own', [0.5, 0.25], timeout=20.0)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    'who', [in_no_executor, spun_once, spun_by_a_thread, in_an_executor_that_nothing_spins]
)
def test_goals_one_after_another_reach_their_ends_whoever_spins_the_node(arm, node, who):
    executor = who(node)
    before = node.executor
    reach(node, 'own', [0.1, 0.2], seconds=0.1)
    assert arm.q == {'b': 0.1, 'a': 0.2}
    reach(node, 'own', {'a': 0.3}, seconds=0.1)
    assert arm.q == {'b': 0.1, 'a': 0.3}
    assert node.executor is (before if executor else None)
    if executor:
        executor.shutdown()


def test_callbacks_of_a_node_that_nothing_else_spins_run_meanwhile(arm, node):
    taken = []
    node.create_subscription(JointState, 'joint_states', taken.append, 10)
    reach(node, 'own', {'a': 0.3}, seconds=0.1)
    assert taken


def test_a_result_that_is_lost_is_requested_again(arm, node, monkeypatch):
    monkeypatch.setattr(module, '_AGAIN', 0.2)
    arm.action.lost = 2
    reach(node, 'own', {'a': 0.3}, seconds=0.1)
    assert arm.action.lost < 0


@pytest.mark.parametrize(
    ('controller', 'end', 'miss', 'line'),
    [
        ('own', 'abort', 0.0, r'own: it is tired (aborted, PATH_TOLERANCE_VIOLATED)'),
        ('own', 'reject', 0.0, 'own rejected the goal; its log says why'),
        ('own', 'never', 0.0, 'own: the goal has not ended within 1.1 s'),
        ('own', 'succeed', 0.5, "own: joint 'a' is at 0.8, not at 0.3, 1 s after the end of the"),
        ('won', 'succeed', 0.0, 'no action won/follow_joint_trajectory within 1 s; there is /'),
        ('owns', 'succeed', 0.0, 'no action owns/follow_joint_trajectory within 1 s; there is /'),
    ],
)
def test_the_reason_is_one_line(arm, node, controller, end, miss, line):
    arm.end, arm.miss = end, miss
    with pytest.raises(ArmError) as caught:
        reach(node, controller, {'a': 0.3}, seconds=0.1, timeout=1.0)
    assert str(caught.value).startswith(line)
    assert '\n' not in str(caught.value)
    if controller == 'owns':
        assert str(caught.value).endswith("; did you mean 'own'?")
    if controller == 'won':  # another test's action may still be on the graph of a used domain
        there = str(caught.value).partition('there is ')[2]
        assert '/own/follow_joint_trajectory' in there
        assert '/external/joint_trajectory' in there  # takes goals by its topic alone


@pytest.mark.parametrize(
    ('controller', 'positions', 'line'),
    [
        ('own', [0.1], r'positions has shape \(1,\); it must be \(2,\); the joints are b, a$'),
        (
            'own',
            {'a': float('nan')},
            r'positions\[0\] is nan; it must be finite; the joints are a',
        ),
        ('won', [0.1, 0.2], 'no won/controller_state within 1 s; positions by joint'),
    ],
)
def test_impossible_positions_are_refused_before_the_goal(arm, node, controller, positions, line):
    with pytest.raises(ArmError, match=line):
        reach(node, controller, positions, timeout=1.0)
