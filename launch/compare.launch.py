"""The same goal under every law over the real nodes, one after the other, and one table."""

import sys

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, Shutdown
from launch.events.process import ProcessExited

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


def tool(module: str, arguments: list[str]) -> ExecuteProcess:
    """Return the process that runs a command-line tool; its end ends the launch."""

    def end(event: ProcessExited, context: LaunchContext) -> Shutdown | None:
        if context.is_shutdown:
            return None
        if event.returncode == 0:
            return Shutdown(reason=f'{module} is done')
        # An exception is the only way to make `ros2 launch` itself end with exit code 1.
        raise RuntimeError(f'{module} ended with exit code {event.returncode}')

    return ExecuteProcess(
        cmd=[sys.executable, '-m', f'arm_sim.{module}', *arguments],
        name=module,
        output='screen',
        output_format='{line}',
        on_exit=end,
        sigterm_timeout='3',
        sigkill_timeout='1',
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
