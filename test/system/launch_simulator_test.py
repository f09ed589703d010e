"""The simulator node alone: lock-step, pause, step, reset, safe start, refusals."""

import math
import os
import time
import unittest

import launch
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
import rclpy
from domains import fresh_domain
from launch_ros.actions import Node as NodeAction
from long_wait import AGAIN, LONG_WAIT, ask
from rclpy.executors import SingleThreadedExecutor
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from arm_controllers.ros.messages import set_stamp, to_ns
from arm_controllers.ros.qos import CONTROL_QOS, LATCHED_QOS, STATE_QOS
from arm_sim.parameter_files import files_of

os.environ['ROS_DOMAIN_ID'] = fresh_domain()
PERIOD_NS = 2_000_000
HOME = np.array([-0.5, -0.5, 0.5, -0.5, -0.5, 0.0]) * np.pi


@pytest.mark.launch_test
def generate_test_description():
    simulator = NodeAction(
        package='arm_sim',
        executable='simulator',
        name='simulator',
        parameters=[
            *map(str, files_of('ur5e')),
            {'actuator': 'torque', 'clock_rate': 500.0},
        ],
        sigterm_timeout=str(LONG_WAIT),
    )
    ready = launch_testing.actions.ReadyToTest()
    return launch.LaunchDescription([simulator, ready]), {'simulator': simulator}


class TestSimulator(unittest.TestCase):
    """Behaves as a user without a controller sees it."""

    @classmethod
    def setUpClass(cls):
        rclpy.init()

    @classmethod
    def tearDownClass(cls):
        rclpy.shutdown()

    def setUp(self):
        self.node = rclpy.create_node('watcher')
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.states, self.clocks, self.clients = [], [], {}
        self.node.create_subscription(JointState, 'joint_states', self.states.append, STATE_QOS)
        self.node.create_subscription(Clock, '/clock', self.clocks.append, 100)
        self.commands = self.node.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
        self.wait(lambda: self.commands.get_subscription_count() > 0)
        self.call(SetBool, 'pause', SetBool.Request(data=False))
        self.call(Trigger, 'reset', Trigger.Request())
        self.wait(lambda: self.stamp == 0)

    def tearDown(self):
        self.node.destroy_node()

    @property
    def stamp(self):
        return to_ns(self.states[-1].header.stamp) if self.states else None

    def wait(self, condition, timeout=LONG_WAIT):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, 'time is up'
            self.executor.spin_once(timeout_sec=0.02)

    def spin(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)

    def call(self, kind, name, request, again=AGAIN):
        if name not in self.clients:
            self.clients[name] = self.node.create_client(kind, f'/simulator/{name}')
        return ask(self.wait, self.clients[name], request, again)

    def command(self, effort, stamp=None, names=None):
        message = JointState(name=list(names or self.states[-1].name), effort=list(effort))
        set_stamp(message.header.stamp, self.stamp if stamp is None else stamp)
        self.commands.publish(message)

    def command_until(self, reached, effort, names=None):
        """Command until the next state is there: a message may be lost."""
        stamp, text = self.stamp, -math.inf

        def is_there():
            nonlocal text
            if time.monotonic() - text > AGAIN:
                text = time.monotonic()
                self.command(effort, stamp, names)
            return self.stamp == reached

        self.wait(is_there)

    def test_time_stands_still_and_the_arm_is_held_until_the_first_command(self):
        self.spin(0.5)
        assert self.stamp == 0
        np.testing.assert_array_equal(self.states[-1].position, HOME)

    def test_each_command_to_the_present_state_is_one_period(self):
        for k in range(5):
            self.command_until((k + 1) * PERIOD_NS, np.zeros(6))
        assert any(self.states[-1].velocity)
        self.wait(lambda: bool(self.clocks) and to_ns(self.clocks[-1].clock) == 5 * PERIOD_NS)

    def test_commands_that_are_stale_or_broken_move_nothing(self):
        names = list(self.states[-1].name)
        self.command(np.zeros(6), stamp=PERIOD_NS)
        self.command(np.zeros(6), names=[*names[:5], 'nose_joint'])
        self.command(np.zeros(5))
        self.command([0.0, np.nan, 0.0, 0.0, 0.0, 0.0])
        self.command([0.0, np.inf, 0.0, 0.0, 0.0, 0.0])
        self.spin(0.5)
        assert self.stamp == 0
        np.testing.assert_array_equal(self.states[-1].position, HOME)

    def test_commands_may_name_the_joints_in_any_order(self):
        names = list(self.states[-1].name)
        effort = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        self.command_until(PERIOD_NS, effort[::-1], names=names[::-1])
        np.testing.assert_allclose(self.states[-1].effort, effort)

    def test_paused_steps_one_period_at_a_time(self):
        self.call(Trigger, 'step', Trigger.Request())  # refused: its answer makes us known
        self.call(SetBool, 'pause', SetBool.Request(data=True))
        self.command(np.zeros(6))
        self.spin(0.3)
        assert self.stamp == 0
        assert self.call(Trigger, 'step', Trigger.Request(), math.inf).success
        self.command_until(PERIOD_NS, np.zeros(6))
        self.spin(0.3)
        assert self.stamp == PERIOD_NS

    def test_step_without_pause_is_refused(self):
        answer = self.call(Trigger, 'step', Trigger.Request())
        assert not answer.success
        assert 'not paused' in answer.message

    def test_reset_goes_back_to_the_initial_state(self):
        self.command_until(PERIOD_NS, np.full(6, 20.0))
        assert self.call(Trigger, 'reset', Trigger.Request()).success
        self.wait(lambda: self.stamp == 0)
        np.testing.assert_array_equal(self.states[-1].position, HOME)

    def test_robot_description_is_there_for_late_joiners(self):
        found = []
        self.node.create_subscription(String, 'robot_description', found.append, LATCHED_QOS)
        self.wait(lambda: bool(found))
        assert '<robot name="ur5e"' in found[0].data


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    """Ends as it should."""

    def test_exit_code_is_zero(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
