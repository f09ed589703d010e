"""The sinusoid over ROS 2 topics: send it as a trajectory, measure, report."""

import json
import sys

import numpy as np
from rclpy.node import Node

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.running import run_node
from arm_dynamics.checks import per_joint
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.output_folder import writable_folder
from arm_sim.ros.goal_run import GoalRun
from arm_sim.tasks.sinusoid_run import (
    SinusoidTaskParameters,
    draw,
    goal_server,
    goal_trajectory_of,
    sinusoid_goal,
)
from arm_sim.tasks.tracking import JointLog


class SinusoidTask(Node):
    """Runs once, from the reset of the simulator to the report."""

    def __init__(self):
        """Declare parameters, open clients."""
        super().__init__('sinusoid_task')
        self.parameters = p = declare_parameters(self, SinusoidTaskParameters)
        self.model = RobotModel.from_urdf(find_urdf(p.robot), gravity=p.gravity)
        self.amplitude = per_joint('amplitude', p.amplitude, self.model.joint_names)
        self.output_dir = writable_folder(p.output_dir)
        self.period_ns = round(p.timestep * 1e9) * p.control_decimation
        self._arm = GoalRun(self, self.model, goal_server(p.controller), p.timeout)

    def run(self, executor) -> int:
        """Do the job; return the exit code: 0 if the stated limit holds, 1 if not."""
        p = self.parameters
        center = self._arm.reset(executor)
        goal, from_ns = sinusoid_goal(self.model, p, self.amplitude, center)
        end_ns = from_ns + round(p.cycles / p.frequency * 1e9)
        log = self._arm.follow(executor, goal, end_ns)
        return self._report(log.between(from_ns, end_ns, self.period_ns), goal)

    def _report(self, log: JointLog, goal: Goal) -> int:
        p, names = self.parameters, self.model.joint_names
        t = (log.time_ns[:-1] - goal.start_ns) * 1e-9
        reference = goal_trajectory_of(goal).states(t)[0]
        error = self.model.difference(log.q[:-1], reference)
        scale = np.where(self.model.prismatic, 1e3, np.degrees(1.0))
        rms = np.sqrt(np.mean(np.square(error), axis=0)) * scale
        held = p.limit == 0.0 or bool(rms.max() <= p.limit)
        report = {
            'robot': p.robot,
            'controller': p.controller,
            'frequency_hz': p.frequency,
            'amplitude': self.amplitude.tolist(),
            'joint_rms_deg': dict(zip(names, rms.tolist(), strict=True)),
            'joint_max_deg': dict(zip(names, (np.abs(error) * scale).max(axis=0), strict=True)),
            'peak_torque_nm': float(np.abs(log.effort).max()),
            'limit_deg': p.limit,
            'limits_held': held,
            'checksum': log.checksum(),
        }
        (self.output_dir / 'report.json').write_text(json.dumps(report, indent=1) + '\n')
        draw(t - t[0], reference, log.q[:-1], error * scale, names).savefig(
            self.output_dir / 'tracking.png', dpi=130
        )
        for name, value in zip(names, rms, strict=True):
            print(f'sinusoid: {name}: RMS error {value:.6g} deg', flush=True)
        verdict = '' if p.limit == 0.0 else f' (limit {p.limit:g}: {"held" if held else "missed"})'
        print(f'sinusoid: largest RMS {rms.max():.6g} deg{verdict}', flush=True)
        print(f'sinusoid: report.json, tracking.png are in {self.output_dir}', flush=True)
        return 0 if held else 1


def main() -> int:
    """Run the node."""
    return run_node('sinusoid_task', SinusoidTask)


if __name__ == '__main__':
    sys.exit(main())
