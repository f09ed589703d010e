"""Every node of the package in this process, as its command line starts it."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import rclpy
from domains import fresh_domain
from policies import policy_file

from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_values import read_fields
from arm_controllers.ros.controller_node import ControllerNode
from arm_controllers.ros.gripper_controller_node import GripperControllerNode
from arm_dynamics.parameters import Stepping
from arm_sim.parameter_files import as_arguments, files_of
from arm_sim.robot import Robot
from arm_sim.ros.simulator_node import SimulatorNode
from arm_sim.ros.task_node import TaskNode
from arm_sim.tasks import task_names
from arm_tools.cartesian.ros.inverse_kinematics_node import InverseKinematicsNode
from arm_tools.cartesian.ros.linear_move_node import LinearMoveNode
from arm_tools.cartesian.ros.tip_servo_node import TipServoNode
from arm_tools.driving.ros.supervisor_node import SupervisorNode
from arm_tools.planning.ros.plan_motion_node import PlanMotionNode
from arm_tools.view.ros.plot_node import PlotNode
from arm_tools.view.ros.view_node import ViewNode
from arm_tools.view.ros.viewer_node import ViewerNode

PICTURES = ThreadPoolExecutor(1)  # no test here draws
MAKERS = {
    'simulator': SimulatorNode,
    'viewer': partial(ViewerNode, lambda scene: None),  # without a window
    'view': partial(ViewNode, lambda *_: SimpleNamespace(url='', port=8080, close=lambda: None)),
    'plot': PlotNode,
    'inverse_kinematics': InverseKinematicsNode,
    'gripper_controller': GripperControllerNode,
    'tip_servo': TipServoNode,
    'linear_move': LinearMoveNode,
    'supervisor': SupervisorNode,
    'plan_motion': PlanMotionNode,
    **{f'{task}_task': partial(TaskNode, task, PICTURES) for task in task_names()},
    'comparison_task': partial(TaskNode, '', PICTURES),
}
GRIPPER = 'ur5e gripper:=parallel'
ROBOTS = {
    f'{law}_controller': 'five_joint_arm'
    for law in law_names()
    if law_class(law).command_interface == 'voltage'
} | {
    'pose_hold_task': 'five_joint_arm',
    'gripper_controller': GRIPPER,
    'pick_and_place_task': GRIPPER,
}


class Started:
    """A node in this process, with arguments as on its command line."""

    def __init__(self, name, *arguments):
        self.name, self.arguments = name, ['--ros-args', *arguments]

    def __enter__(self):
        rclpy.init(args=self.arguments, domain_id=int(fresh_domain()))
        law = self.name.removesuffix('_controller')
        try:
            self.node = MAKERS[self.name]() if self.name in MAKERS else ControllerNode(law)
        except BaseException:
            rclpy.try_shutdown()  # the next test can begin again
            raise
        return self.node

    def __exit__(self, *_):
        if hasattr(self, 'node'):
            self.node.destroy_node()
        rclpy.try_shutdown()


def robot_of(name):
    return ROBOTS.get(name, 'ur5e')


def started(name, tmp_path, *arguments):
    robot = robot_of(name)
    files = as_arguments(files_of(robot))
    if ':=' in robot:  # no file names it
        files += ['-p', f'robot:={robot}']
    own = ['-p', f'output_dir:={tmp_path}'] if name.endswith('_task') else []
    if name == 'policy_controller':
        period = read_fields(Stepping, Robot.load(robot).controller_parameters('policy')).period_ns
        file, _ = policy_file(tmp_path / 'policy.onnx', robot=robot, timestep=1e-9 * period)
        own = ['-p', f'policy:={file}']
    return Started(name, *files, *own, *arguments)


def names_of(node):
    return node.list_parameters([], 0).names
