"""A simulated arm in lock-step with an installed ros2_control, and a client that moves it.

The client lets simulated time run from pause to pause, so that a goal arrives between the same two
updates in every run, and receives every state that the simulator shows.
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import rclpy
from ament_index_python.packages import get_packages_with_prefixes
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.srv import GetParameters
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from simulation_interfaces.srv import ResetSimulation
from std_msgs.msg import UInt8MultiArray
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.qos import CONTROL_QOS, RECORD_QOS
from arm_controllers.ros.running import make_executor, wait_until
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader
from arm_dynamics.checks import Array
from arm_sim.robot import Robot
from arm_sim.ros.loop_messages import STATE, gathered

CONTROLLER = 'joint_trajectory_controller'
LONG_WAIT = 180.0  # [s]
NEEDED = ('controller_manager',)


def missing() -> str:
    """Return what is not installed of what lock-step with ros2_control needs; '' for nothing."""
    there = get_packages_with_prefixes()
    return ', '.join(name for name in NEEDED if name not in there)


class ManagedArm:
    """A robot, its manager with joint_trajectory_controller, and a client.

    Attributes:
        home: (n,) positions after a reset [rad].
        references: (m, 1 + 3 n) of every controller_state since `clear`: time [s], q, v, a.
    """

    def __init__(
        self, robot: str, rate: int, extra: str = '', actuator: str = 'servo',
        of_manager: str = '', config: str = '',
    ):  # fmt: skip
        """Start everything, wait until the controller is active, and stop time.

        `robot`: as commands name it; `rate`: of the manager [Hz]; `extra`, `of_manager`: further
        lines of the parameters of controller and manager; `config`: the robot's parameter file.
        """
        folder = Path(tempfile.mkdtemp())
        shipped = Path(__file__).parents[1] / 'config' / 'ros2_control' / 'controllers.yaml'
        lines = f'update_rate: {rate}\n{of_manager}    #'
        text = re.sub(r'update_rate: \d+', lines, shipped.read_text())
        controllers = folder / 'controllers.yaml'
        controllers.write_text(text + extra)
        self.log = folder / 'launch.log'
        words = f'mode:=lockstep controllers:={controllers} actuator:={actuator}'
        command = ['ros2', 'launch', 'arm_sim', 'ros2_control.launch.py', *words.split()]
        name, *others = robot.split()  # 'ur5e gripper:=parallel'
        command += [f'robot:={name}', f'config:={config}', *others]
        self.launch = subprocess.Popen(
            command, stdout=self.log.open('w'), stderr=subprocess.STDOUT, start_new_session=True
        )
        loaded = Robot.load(robot)
        model = loaded.model
        initial = loaded.parameters('simulator').get('initial_positions', model.neutral())
        self.home = np.array(initial, dtype=float)
        self.names, self.period_ns = list(model.joint_names), 10**9 // rate
        rclpy.init()
        self.node = node = rclpy.create_node('managed_arm')
        self.executor = make_executor()
        self.executor.add_node(node)
        self._reader = JointStateReader(self.names, FIELDS)
        self.time_ns, self.q = -1, np.zeros(len(self.names))
        self._raw: list[bytes] = []
        self.references: list[JointTrajectoryControllerState] = []
        self._values: dict[str, str] = {}
        self.node.create_subscription(
            UInt8MultiArray, 'simulator/loop_messages', self._on_batch, RECORD_QOS, raw=True
        )
        node.create_subscription(
            JointTrajectoryControllerState, f'{CONTROLLER}/controller_state',
            self.references.append, QoSProfile(depth=5000),
        )  # fmt: skip
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 100)
        self._until = node.create_publisher(Time, 'simulator/run_until', CONTROL_QOS)
        self._reset = node.create_client(ResetSimulation, 'simulator/reset_simulation')
        self.action = ActionClient(
            node, FollowJointTrajectory, f'{CONTROLLER}/follow_joint_trajectory'
        )
        self._ask = node.create_client(GetParameters, f'{CONTROLLER}/get_parameters')
        pause = node.create_client(SetBool, 'simulator/pause')
        self.wait(lambda: self.references and self.time_ns > 0, 'active controller')
        self.wait(self.action.server_is_ready, 'action server')
        self.wait(self._ask.service_is_ready, 'parameters of the controller')
        self.wait(pause.service_is_ready, 'simulator')
        self.result(pause.call_async(SetBool.Request(data=True)), 'pause')
        self.settle()

    def _on_batch(self, raw: bytes) -> None:
        for what, message in gathered(raw):
            if what == STATE:
                self._reader.open(message)
                if self._reader.time_ns > self.time_ns:
                    self._raw.append(message)
                    self.time_ns = self._reader.time_ns

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == 'simulator':
                self._values = {each.key: each.value for each in status.values}

    def wait(self, condition, what: str) -> None:
        """Wait until a condition holds; show the log and end where it never does."""
        try:
            wait_until(self.executor, condition, what, LONG_WAIT)
        except Exception:
            print(self.log.read_text()[-6000:])
            self.end()
            raise

    def result(self, future, what: str):
        """Return the result of a future."""
        wait_until(self.executor, future.done, what, LONG_WAIT, future)
        return future.result()

    def settle(self) -> None:
        """Wait until the manager has answered the state at which time has stopped."""
        end = time.monotonic() + 0.05
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.01)

    def run(self, periods: int) -> tuple[Array, ...]:
        """Let time run for a number of periods; return times [s], q, v, effort of its states."""
        end_ns = self.time_ns + periods * self.period_ns
        self._raw.clear()
        stamp = Time()
        set_stamp(stamp, end_ns)
        self._until.publish(stamp)
        again = time.monotonic() + 1.0
        while self.time_ns < end_ns:
            self.executor.spin_once(timeout_sec=0.1)
            if time.monotonic() > again:
                if self.launch.poll() is not None or time.monotonic() > again + LONG_WAIT:
                    self.wait(lambda: False, 'state')
                self._until.publish(stamp)
        times, found = self._reader.read_all(self._raw[:])
        if len(times) != periods:
            raise RuntimeError(f'{len(times)} states for {periods} periods')
        return times, *(found[name] for name in FIELDS)

    def reset(self) -> None:
        """Go back to the initial state, with no answer of the manager under way; time goes on."""
        self.settle()
        self.wait(self._reset.service_is_ready, 'reset_simulation')
        scope = ResetSimulation.Request(scope=ResetSimulation.Request.SCOPE_STATE)
        self.result(self._reset.call_async(scope), 'reset')
        self.settle()

    def goal(self, points, start_ns: int = 0, names=None, **fields) -> FollowJointTrajectory.Goal:
        """Return a goal of points (time [s], positions, velocities, accelerations)."""
        trajectory = JointTrajectory(joint_names=names or self.names)
        if start_ns:
            set_stamp(trajectory.header.stamp, start_ns)
        for seconds, *values in points:
            point = JointTrajectoryPoint(time_from_start=_duration(seconds))
            for name, each in zip(
                ('positions', 'velocities', 'accelerations'), values, strict=False
            ):
                setattr(point, name, [] if each is None else [float(x) for x in each])
            trajectory.points.append(point)
        return FollowJointTrajectory.Goal(trajectory=trajectory, **fields)

    def send(self, goal: FollowJointTrajectory.Goal):
        """Send a goal while simulated time is paused; return its handle once the goal is taken.

        An action's server answers, and publishes EXECUTING, before it hands the goal to the
        controller, and a goal without a stamp begins in the update after that. The controller's
        node serves its requests one by one: once it has answered a later one, the goal is there.
        """
        handle = self.result(self.action.send_goal_async(goal), 'answer to the goal')
        if handle.accepted:
            self.result(self._ask.call_async(GetParameters.Request()), 'answer of the controller')
        return handle

    def counts(self) -> dict[str, int]:
        """Return the numbers of cycles in lock-step, and of those that are not proven."""
        self._values.clear()
        self.wait(lambda: 'unproven cycles' in self._values, 'diagnostics')
        return {
            name: int(value)
            for name, value in self._values.items()
            if ' cycles' in name or 'unproven' in name
        }

    def cpu(self) -> dict[str, float]:
        """Return the CPU time of simulator and manager so far [s]."""
        found = {}
        for file in Path('/proc').glob('[0-9]*/stat'):
            try:
                name, fields = re.match(r'\d+ \((.*)\) (.*)', file.read_text()).groups()
                group = os.getsid(int(file.parent.name))
            except (OSError, AttributeError):
                continue
            if group == self.launch.pid and name in ('simulator', 'ros2_control_no'):
                ticks = sum(map(int, fields.split()[11:13]))
                found[name.removesuffix('_no')] = ticks / os.sysconf('SC_CLK_TCK')
        return found

    def end(self) -> None:
        """End the launch."""
        if self.launch.poll() is None:
            os.kill(self.launch.pid, signal.SIGINT)
            try:
                self.launch.wait(LONG_WAIT)
            except subprocess.TimeoutExpired:
                os.killpg(self.launch.pid, signal.SIGKILL)
        rclpy.try_shutdown()


def _duration(seconds: float) -> Duration:
    whole = round(seconds * 1e9)
    return Duration(sec=whole // 10**9, nanosec=whole % 10**9)
