"""The arm is not the one that the laws know: error over one mismatch, law by law."""

import sys

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, Shutdown
from launch.events.process import ProcessExited

from arm_sim.sweeps import SWEEPS

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


def mismatch(context: LaunchContext) -> list:
    """Return the tool that sweeps."""
    given = context.launch_configurations
    topics = given['over'] == 'topics'
    robot, engine = ('--robot', '--engine') if topics else ('--robots', '--engines')
    arguments = [robot, given['robot'], engine, given['engine'], '--laws', given['laws']]
    arguments += ['--sweep', given['sweep'], f'--values={given["values"]}']
    arguments += ['--output-dir', given['output_dir']]
    return [tool('compare_nodes' if topics else 'compare_controllers', arguments)]


def generate_launch_description() -> LaunchDescription:
    """Sweep one mismatch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=mismatch)])
