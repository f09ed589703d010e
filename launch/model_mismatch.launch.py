"""The arm is not the one that the laws know: error over one mismatch, law by law."""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument

from arm_sim.comparison.sweeps import SWEEPS
from arm_sim.launching import description_of, tool

ARGUMENTS = (
    DeclareLaunchArgument('robot', default_value='ur5e', description='robot, or path of a URDF'),
    DeclareLaunchArgument(
        'sweep', default_value='mass_scale', choices=sorted(SWEEPS), description='what is varied'
    ),
    DeclareLaunchArgument(
        'values', default_value='', description='its values, separated by commas; a default each'
    ),
    DeclareLaunchArgument('laws', default_value='all', description='separated by commas'),
    DeclareLaunchArgument('engine', default_value='mujoco', description='physics engine'),
    DeclareLaunchArgument(
        'over',
        default_value='loop',
        choices=['loop', 'topics'],
        description='loop: lock-step without ROS, in seconds; topics: real nodes, a launch a run',
    ),
    DeclareLaunchArgument(
        'output_dir', default_value='mismatch_output', description='folder for table and picture'
    ),
)


def mismatch(context: LaunchContext) -> list:
    """Return the tool that sweeps."""
    given = context.launch_configurations
    arguments = ['--robots', given['robot'], '--engines', given['engine'], '--laws', given['laws']]
    arguments += ['--sweep', given['sweep'], f'--values={given["values"]}']
    arguments += ['--over', given['over'], '--output-dir', given['output_dir']]
    return [tool('compare_controllers', arguments)]


def generate_launch_description() -> LaunchDescription:
    """Sweep one mismatch."""
    return description_of(ARGUMENTS, mismatch)
