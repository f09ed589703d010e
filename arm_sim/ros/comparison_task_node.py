"""One task of the comparison over the real nodes: a goal, what disturbs it, and the record."""

import sys
from dataclasses import dataclass

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node

from arm_controllers.reference import Reference
from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.running import run_node, wait_until
from arm_dynamics.checks import in_range
from arm_sim.comparison.cases import measure
from arm_sim.comparison.over_topics import RECORD
from arm_sim.comparison.report import COLUMNS, cells
from arm_sim.output_folder import writable_folder
from arm_sim.ros.goal_run import GoalRun
from arm_sim.tasks.closed_loop import ClosedLoopRecord, Push
from arm_sim.tasks.comparison_tasks import Robot, goal_reference, make_task, task_goal
from arm_sim.tasks.tracking import JointLog


@dataclass(frozen=True)
class ComparisonTaskParameters:
    """Parameters of the task.

    Attributes:
        robot: name of a shipped robot, or path of a URDF file.
        task: of the comparison.
        controller: node that takes the goal.
        frequency: of the sinusoid [Hz]; 0: the robot's own.
        timestep: the control period [s].
        timeout: longest wait for another node [s].
        output_dir: folder for the record.
    """

    robot: str = 'ur5e'
    task: str = 'sinusoid'
    controller: str = 'computed_torque_controller'
    frequency: float = 0.0
    timestep: float = 0.001
    timeout: float = 60.0
    output_dir: str = 'task_output'

    def __post_init__(self):
        """Raises ArmError."""
        in_range('timestep', self.timestep, 1e-5, 0.1)
        in_range('timeout', self.timeout, 0.1, 1000.0)


class ComparisonTask(Node):
    """Runs once, from the reset of the simulator to the record."""

    def __init__(self):
        """Declare parameters, prepare the task, open clients."""
        super().__init__('comparison_task')
        self.parameters = p = declare_parameters(self, ComparisonTaskParameters)
        self.robot = Robot.load(p.robot)
        self.task = make_task(p.task, self.robot, p.frequency)
        self.output_dir = writable_folder(p.output_dir)
        self._wrenches = self.create_publisher(WrenchStamped, 'external_wrench', 10)
        self._arm = GoalRun(self, self.robot.model, p.controller, p.timeout)

    def run(self, executor) -> int:
        """Do the job; return the exit code."""
        task, period_ns = self.task, round(self.parameters.timestep * 1e9)
        start = self._arm.reset(executor)
        if task.push is not None:
            timeout = self.parameters.timeout
            wait_until(executor, self._wrenches.get_subscription_count, 'simulator', timeout)
            self._send(task.push, start, period_ns)
        end_ns = round(task.duration * 1e9 / period_ns) * period_ns
        log = self._arm.follow(executor, task_goal(task, self.robot), end_ns)
        record = self._record(log.between(0, end_ns, period_ns))
        arrays = {name: value for name, value in vars(record).items() if name != 'completed'}
        np.savez(self.output_dir / RECORD, **arrays)
        measures = measure(self.robot.model, record, task.event)
        for (heading, *_), value in zip(COLUMNS, cells(measures), strict=True):
            print(f'{task.name}: {heading} {value}', flush=True)
        return 0

    def _send(self, push: Push, q: np.ndarray, period_ns: int) -> None:
        """Tell the simulator both ends of a push, in the axes that its frame has at q."""
        rotation = self.robot.model.forward_kinematics(q, push.frame).rotation
        force, torque = (rotation.T @ np.reshape(push.wrench, (2, 3)).T).T
        for time, share in ((push.start, 1.0), (push.end, 0.0)):
            message = WrenchStamped()
            message.header.frame_id = push.frame
            set_stamp(message.header.stamp, round(time * 1e9 / period_ns) * period_ns)
            for part, values in ((message.wrench.force, force), (message.wrench.torque, torque)):
                part.x, part.y, part.z = (share * values).tolist()
            self._wrenches.publish(message)

    def _record(self, log: JointLog) -> ClosedLoopRecord:
        """Return the states beside the reference that the controller made of the goal."""
        t = np.array([each * 1e-9 for each in log.time_ns[:-1].tolist()])
        follow = goal_reference(task_goal(self.task, self.robot), self.robot, log.q[0], log.v[0])
        reference, rows = Reference(len(log.q[0])), []
        for each in t:
            follow(each, reference)
            rows.append((reference.q.copy(), reference.v.copy()))
        q_reference, v_reference = (np.array(column) for column in zip(*rows, strict=True))
        states = (log.q[:-1], log.v[:-1], q_reference, v_reference, log.effort[1:])
        return ClosedLoopRecord(t, *states, completed=True)


def main() -> int:
    """Run the node."""
    return run_node('comparison_task', ComparisonTask)


if __name__ == '__main__':
    sys.exit(main())
