"""The main job: ask for the path, have the arm draw the cube, measure, report."""

import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from arm_controllers.follower.goal import Goal
from arm_controllers.follower.trajectory import Trajectory, hermite
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import RECORD_QOS
from arm_controllers.ros.running import pin_to_core, run_node
from arm_dynamics.checks import in_range
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.output_folder import writable_folder
from arm_sim.ros.cube_plan import CubePlanner, CubePlanParameters
from arm_sim.ros.goal_run import GoalRun
from arm_sim.tasks.cube import Cube
from arm_sim.tasks.tracking import JointLog, measure

# Simulated time at which the arm is set off [ns]: the goal is accepted before time begins to run.
_START_NS = 100_000_000
_PROGRESS_LINES = 5


@dataclass(frozen=True)
class CubeTaskParameters:
    """Parameters of the task, beside those of the cube and of its plan.

    Attributes:
        robot: name of a shipped robot, or path of a URDF file.
        controller: node that follows.
        engine, mode, feedforward: what was launched, for the report.
        timestep: the plant's integration step [s].
        control_decimation: the plant's steps a control period.
        timeout: longest wait for another node [s].
        output_dir: folder for report.json, tracking.png and recording.mcap.
        core: run on this CPU core only; -1: on any.
        path_limit: by path, largest RMS and largest error for exit code 0 [mm].
        tracking_limit: by law and feedforward, or realtime: largest RMS, likewise [mm].
    """

    robot: str = 'ur5e'
    controller: str = 'servo'
    engine: str = 'mujoco'
    mode: str = 'lockstep'
    feedforward: str = ''
    timestep: float = 0.002
    control_decimation: int = 1
    timeout: float = 20.0
    output_dir: str = 'cube_output'
    core: int = -1
    path_limit: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    tracking_limit: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self):
        """Raises ArmError."""
        in_range('timestep', self.timestep, 0.0, 0.1, exclusive=True)
        in_range('timeout', self.timeout, 0.1, 1000.0)


class CubeTask(Node):
    """Runs once, from the first service call to the report."""

    def __init__(self):
        """Declare parameters, open clients and recorders."""
        super().__init__('cube_task')
        self.parameters = p = declare_parameters(self, CubeTaskParameters)
        self.cube = declare_parameters(self, Cube)
        self._limits = self._limits_of_run()
        self.output_dir = writable_folder(p.output_dir)
        self.model = RobotModel.from_urdf(find_urdf(p.robot))
        self.period_ns = round(p.timestep * 1e9) * p.control_decimation
        self._arm = GoalRun(self, self.model, f'{p.controller}_controller', p.timeout)
        plan = declare_parameters(self, CubePlanParameters)
        self._planner = CubePlanner(self, self.model, self.cube, plan)
        self._controller_states: list[bytes] = []
        self._diagnostics: dict[str, str] = {}
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
        _say(f'{p.robot} is to draw a cube of {cube.side:g} m at {_text(cube.center)} m')
        pin_to_core(p.core)
        q_start = self._arm.reset(executor)
        goal, ik = self._planner.strokes(lambda *call: self._arm.call(executor, *call))
        goal, cube_start = self._planner.with_approach(goal, q_start, _START_NS, p.timestep)
        start_ns = round(_START_NS + cube_start * 1e9)
        end_ns = start_ns + round(cube.duration * 1e9)
        log = self._arm.follow(executor, goal, end_ns, self._tell_progress(start_ns, end_ns))
        drawn = log.between(start_ns, end_ns, self.period_ns)
        return self._report(goal, cube_start, log, drawn, ik)

    def _tell_progress(self, start_ns: int, end_ns: int) -> Callable[[int], None]:
        """Return what says, as time goes on, how much is drawn."""
        strokes = self.cube.strokes
        lines = [(0, 'the trajectory is accepted; moving to the first corner')]
        for i in range(_PROGRESS_LINES):
            share = i / _PROGRESS_LINES
            stroke = int(share * strokes) + 1
            text = f'drawing: stroke {stroke:2d} of {strokes}, {share:4.0%}'
            lines.append((round(start_ns + share * (end_ns - start_ns)), text))

        def tell(time_ns: int) -> None:
            while lines and time_ns >= lines[0][0]:
                _say(lines.pop(0)[1])

        return tell

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == 'simulator':
                self._diagnostics = {value.key: value.value for value in status.values}

    # Reporting

    def _report(
        self, goal: Goal, cube_start: float, everything: JointLog, log: JointLog, ik: dict
    ) -> int:
        # Plots and recordings bring libraries that would hold up the start of the arm.
        from arm_sim.tasks.cube_report import draw, print_table, summarize, write_json

        p, cube = self.parameters, self.cube
        wall = self._arm.wall_time
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
        _say(f'{names} are in {self.output_dir}')
        return 0 if report['limits_held'] else 1

    def _limits_of_run(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the limits [mm] for what is run: (RMS, max) of the path, (RMS,) of tracking."""
        p = self.parameters
        law = f'{p.controller}_{p.feedforward}' if p.feedforward else p.controller
        key = law if p.mode == 'lockstep' else p.mode
        limits = (p.path_limit.get(self.cube.path, ()), p.tracking_limit.get(key, ()))
        for limit, count, name in zip(limits, (2, 1), ('path', 'tracking'), strict=True):
            if len(limit) not in (0, count):
                raise ArmError(f'a {name}_limit has {len(limit)} values; allowed: {count}')
        return limits

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
        from arm_sim.ros.recording import Channel, write_recording

        def stamped(messages: list[bytes]) -> list[tuple[int, bytes]]:
            stamps = (struct.unpack_from('<iI', data, 4) for data in messages)
            return [(s * 10**9 + n, data) for (s, n), data in zip(stamps, messages, strict=True)]

        controller = f'/{self.parameters.controller}_controller/controller_state'
        write_recording(
            self.output_dir / 'recording.mcap',
            [
                Channel('/joint_states', 'sensor_msgs/msg/JointState', stamped(self._arm.states)),
                Channel(
                    controller,
                    'control_msgs/msg/JointTrajectoryControllerState',
                    stamped(self._controller_states),
                ),
            ],
        )


def _text(values) -> str:
    return '(' + ', '.join(f'{value:g}' for value in values) + ')'


def _say(text: str) -> None:
    print(f'cube: {text}', flush=True)


def main() -> int:
    """Run the node."""
    return run_node('cube_task', CubeTask)


if __name__ == '__main__':
    sys.exit(main())
