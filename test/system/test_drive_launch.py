"""A controller of this package on a robot of another ros2_control, as `drive.launch.py` starts it.

The robot is a stand-in: it publishes its joints in another order, without velocity, with NaN for
efforts as joint_state_broadcaster does, and moves as forward_command_controller commands.
"""

import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Duration
from domains import fresh_domain
from long_wait import LONG_WAIT
from permissions import allowed, opened
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from scripts import load_script
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.messages import set_stamp
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

RATE = 50.0
HOME = np.array([0.4, -1.6, 1.5, -1.4, -1.5, 0.5])
NAMES = list(RobotModel.from_urdf(find_urdf('ur5e')).joint_names)
CONFIG = """supervisor:
  ros__parameters: {state_age_limit: 60.0, rate_tolerance: 20.0, tracking_error: [1.0]}
"""


class Robot(Node):
    """Joints that are where the last command has put them.

    Attributes:
        q: (6,) positions [rad].
        commands: all that came, (6,) each.
        silent: whether no states are published.
        for_law: number of the states that the supervisor has passed on.
    """

    def __init__(self, context):
        super().__init__('robot', context=context)
        self.q, self.commands, self.silent, self._time_ns = HOME.copy(), [], False, 0
        self.for_law = 0
        self._states = self.create_publisher(JointState, '/joint_states', 10)
        self.create_subscription(
            Float64MultiArray, '/forward_position_controller/commands', self._on_command, 10
        )
        self.targets = self.create_publisher(
            JointTrajectory, '/drive/servo_controller/joint_trajectory', 10
        )
        self.create_subscription(JointState, '/drive/joint_states', self._on_state_for_law, 1)
        self.create_timer(1.0 / RATE, self._publish)

    def _on_state_for_law(self, message):
        self.for_law += 1

    def _on_command(self, message):
        self.q = np.array(message.data)
        self.commands.append(self.q)

    def _publish(self):
        if not self.silent:
            state = JointState(name=[*reversed(NAMES)], position=self.q[::-1].tolist())
            state.effort = [np.nan] * 6
            self._time_ns += round(1e9 / RATE)  # of the robot, whose states are never late
            set_stamp(state.header.stamp, self._time_ns)
            self._states.publish(state)

    def go(self, there):
        point = JointTrajectoryPoint(positions=there.tolist(), velocities=[0.0] * 6)
        point.time_from_start = Duration(sec=4)
        self.targets.publish(JointTrajectory(joint_names=NAMES, points=[point]))


@pytest.mark.slow
def test_a_law_takes_a_foreign_robot_from_rest_to_a_goal_and_a_request_stops_it(tmp_path):
    domain, file = fresh_domain(), tmp_path / 'drive.yaml'
    file.write_text(CONFIG)
    security = load_script('tools/security.py')
    policy = security.policy(security.nodes(), ['/drive'])  # while a robot moves, it publishes
    words = f'robot:=ur5e drives:=position rate:={RATE:g} config:={file}'
    with (tmp_path / 'log').open('w') as log:
        launch = subprocess.Popen(
            ['ros2', 'launch', 'arm_sim', 'drive.launch.py', *words.split()],
            env=os.environ
            | {'ROS_DOMAIN_ID': domain, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(domain))
    robot, executor = Robot(context), SingleThreadedExecutor(context=context)
    executor.add_node(robot)
    # Made at once: ROS can lose the first answer to a client that has just come.
    stop = robot.create_client(Trigger, '/drive/supervisor/stop')

    def until(condition, what):  # 'end': after a stop
        end = time.monotonic() + LONG_WAIT
        while not condition():
            assert time.monotonic() < end, f'no {what}: {(tmp_path / "log").read_text()[-3000:]}'
            text = (tmp_path / 'log').read_text()
            assert launch.poll() is None, text[-3000:]
            assert what == 'end' or 'stopped: ' not in text, text[-3000:]
            executor.spin_once(timeout_sec=0.05)

    try:
        until(lambda: len(robot.commands) > 100, 'command')
        np.testing.assert_allclose(robot.commands, [HOME] * len(robot.commands), atol=1e-9)
        there = HOME + np.array([0.2, -0.1, 0.3, 0.1, -0.2, 0.4])
        until(lambda: robot.targets.get_subscription_count() > 0, 'controller')
        ended = -1

        def is_there():  # a machine that stood still has ended the goal: the arm is sent again
            nonlocal ended
            times = (tmp_path / 'log').read_text().count('goal ended: time jumped')
            if times > ended:
                ended = times
                robot.go(there)
            return np.abs(robot.q - there).max() < 1e-6

        until(is_there, 'goal')
        for name in ('supervisor', 'servo_controller'):
            found = opened(robot, name, '/drive')
            assert found
            assert found - allowed(policy, name, '/drive') == set()
        kinds = r'.*/(commands|joint_trajectory|controller_state|clock|parameter_events)'

        def missing():
            left = allowed(policy, 'supervisor', '/drive') - opened(robot, 'supervisor', '/drive')
            return [each for each in left if not re.fullmatch(kinds, each[2])]

        until(lambda: not missing(), 'supervisor that has opened what it may')
        robot.go(HOME)
        until(lambda: np.abs(robot.q - there).max() > 0.05, 'way back')
        until(stop.service_is_ready, 'service')
        answer = stop.call_async(Trigger.Request())
        until(answer.done, 'end')
        assert answer.result().message == 'requested by ~/stop'
        until(lambda: 'stopped: requested by ~/stop' in (tmp_path / 'log').read_text(), 'end')
        robot.commands.clear()
        assert robot.for_law > 100
        robot.for_law = 0  # else goals of a law that does not drive would be reached
        until(
            lambda: len(robot.commands) > 20 and not np.ptp(robot.commands[-10:], axis=0).any(),
            'end',
        )
        assert np.abs(robot.q - HOME).max() > 0.02  # not the law's goal
        assert robot.for_law <= 2  # on their way at the stop
    finally:
        launch.send_signal(signal.SIGINT)
        launch.communicate(timeout=LONG_WAIT)
        robot.destroy_node()
        context.try_shutdown()
