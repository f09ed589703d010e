"""The main job: a UR5e draws a cube over ROS 2 topics and says how well."""

import yaml
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument

from arm_sim.launching import (
    ARM_ARGUMENTS,
    arm_nodes,
    config_file,
    description_of,
    feedforward_of,
    task_node,
)

CUBE_ARGUMENTS = (
    DeclareLaunchArgument(
        'path',
        default_value='edges',
        choices=['edges', 'published'],
        description='edges: all twelve, straight; published: the published joint-space strokes',
    ),
    DeclareLaunchArgument(
        'center', default_value='[0.3, 0.2, 0.55]', description='of the cube, base frame [m]'
    ),
    DeclareLaunchArgument('side', default_value='0.1', description='of the cube [m]'),
    DeclareLaunchArgument('edge_time', default_value='2.0', description='time of a stroke [s]'),
    DeclareLaunchArgument(
        'output_dir', default_value='cube_output', description='folder for report and picture'
    ),
)


def cube(context: LaunchContext) -> list:
    """Return the arm's nodes, paused, and the task that draws with them."""
    arguments = context.launch_configurations
    robot, controller, mode = (arguments[name] for name in ('robot', 'controller', 'mode'))
    task = {name: yaml.safe_load(arguments[name]) for name in ('center', 'side', 'edge_time')}
    task |= {
        name: arguments[name] for name in ('path', 'output_dir', 'controller', 'engine', 'mode')
    }
    task |= {
        'robot': robot,
        'feedforward': feedforward_of(controller, arguments['feedforward'], mode),
    }
    config = config_file(robot, arguments['config'])
    return [*arm_nodes(context, {'start_paused': True}), task_node('cube_task', [config, task])]


def generate_launch_description() -> LaunchDescription:
    """Bring up the arm and the cube task."""
    return description_of([*ARM_ARGUMENTS, *CUBE_ARGUMENTS], cube)
