"""The published five-joint arm with DC motors holds a pose; J equals the model's prediction."""

import yaml
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument

from arm_sim.launching import arm_node, config_file, controller_node, description_of, task_node

ARGUMENTS = (
    DeclareLaunchArgument(
        'controller',
        default_value='pose_pid',
        choices=['pose_p', 'pose_pi', 'pose_pid', 'motor_computed_torque'],
        description='control law, voltages out; gains are in the parameter file',
    ),
    DeclareLaunchArgument(
        'target', default_value='[0.0, -1.1, 0.3, 0.0, 0.0]', description='pose to hold [rad]'
    ),
    DeclareLaunchArgument('duration', default_value='3.0', description='how long [s]'),
    DeclareLaunchArgument(
        'config', default_value='', description='parameter file; default five_joint_arm.yaml'
    ),
    DeclareLaunchArgument(
        'record_inputs', default_value='', description='file for start state and inputs (.npz)'
    ),
    DeclareLaunchArgument(
        'output_dir', default_value='pose_hold_output', description='folder for report and picture'
    ),
)


def pose_hold(context: LaunchContext) -> list:
    """Return simulator, controller and task."""
    arguments = context.launch_configurations
    config = config_file('five_joint_arm', arguments['config'])
    simulator = {
        'initial_positions': yaml.safe_load(arguments['target']),
        'start_paused': True,
        'record_inputs': arguments['record_inputs'],
    }
    controller = arguments['controller']
    task = {
        'controller': controller,
        'duration': yaml.safe_load(arguments['duration']),
        'output_dir': arguments['output_dir'],
    }
    return [
        arm_node('simulator', [config, simulator]),
        controller_node(controller, [config, {'autostart': True}]),
        task_node('pose_hold_task', [config, task]),
    ]


def generate_launch_description() -> LaunchDescription:
    """Bring up the arm, its controller and the task."""
    return description_of(ARGUMENTS, pose_hold)
