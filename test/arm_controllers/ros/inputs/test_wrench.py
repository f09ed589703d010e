"""A controller whose law needs a wrench answers a state when the wrench of its stamp is here."""

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from long_wait import LONG_WAIT, spin_until  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from arm_controllers.laws.computed_torque import ComputedTorque  # noqa: E402
from arm_controllers.ros import diagnostics  # noqa: E402
from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.in_process import InProcessTransport  # noqa: E402
from arm_controllers.ros.log import Log  # noqa: E402
from arm_controllers.ros.messages import set_stamp  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402

HOME = np.array([-1.57, -1.57, 1.57, -1.57, -1.57, 0.0])
PERIOD_NS = 2_000_000


class Setup:
    """A controller in this process, whose states and wrenches are handed over one by one."""

    def __init__(self, monkeypatch, needs=('wrench',)):
        rclpy.init(
            args=['--ros-args', *as_arguments(files_of('ur5e'))], domain_id=int(fresh_domain())
        )
        monkeypatch.setattr(ComputedTorque, 'needs', needs)
        monkeypatch.setattr(ComputedTorque, 'wrench_goal', ('force',))
        law, self.felt = ComputedTorque.__call__, []

        def feeling(own, state, measured, *others):
            if measured.wrench is not None:
                self.felt.append(measured.wrench.tolist())
            return law(own, state, measured, *others)

        monkeypatch.setattr(ComputedTorque, '__call__', feeling)
        transport, self.answers = InProcessTransport(), []
        self.node = ControllerNode('computed_torque', transport)
        self.node.trigger_configure()
        self.node.trigger_activate()
        transport.serve_commands('/joint_commands', lambda raw, count: self.answers.append(raw))
        (self.take_state,) = transport.state_subscribers('/joint_states')
        self.wrench_takers = transport.state_subscribers('/force_torque_sensor_broadcaster/wrench')

    def state(self, period):
        message = JointState(name=list(self.node.cycle.model.joint_names))
        message.position, message.velocity = HOME.tolist(), [0.0] * 6
        set_stamp(message.header.stamp, period * PERIOD_NS)
        self.take_state(bytes(serialize_message(message)))
        return len(self.answers)

    def wrench(self, period, x):
        message = WrenchStamped()
        message.header.frame_id = 'tool0'
        set_stamp(message.header.stamp, period * PERIOD_NS)
        message.wrench.force.x = x
        for take in tuple(self.wrench_takers):
            take(bytes(serialize_message(message)))
        return len(self.answers)

    def set(self, name, value):
        return self.node.set_parameters_atomically([Parameter(name, value=value)])

    @property
    def words(self):
        return self.node.diagnostics.words(self.node.cycle)[1]


@pytest.fixture
def setup(monkeypatch):
    made = Setup(monkeypatch)
    yield made
    made.node.destroy_node()
    rclpy.try_shutdown()


def test_state_and_wrench_of_a_stamp_are_answered_once_in_either_order(setup):
    assert setup.state(0) == 0
    assert setup.wrench(0, 1.0) == 1
    assert setup.wrench(1, 2.0) == 1
    assert setup.state(1) == 2
    assert setup.state(1) == 3  # published again: the same answer
    assert setup.answers[2] == setup.answers[1]
    assert setup.state(2) == 3
    assert setup.wrench(1, 9.0) == 3  # of an older state
    assert setup.wrench(2, 3.0) == 4
    assert [each[0] for each in setup.felt] == [1.0, 2.0, 3.0]


def test_a_wrench_that_is_none_or_never_comes_is_said(setup, monkeypatch):
    monkeypatch.setattr(diagnostics, 'SILENCE', LONG_WAIT)  # however busy the machine is
    for _ in range(2):
        assert setup.state(0) == 0
    assert "set the simulator's force_torque.frame" in setup.words
    assert setup.wrench(0, np.nan) == 0
    assert 'is not six numbers within 1e+09' in setup.words
    setup.wrench_takers[0](b'\0\1\0\0\1\2')
    assert 'cut off in its header' in setup.words
    assert setup.wrench(0, 5.0) == 1


def test_a_law_that_needs_a_wrench_for_goals_only_waits_for_it_under_a_goal(monkeypatch):
    monkeypatch.setattr(ComputedTorque, 'goal_needs', ('wrench',))
    setup = Setup(monkeypatch, needs=())
    try:
        assert setup.state(0) == 1
        goal, set_wrench = np.array([0.0, 0.0, -10.0, 0.0, 0.0, 0.0]), setup.node.cycle.set_wrench
        with pytest.raises(ArmError, match="no wrench on .*: set the simulator's force_torque"):
            set_wrench(goal, 0, '')
        assert setup.state(1) == 2
        setup.node.create_publisher(WrenchStamped, 'force_torque_sensor_broadcaster/wrench', 1)
        set_wrench(goal, 0, '')
        assert setup.state(2) == 2
        assert setup.wrench(2, 3.0) == 3
        assert [each[0] for each in setup.felt] == [3.0]
    finally:
        setup.node.destroy_node()
        rclpy.try_shutdown()


def test_a_wrench_goal_of_any_bytes_is_refused_in_one_line_or_followed(setup):
    sender = rclpy.create_node('sender')
    goals = sender.create_publisher(WrenchStamped, '/computed_torque_controller/wrench_goal', 10)
    executor = SingleThreadedExecutor()
    executor.add_node(setup.node)
    spin_until(executor, goals.get_subscription_count)
    (own,) = (x for x in setup.node.subscriptions if x.topic_name == goals.topic_name)
    take, taken = own.callback, []
    own.callback = lambda message: taken.append(take(message))
    warnings, follower = [], setup.node.cycle.follower
    Log.warning, log_warning = lambda own, text: warnings.append(text), Log.warning

    def send(goal):
        taken.clear()
        goals.publish(goal)
        spin_until(executor, lambda: taken)

    def goal(frame='', **force):
        message = WrenchStamped()
        message.header.frame_id = frame
        for name, value in force.items():
            setattr(message.wrench.force, name, value)
        return message

    try:
        send(goal(z=1.0))
        assert 'does not command the arm' in warnings.pop()
        setup.wrench(0, 0.0), setup.state(0)
        send(goal('tool0', z=-10.0))
        setup.wrench(1, 0.0), setup.state(1)
        kept = follower.reference.wrench.copy()
        turn = follower.model.forward_kinematics(HOME, 'tool0').rotation
        np.testing.assert_allclose(kept[:3], turn @ [0.0, 0.0, -10.0])
        torque = goal()
        torque.wrench.torque.x = 1.0
        for bad, why in (
            (goal(z=np.nan), 'force [N] is nan'),
            (goal('forearm', z=1.0), "no frame 'forearm'"),
            (goal(z=1e300), 'force [N]'),
            (torque, 'takes no torque'),
        ):
            goals.publish(b'\0\1\0\0\1\2')  # no message
            before = len(warnings)
            send(bad)
            assert all('\n' not in text for text in warnings)
            assert why in warnings[before]
        setup.wrench(2, 0.0), setup.state(2)
        np.testing.assert_array_equal(follower.reference.wrench, kept)
    finally:
        Log.warning = log_warning
        executor.shutdown()
        sender.destroy_node()


def test_a_law_without_a_wrench_gets_it_while_goals_may_end_on_force(monkeypatch):
    setup = Setup(monkeypatch, needs=())
    try:
        assert not setup.wrench_takers
        assert setup.state(0) == 1
        law = setup.node.cycle.law
        setup.set('end_on_force.force', 5.0)
        assert len(setup.wrench_takers) == 1
        assert setup.node.cycle.law is law  # its memory stays
        assert setup.state(1) == 1
        goal = JointTrajectory(joint_names=list(setup.node.cycle.model.joint_names))
        goal.points.append(JointTrajectoryPoint(positions=(HOME + 0.1).tolist()))
        goal.points[0].time_from_start.sec = 1
        setup.node.cycle.goals.take(bytes(serialize_message(goal)))
        assert setup.wrench(1, -4.9) == 2
        assert setup.node.cycle.follower.goals
        assert setup.wrench(2, -5.1) == 2
        assert setup.state(2) == 3
        assert not setup.node.cycle.follower.goals
        setup.set('end_on_force.force', 0.0)
        assert not setup.wrench_takers
        assert setup.state(3) == 4
        answer = setup.set('end_on_force.frame', 'tol0')
        assert "no frame 'tol0'" in answer.reason
    finally:
        setup.node.destroy_node()
        rclpy.try_shutdown()
