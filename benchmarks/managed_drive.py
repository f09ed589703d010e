"""A law of this package on mock hardware of an installed ros2_control, by drive.launch.py.

    ./ws python benchmarks/managed_drive.py

The manager runs mock_components/GenericSystem, joint_state_broadcaster and
joint_trajectory_controller in real time. The law `servo` takes the UR5e to a goal, is stopped on
the way back, and begins again. Without an installed ros2_control this prints what is missing.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import SubElement

import numpy as np
import rclpy
import yaml
from conditions import own_domain, print_conditions
from diagnostic_msgs.msg import DiagnosticArray
from managed_arm import CONTROLLER, LONG_WAIT, missing
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.messages import to_ns
from arm_controllers.ros.running import make_executor, wait_until
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

RATE, DRIVE = 100, '/drive/supervisor'
HOME = np.array([0.4, -1.6, 1.5, -1.4, -1.5, 0.5])  # [rad]
THERE = HOME + 0.3 * np.array([1.0, -0.5, 1.0, 0.5, -1.0, 1.0])
LASTS, REST, NEAR = 2, 1.0, 1e-3  # of a motion, of a look at rest [s]; at a goal [rad]
BROADCASTER = 'joint_state_broadcaster'
# A busy machine is late: readings that are older than on a robot do not stop the law.
LIMITS = {'state_age_limit': 1.0, 'rate_tolerance': 20.0}


def main() -> int:
    """Print what was seen."""
    if what := missing():
        print(f'ros2_control is not installed here ({what}): nothing was measured')
        return 0
    own_domain()
    print_conditions()
    robot = MockRobot(Path(tempfile.mkdtemp()))
    try:
        show(robot)
    finally:
        robot.end()
    return 0


def show(robot: 'MockRobot') -> None:
    """Move the robot, and print a table of it."""
    print('| step | seen |\n| --- | --- |')
    robot.until(lambda: robot.counts.get('cycles', 0) > 0 and robot.drives, 'law')
    far = np.abs(robot.look() - HOME).max()
    print(f'| the law begins at rest | within {far:.1e} rad of the measured state |')
    robot.go(THERE)
    robot.until(lambda: np.abs(robot.q - THERE).max() < NEAR, 'goal')
    far = np.abs(robot.look()[-1] - THERE).max()
    print(f'| a goal 0.3 rad away | reached within {far:.1e} rad |')
    robot.go(HOME)
    robot.until(lambda: np.abs(robot.q - THERE).max() > 0.1, 'way back')
    at = robot.q
    answer = robot.call('stop')
    time_ns = robot.rows[-1][0]
    robot.until(lambda: robot.rows[-1][0] > time_ns + 1e9 * REST, 'states')
    way, held = np.abs(robot.q - at).max(), robot.look()
    left, drift = np.abs(held[-1] - HOME).max(), np.ptp(held, axis=0).max()
    print(
        f"| ~/stop on the way back: '{answer}' | {way:.3f} rad farther, {left:.2f} rad before the "
        f'goal; then {drift:.1e} rad in {REST:g} s |'
    )
    robot.call('start')
    robot.until(lambda: robot.drives, 'law')
    robot.go(HOME)
    robot.until(lambda: np.abs(robot.q - HOME).max() < NEAR, 'goal')
    far = np.abs(robot.look()[-1] - HOME).max()
    print(f'| ~/start, and the goal again | reached within {far:.1e} rad |')
    print(f'the supervisor: {robot.counts}')


class MockRobot:
    """Mock hardware under an installed ros2_control, and the launch that drives it.

    Attributes:
        rows: (time [ns], positions (6,)) of every state.
        q: newest positions (6,) [rad].
        counts: of the supervisor.
        drives: whether the law commands the robot.
    """

    def __init__(self, folder: Path):
        """Start everything, and wait for states."""
        self.names = list(RobotModel.from_urdf(find_urdf('ur5e')).joint_names)
        robot, controllers, limits = (folder / f'{name}.yaml' for name in ('urdf', 'jtc', 'own'))
        text = {'robot_description': with_mock_hardware(self.names)}
        of = 'ros__parameters'
        robot.write_text(yaml.safe_dump({'robot_state_publisher': {of: text}}))
        limits.write_text(yaml.safe_dump({'supervisor': {of: LIMITS}}))
        kinds = {
            BROADCASTER: {'type': 'joint_state_broadcaster/JointStateBroadcaster'},
            CONTROLLER: {'type': 'joint_trajectory_controller/JointTrajectoryController'},
        }
        jtc = {
            'joints': self.names,
            'command_interfaces': ['position'],
            'state_interfaces': ['position', 'velocity'],
        }
        file = {'controller_manager': {of: {'update_rate': RATE, **kinds}}, CONTROLLER: {of: jtc}}
        controllers.write_text(yaml.safe_dump(file))
        self.log, self._started = folder / 'log', []
        publisher = 'robot_state_publisher'
        manager = 'run controller_manager'
        for words in (
            f'run {publisher} {publisher} --ros-args --params-file {robot}',
            f'{manager} ros2_control_node --ros-args --params-file {controllers}',
            f'{manager} spawner {BROADCASTER} {CONTROLLER} --param-file {controllers} '
            '--switch-timeout 60',
            f'launch arm_sim drive.launch.py robot:=ur5e drives:=trajectory rate:={RATE} '
            f'config:={limits}',
        ):
            self._started.append(
                subprocess.Popen(
                    ['ros2', *words.split()], stdout=self.log.open('a'),
                    stderr=subprocess.STDOUT, start_new_session=True,
                )
            )  # fmt: skip
        rclpy.init()
        self.node = node = rclpy.create_node('managed_drive')
        self.executor = make_executor()
        self.executor.add_node(node)
        self.rows: list[tuple[int, np.ndarray]] = []
        self.counts: dict[str, int] = {}
        self.q, self.drives = np.zeros(6), False
        deep = QoSProfile(depth=1000)
        node.create_subscription(JointState, '/joint_states', self._on_state, deep)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, deep)
        self._goals = node.create_publisher(
            JointTrajectory, '/drive/servo_controller/joint_trajectory', 10
        )
        self.until(lambda: self.rows and self._goals.get_subscription_count(), 'robot and law')

    def _on_state(self, message: JointState) -> None:
        self.q = np.array([message.position[message.name.index(name)] for name in self.names])
        self.rows.append((to_ns(message.header.stamp), self.q))

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.endswith('supervisor'):
                self.counts = {each.key: int(each.value) for each in status.values}
                self.drives = status.message.startswith('the law commands')

    def until(self, condition, what: str) -> None:
        """Wait until a condition holds; show the log where it never does."""
        try:
            wait_until(self.executor, condition, what, LONG_WAIT)
        except Exception:
            print(self.log.read_text()[-6000:])
            raise

    def look(self) -> np.ndarray:
        """Return the positions (k, 6) of a second [rad]."""
        count, begin = len(self.rows), time.monotonic()
        self.until(
            lambda: time.monotonic() > begin + REST and len(self.rows) > count + 10, 'states'
        )
        return np.array([q for _, q in self.rows[count:]])

    def go(self, there: np.ndarray) -> None:
        """Send a goal to the law."""
        point = JointTrajectoryPoint(positions=there.tolist(), velocities=[0.0] * 6)
        point.time_from_start.sec = LASTS
        self._goals.publish(JointTrajectory(joint_names=self.names, points=[point]))

    def call(self, what: str) -> str:
        """Stop or start the law; return the answer."""
        client = self.node.create_client(Trigger, f'{DRIVE}/{what}')
        self.until(client.service_is_ready, 'supervisor')
        future = client.call_async(Trigger.Request())
        wait_until(self.executor, future.done, what, LONG_WAIT, future)
        return future.result().message

    def end(self) -> None:
        """End everything, the law first."""
        for each in reversed(self._started):
            if each.poll() is None:
                os.killpg(each.pid, signal.SIGINT)
                try:
                    each.wait(30.0)
                except subprocess.TimeoutExpired:
                    os.killpg(each.pid, signal.SIGKILL)
        rclpy.try_shutdown()


def with_mock_hardware(names: list[str]) -> str:
    """Return the UR5e's URDF with mock hardware that is at HOME."""
    robot = ElementTree.parse(find_urdf('ur5e')).getroot()
    tag = SubElement(robot, 'ros2_control', name='mock', type='system')
    hardware = SubElement(tag, 'hardware')
    SubElement(hardware, 'plugin').text = 'mock_components/GenericSystem'
    SubElement(hardware, 'param', name='calculate_dynamics').text = 'true'
    for name, q in zip(names, HOME, strict=True):
        joint = SubElement(tag, 'joint', name=name)
        SubElement(joint, 'command_interface', name='position')
        for kind, value in (('position', q), ('velocity', 0.0)):
            state = SubElement(joint, 'state_interface', name=kind)
            SubElement(state, 'param', name='initial_value').text = str(value)
    return ElementTree.tostring(robot, encoding='unicode')


if __name__ == '__main__':
    sys.exit(main())
