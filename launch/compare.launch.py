"""The same goal under every law over the real nodes, one after the other, and one table."""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from arm_sim.launching import tool

ARGUMENTS = (
    DeclareLaunchArgument(
        'robot', default_value='planar_3r', description='robot, or path of a URDF'
    ),
    DeclareLaunchArgument('engine', default_value='mujoco', description='physics engine'),
    DeclareLaunchArgument('laws', default_value='all', description='separated by commas'),
    DeclareLaunchArgument('frequency', default_value='0.5', description='of the sinusoid [Hz]'),
    DeclareLaunchArgument(
        'output_dir', default_value='comparison', description='folder for table and picture'
    ),
)


def compare(context: LaunchContext) -> list:
    """Return the tool that launches law after law."""
    given = context.launch_configurations
    names = ('robot', 'engine', 'laws', 'frequency')
    arguments = [part for name in names for part in (f'--{name}', given[name])]
    return [tool('compare_nodes', [*arguments, '--output-dir', given['output_dir']])]


def generate_launch_description() -> LaunchDescription:
    """Compare over topics."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=compare)])
