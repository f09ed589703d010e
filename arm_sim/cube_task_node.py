"""The main job: ask for the path, have the arm draw the cube, measure, report."""

import os
import struct
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pinocchio as pin
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from arm_controllers.base_node import (
    RECORD_QOS,
    as_ros_value,
    declare_parameters,
    from_ros_value,
    pin_to_core,
    run_node,
    wait_for,
    wait_until,
)
from arm_controllers.goal import Goal
from arm_controllers.messages import (
    JointReader,
    pose_array_message,
    pose_message,
    to_ns,
    trajectory_message,
)
from arm_controllers.trajectory import Trajectory, hermite
from arm_dynamics.cartesian_path import joint_path_derivatives, polyline
from arm_dynamics.checks import in_range
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_interfaces.srv import ComputeIK, ComputeIKPath
from arm_sim.cube import Cube
from arm_sim.tracking import JointLog, measure

# Simulated time at which the arm is set off: the goal is accepted before time begins to run.
_START = 0.1
_PROGRESS_LINES = 5


@dataclass(frozen=True)
class CubeTaskParameters:
    """Parameters of the task, beside those of the cube.

    Attributes:
        robot: name of a shipped robot, or path of a URDF file.
        controller: node that follows.
        engine, mode, feedforward: what was launched, for the report.
        timestep: the plant's integration step [s].
        control_decimation: the plant's steps a control period.
        posture: joint positions whose tool orientation is held, and whose branch is kept [rad].
        sample_period: distance in time of the path's points [s].
        approach_time: shortest time of the way to the first corner [s].
        settle_time: rest at the first corner before the cube [s].
        ik_position_tolerance: [m].
        ik_orientation_tolerance: [rad].
        timeout: longest wait for another node [s].
        output_dir: folder for report.json, tracking.png and recording.mcap.
        core: run on this CPU core only; -1: on any.
    """

    robot: str = 'ur5e'
    controller: str = 'servo'
    engine: str = 'mujoco'
    mode: str = 'lockstep'
    feedforward: str = ''
    timestep: float = 0.002
    control_decimation: int = 1
    posture: tuple[float, ...] = ()
    sample_period: float = 0.02
    approach_time: float = 2.0
    settle_time: float = 2.0
    ik_position_tolerance: float = 1e-9
    ik_orientation_tolerance: float = 1e-9
    timeout: float = 20.0
    output_dir: str = 'cube_output'
    core: int = -1

    def __post_init__(self):
        """Raises ArmError."""
        in_range('timestep', self.timestep, 0.0, 0.1, exclusive=True)
        in_range('sample_period', self.sample_period, 0.001, 1.0)
        in_range('approach_time', self.approach_time, 0.1, 1000.0)
        in_range('settle_time', self.settle_time, 0.0, 1000.0)
        in_range('timeout', self.timeout, 0.1, 1000.0)


class CubeTask(Node):
    """Runs once, from the first service call to the report."""

    def __init__(self):
        """Declare parameters, open clients and recorders."""
        super().__init__('cube_task')
        self.parameters = p = declare_parameters(self, CubeTaskParameters)
        self.cube = declare_parameters(self, Cube)
        self._limits = self._declare_limits()
        self.output_dir = _writable_folder(p.output_dir)
        self.model = RobotModel.from_urdf(find_urdf(p.robot))
        posture = p.posture or self.model.neutral()
        self.posture = self.model.check_configuration(posture, 'posture')
        self.period_ns = round(p.timestep * 1e9) * p.control_decimation
        self._ik = self.create_client(ComputeIK, 'compute_ik')
        self._path_ik = self.create_client(ComputeIKPath, 'compute_ik_path')
        self._pause = self.create_client(SetBool, '/simulator/pause')
        self._reset = self.create_client(Trigger, '/simulator/reset')
        self._follow = ActionClient(
            self, FollowJointTrajectory, f'/{p.controller}_controller/follow_joint_trajectory'
        )
        self._states: list[bytes] = []
        self._controller_states: list[bytes] = []
        self._diagnostics: dict[str, str] = {}
        self._progress: list[tuple[int, str]] = []
        self._latest_ns = -1
        self.create_subscription(JointState, 'joint_states', self._on_state, RECORD_QOS, raw=True)
        self.create_subscription(
            JointTrajectoryControllerState,
            f'/{p.controller}_controller/controller_state',
            self._controller_states.append,
            RECORD_QOS,
            raw=True,
        )
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def run(self, executor) -> int:
        """Do the job; return the exit code: 0 if the stated limits hold, 1 if not."""
        p, cube = self.parameters, self.cube
        self._say(f'{p.robot} is to draw a cube of {cube.side:g} m at {_text(cube.center)} m')
        wait_until(executor, lambda: self._latest_ns >= 0, 'joint_states', p.timeout)
        pin_to_core(p.core)
        follower = f'{p.controller}_controller'
        wait_until(executor, self._follow.server_is_ready, follower, p.timeout)
        self._call(executor, self._pause, SetBool.Request(data=True))
        self._states.clear()
        self._latest_ns = -1
        self._call(executor, self._reset, Trigger.Request())
        wait_until(executor, lambda: self._latest_ns == 0, 'state after the reset', p.timeout)

        q_start = self._log().q[-1]
        goal, ik = self._plan_strokes(executor)
        goal, cube_start = self._with_approach(goal, q_start)
        start_ns = round((_START + cube_start) * 1e9)
        end_ns = start_ns + round(cube.duration * 1e9)
        self._plan_progress(start_ns, end_ns)

        request = FollowJointTrajectory.Goal(trajectory=trajectory_message(goal))
        handle = wait_for(
            executor, self._follow.send_goal_async(request), 'answer to the goal', p.timeout
        )
        if not handle.accepted:
            raise ArmError(f'{p.controller}_controller rejected the trajectory')
        result = handle.get_result_async()
        wall = time.monotonic()
        self._call(executor, self._pause, SetBool.Request(data=False))
        self._follow_to_the_end(executor, result, end_ns)
        wall = time.monotonic() - wall
        self._call(executor, self._pause, SetBool.Request(data=True))
        return self._report(goal, cube_start, start_ns, end_ns, ik, wall)

    # Planning

    def _plan_strokes(self, executor) -> tuple[Goal, dict]:
        """Return the strokes as a goal that starts at rest at the first corner, and IK facts."""
        if self.cube.path == 'published':
            return self._plan_published(executor)
        return self._plan_edges(executor)

    def _plan_edges(self, executor) -> tuple[Goal, dict]:
        """Straight lines: quintic timing along each edge, inverse kinematics along the line."""
        p, cube = self.parameters, self.cube
        rotation = self.model.forward_kinematics(self.posture).rotation
        path = polyline(cube.waypoints, rotation, cube.edge_time)
        samples = path.sample(cube.sample_times(p.sample_period))
        request = ComputeIKPath.Request(
            path=pose_array_message(samples.poses[:, :3, 3], pin.Quaternion(rotation)),
            seed=self.posture.tolist(),
            position_tolerance=p.ik_position_tolerance,
            orientation_tolerance=p.ik_orientation_tolerance,
        )
        request.path.header.frame_id = self.model.base_frame
        response = self._call(executor, self._path_ik, request)
        if not response.success:
            raise ArmError(
                f'the cube cannot be drawn: {response.reason} '
                f'(center {_text(cube.center)} m, side {cube.side:g} m)'
            )
        q = np.array(response.positions).reshape(len(samples.times), -1)
        v, a = joint_path_derivatives(self.model, q, samples.twists, samples.twist_rates)
        self._check_step(response.max_joint_step)
        facts = {
            'calls': 1,
            'max_position_error_mm': response.max_position_error * 1e3,
            'max_orientation_error_rad': response.max_orientation_error,
            'max_joint_step_rad': response.max_joint_step,
        }
        return Goal(self.model.joint_names, samples.times, q, v, a), facts

    def _plan_published(self, executor) -> tuple[Goal, dict]:
        """The published way: one pose a corner, seeded by the corner before; rest at each."""
        p, cube = self.parameters, self.cube
        rotation = pin.Quaternion(self.model.forward_kinematics(self.posture).rotation)
        seed, rows, responses = self.posture, [], []
        for number, position in enumerate(cube.waypoints):
            request = ComputeIK.Request(
                target=pose_message(position, rotation, self.model.base_frame),
                seed=seed.tolist(),
                position_tolerance=p.ik_position_tolerance,
                orientation_tolerance=p.ik_orientation_tolerance,
            )
            response = self._call(executor, self._ik, request)
            if not response.success:
                raise ArmError(f'the cube cannot be drawn: corner {number}: {response.reason}')
            responses.append(response)
            seed = np.array(response.position)
            rows.append(seed)
        q = np.array(rows)
        zero = np.zeros_like(q)
        facts = {
            'calls': len(rows),
            'max_position_error_mm': max(r.position_error for r in responses) * 1e3,
            'max_orientation_error_rad': max(r.orientation_error for r in responses),
            'max_joint_step_rad': float(np.abs(np.diff(q, axis=0)).max()),
        }
        times = np.arange(len(q)) * cube.edge_time
        return Goal(self.model.joint_names, times, q, zero, zero), facts

    def _check_step(self, step: float) -> None:
        fastest = 2.0 * float(np.min(self.model.velocity_limit)) * self.parameters.sample_period
        if step > fastest:
            raise ArmError(
                f'the joint path jumps by {step:.3g} rad between two points; '
                f'at most {fastest:.3g} rad is a motion'
            )

    def _with_approach(self, goal: Goal, q_start: np.ndarray) -> tuple[Goal, float]:
        """Return the goal with the way to the first corner before it, and when the cube starts."""
        p = self.parameters
        distance = np.abs(self.model.difference(q_start, goal.positions[0]))
        # A rest-to-rest quintic is fastest in the middle: 15/8 of its mean speed.
        fastest = float(np.max(1.875 * distance / self.model.velocity_limit))
        arrival = max(p.approach_time, 1.5 * fastest)
        cube_start = round((arrival + p.settle_time) / p.timestep) * p.timestep
        zero = np.zeros((1, self.model.nv))
        return (
            replace(
                goal,
                times=np.concatenate([[arrival], cube_start + goal.times]),
                positions=np.vstack([goal.positions[:1], goal.positions]),
                velocities=np.vstack([zero, goal.velocities]),
                accelerations=np.vstack([zero, goal.accelerations]),
                start_ns=round(_START * 1e9),
            ),
            cube_start,
        )

    # Following

    def _follow_to_the_end(self, executor, result, end_ns: int) -> None:
        """Spin until the goal has ended and its last state is recorded, telling the progress."""
        p = self.parameters
        limit = 60.0 + 20.0 * end_ns * 1e-9

        def drawn() -> bool:
            while self._progress and self._latest_ns >= self._progress[0][0]:
                self._say(self._progress.pop(0)[1])
            return result.done() and self._latest_ns >= end_ns

        wait_until(executor, lambda: drawn() or _failed(result), 'end of the trajectory', limit)
        if _failed(result):
            reason = result.result().result.error_string
            raise ArmError(f'{p.controller}_controller did not draw the cube: {reason}')

    def _plan_progress(self, start_ns: int, end_ns: int) -> None:
        strokes = self.cube.strokes
        self._progress = [(0, 'the trajectory is accepted; moving to the first corner')]
        for i in range(_PROGRESS_LINES):
            share = i / _PROGRESS_LINES
            stroke = int(share * strokes) + 1
            text = f'drawing: stroke {stroke:2d} of {strokes}, {share:4.0%}'
            self._progress.append((round(start_ns + share * (end_ns - start_ns)), text))

    def _on_state(self, data: bytes) -> None:
        self._states.append(data)
        seconds, nanoseconds = struct.unpack_from('<iI', data, 4)
        self._latest_ns = seconds * 1_000_000_000 + nanoseconds

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == 'simulator':
                self._diagnostics = {value.key: value.value for value in status.values}

    # Reporting

    def _log(self) -> JointLog:
        """Return every state that came, in order, repeated ones once."""
        reader = JointReader(self.model.joint_names)
        rows: dict[int, tuple[np.ndarray, ...]] = {}
        for data in self._states:
            message = deserialize_message(data, JointState)
            rows[to_ns(message.header.stamp)] = tuple(
                reader.read(message.name, getattr(message, field), field)
                for field in ('position', 'velocity', 'effort')
            )
        q, v, effort = (np.array(column) for column in zip(*rows.values(), strict=True))
        return JointLog(np.array(list(rows)), q, v, effort)

    def _report(self, goal, cube_start, start_ns, end_ns, ik, wall) -> int:
        # Plots and recordings bring libraries that would hold up the start of the arm.
        from arm_sim.cube_report import draw, print_table, summarize, write_json

        p, cube = self.parameters, self.cube
        everything = self._log()
        log = everything.between(start_ns, end_ns, self.period_ns)
        trajectory = Trajectory(
            goal.times,
            hermite(
                np.diff(goal.times),
                (goal.positions[:-1], goal.velocities[:-1], goal.accelerations[:-1]),
                (goal.positions[1:], goal.velocities[1:], goal.accelerations[1:]),
            ),
        )
        tracking = measure(self.model, log, trajectory, cube_start, cube)
        report = {
            'robot': p.robot,
            'controller': p.controller,
            'engine': p.engine,
            'mode': p.mode,
            'feedforward': p.feedforward,
            'path': cube.path,
            **summarize(tracking, cube, self.model.joint_names),
            'cycles_per_second': (len(everything.time_ns) - 1) / wall,
            'ik': ik,
            'checksum': log.checksum(),
        }
        if p.mode == 'realtime':
            report['achieved_real_time_factor'] = float(everything.time_ns[-1]) * 1e-9 / wall
            for key in ('late ticks', 'skipped periods', 'stale commands'):
                report[key.replace(' ', '_')] = int(self._diagnostics.get(key, 0))
        checks = self._checks(report)
        report['limits'] = checks
        report['limits_held'] = all(check['held'] for check in checks)
        write_json(report, self.output_dir / 'report.json')
        draw(tracking, cube, report, self.output_dir / 'tracking.png')
        self._write_recording()
        print_table(report, checks)
        names = 'report.json, tracking.png, recording.mcap'
        self._say(f'{names} are in {self.output_dir}')
        return 0 if report['limits_held'] else 1

    def _declare_limits(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the limits [mm] for what is run: (RMS, max) of the path, (RMS,) of tracking."""
        p = self.parameters
        law = f'{p.controller}_{p.feedforward}' if p.feedforward else p.controller
        key = law if p.mode == 'lockstep' else p.mode
        path = declare_limit(self, f'path_limit.{self.cube.path}', 2)
        return path, declare_limit(self, f'tracking_limit.{key}', 1)

    def _checks(self, report: dict) -> list[dict]:
        path, tracking = self._limits
        wanted = []
        if path:
            wanted.append(('path error RMS', report['path_error_mm']['rms'], path[0]))
            wanted.append(('path error max', report['path_error_mm']['max'], path[1]))
        if tracking:
            wanted.append(('tracking error RMS', report['tracking_error_mm']['rms'], tracking[0]))
        return [
            {'name': name, 'value': value, 'limit': limit, 'unit': 'mm', 'held': value <= limit}
            for name, value, limit in wanted
        ]

    def _write_recording(self) -> None:
        from arm_sim.recording import Channel, write_recording

        def stamped(messages: list[bytes]) -> list[tuple[int, bytes]]:
            stamps = (struct.unpack_from('<iI', data, 4) for data in messages)
            return [(s * 10**9 + n, data) for (s, n), data in zip(stamps, messages, strict=True)]

        controller = f'/{self.parameters.controller}_controller/controller_state'
        write_recording(
            self.output_dir / 'recording.mcap',
            [
                Channel('/joint_states', 'sensor_msgs/msg/JointState', stamped(self._states)),
                Channel(
                    controller,
                    'control_msgs/msg/JointTrajectoryControllerState',
                    stamped(self._controller_states),
                ),
            ],
        )

    def _call(self, executor, client, request):
        timeout = self.parameters.timeout
        wait_until(executor, client.service_is_ready, f'service {client.srv_name}', timeout)
        answer = f'answer from {client.srv_name}'
        return wait_for(executor, client.call_async(request), answer, timeout)

    @staticmethod
    def _say(text: str) -> None:
        print(f'cube: {text}', flush=True)


def _failed(result: Future) -> bool:
    return result.done() and result.result().status != GoalStatus.STATUS_SUCCEEDED


def declare_limit(node: Node, name: str, count: int) -> tuple[float, ...]:
    """Return a parameter of `count` numbers, or () where the parameter file has none."""
    kind = tuple[float, ...]
    descriptor = ParameterDescriptor(description='stated error limit [mm]', dynamic_typing=True)
    value = node.declare_parameter(name, as_ros_value(()), descriptor).value
    limit = from_ros_value(name, value, kind)
    if len(limit) not in (0, count):
        raise ArmError(f'parameter {name!r} has {len(limit)} values; allowed: {count}')
    return limit


def _text(values) -> str:
    return '(' + ', '.join(f'{value:g}' for value in values) + ')'


def _writable_folder(name: str) -> Path:
    """Return the folder, made if need be. Raises ArmError if it cannot be written."""
    path = Path(name).expanduser().absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
        reason = '' if os.access(path, os.W_OK | os.X_OK) else 'no permission to write'
    except OSError as error:
        reason = error.strerror or str(error)
    if reason:
        raise ArmError(f'output_dir {str(path)!r} is not a folder to write in: {reason}')
    return path


def main() -> int:
    """Run the node."""
    return run_node('cube_task', CubeTask)


if __name__ == '__main__':
    sys.exit(main())
