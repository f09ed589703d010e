"""What the launch files share: which nodes a robot, a controller and an engine need."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from ament_index_python.packages import get_package_prefix
from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    Shutdown,
)
from launch.events.process import ProcessExited
from launch_ros.actions import Node

from arm_controllers.laws import law_class, law_names
from arm_dynamics.checks import unknown
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.output_folder import temporary_folder
from arm_sim.parameter_files import files_of, merged
from arm_sim.plants.engines import ACTUATOR_FOR, ENGINES, plant_class

# What the argument `controller` may be.
CONTROLLERS = ['none', *law_names()]

ARM_ARGUMENTS = (
    DeclareLaunchArgument(
        'robot', default_value='ur5e', description='name of a shipped robot, or path of a URDF'
    ),
    DeclareLaunchArgument(
        'controller',
        default_value='servo',
        choices=CONTROLLERS,
        description='control law; none: the engine motion_model takes goals itself',
    ),
    DeclareLaunchArgument(
        'engine', default_value='mujoco', choices=sorted(ENGINES), description='physics engine'
    ),
    DeclareLaunchArgument(
        'mode',
        default_value='lockstep',
        choices=['lockstep', 'realtime'],
        description='lockstep: as fast as it goes, bit for bit the same; realtime: wall clock',
    ),
    DeclareLaunchArgument(
        'feedforward',
        default_value='best',
        choices=['best', 'none', 'gravity', 'gravity_velocity', 'inverse_dynamics', 'discrete'],
        description='of the servo controller; best: discrete in lockstep, else inverse_dynamics',
    ),
    DeclareLaunchArgument(
        'config', default_value='', description="parameter file, over the robot's own"
    ),
    DeclareLaunchArgument(
        'viewer', default_value='false', choices=['true', 'false'], description="MuJoCo's viewer"
    ),
    DeclareLaunchArgument(
        'plot', default_value='false', choices=['true', 'false'], description='start rqt_plot'
    ),
)


def description_of(
    arguments: Sequence[DeclareLaunchArgument], start: Callable[[LaunchContext], list[Any]]
) -> LaunchDescription:
    """Return a launch file's description: its arguments, and what starts its nodes."""
    names = [argument.name for argument in arguments]

    def checked(context: LaunchContext) -> list[Any]:
        _refuse_unknown_arguments(context, names)
        return start(context)

    return LaunchDescription([*arguments, OpaqueFunction(function=checked)])


def _refuse_unknown_arguments(context: LaunchContext, names: Sequence[str]) -> None:
    """Refuse `name:=value` with an unknown name, which `ros2 launch` ignores.

    A launch file that includes this one may have arguments of its own, so those are let pass.
    """
    file = Path(context.get_locals_as_dict().get('current_launch_file_path', '')).name
    if file not in (Path(word).name for word in sys.argv):
        return
    for name in (word.partition(':=')[0] for word in context.argv if ':=' in word):
        if name not in names:
            raise unknown('launch argument', name, names)


def feedforward_of(controller: str, feedforward: str, mode: str) -> str:
    """Return the servo's feedforward level ('' for other laws), with 'best' resolved."""
    if controller != 'servo':
        return ''
    if feedforward == 'best':
        return 'discrete' if mode == 'lockstep' else 'inverse_dynamics'
    return feedforward


def actuator_under(controller: str) -> str:
    """Return the plant's actuator for a controller ('none': the servo of a motion model)."""
    if controller == 'none':
        return 'servo'
    return ACTUATOR_FOR[law_class(controller).command_interface]


@cache
def config_file(robot: str, config: str) -> str:
    """Return a file with what the robot's parameter files say together, written for its nodes.

    Raises:
        ArmError: a file that is not there or not as it should be.
    """
    file = temporary_folder() / 'parameters.yaml'
    sections = merged(files_of(robot, config))
    if config:
        from arm_sim.ros.known_parameters import check_parameter_file  # imports all

        check_parameter_file(Path(config), RobotModel.from_urdf(find_urdf(robot)).joint_names)
    file.write_text(
        yaml.safe_dump({name: {'ros__parameters': values} for name, values in sections.items()})
    )
    return str(file)


def arm_nodes(
    context: LaunchContext,
    simulator: Mapping[str, Any] = MappingProxyType({}),
    inverse_kinematics: bool = True,
) -> list[Any]:
    """Return simulator, controller and IK nodes for the launch arguments in `context`.

    Args:
        context: has ARM_ARGUMENTS.
        simulator: parameters of the simulator, stronger than those of arguments and file.
        inverse_kinematics: whether its node is among them.

    Raises:
        RuntimeError: an argument that cannot work, with one clear line; nothing has started.
    """
    arguments = context.launch_configurations
    robot, controller, mode = (arguments[name] for name in ('robot', 'controller', 'mode'))
    urdf = find_urdf(robot)
    RobotModel.from_urdf(urdf)
    shared: dict[str, Any] = {'robot': str(urdf) if '/' in robot else robot}
    core = turns() if mode == 'lockstep' else {}
    config = config_file(robot, arguments['config'])
    if controller == 'none' and not plant_class(arguments['engine']).takes_goals:
        raise RuntimeError(
            f"engine {arguments['engine']!r} needs a controller; 'none' is for motion_model"
        )
    law: dict[str, Any] = {'autostart': True, 'mode': mode}
    if controller == 'servo':
        law['feedforward'] = feedforward_of(controller, arguments['feedforward'], mode)
    plant = {
        'engine': arguments['engine'],
        'mode': mode,
        'actuator': actuator_under(controller),
        'viewer': arguments['viewer'] == 'true',
    }
    nodes = [arm_node('simulator', [config, shared | core | plant | dict(simulator)])]
    if controller != 'none':
        nodes.append(controller_node(controller, [config, shared | core | law]))
    if inverse_kinematics:
        nodes.append(arm_node('inverse_kinematics', [config, shared]))
    return [*nodes, *_plot(arguments['plot'], controller)]


def turns() -> dict[str, Any]:
    """Return the parameter of nodes that take turns in lock-step: one core is faster than two.

    Which one depends on the ROS domain.
    """
    return {'core': int(os.environ.get('ROS_DOMAIN_ID', '0')) % (os.cpu_count() or 1)}


def arm_node(executable: str, parameters: list[Any]) -> Node:
    """Return a node of this package whose end, whatever it is, is a failure of the launch."""
    return _node(executable, parameters, succeeds=False)


def controller_node(law: str, parameters: list[Any]) -> Node:
    """Return the controller of a law, which has no executable of its own if it is a plugin."""
    name = f'{law}_controller'
    if Path(get_package_prefix('arm_sim'), 'lib', 'arm_sim', name).is_file():
        return arm_node(name, parameters)
    options = {'name': name, 'exec_name': name, 'arguments': [law]}
    return _node('controller', parameters, succeeds=False, **options)


def task_node(executable: str, parameters: list[Any]) -> Node:
    """Return a task: its end is the end of the launch, its exit code that of `ros2 launch`."""
    return _node(
        executable,
        parameters,
        succeeds=True,
        output_format='{line}',
        emulate_tty=sys.stdout.isatty(),
    )


def tool(module: str, arguments: list[str]) -> ExecuteProcess:
    """Return the process that runs a command-line tool; its end ends the launch, as a task's."""
    return ExecuteProcess(
        cmd=[sys.executable, '-m', f'arm_sim.commands.{module}', *arguments],
        name=module,
        output_format='{line}',
        **_ending(module, succeeds=True),
    )


def _node(executable: str, parameters: list[Any], succeeds: bool, **options: Any) -> Node:
    return Node(
        package='arm_sim',
        executable=executable,
        parameters=parameters,
        namespace='/',  # so that parameters given here are stronger than a file's section
        **{'name': executable, **options},
        **_ending(options.get('exec_name', executable), succeeds),
    )


def _ending(name: str, succeeds: bool) -> dict[str, Any]:
    """Return the options of a process whose end is the end of the launch."""

    def end(event: ProcessExited, context: LaunchContext) -> Shutdown | None:
        if context.is_shutdown:
            return None
        if succeeds and event.returncode == 0:
            return Shutdown(reason=f'{name} is done')
        # An exception is the only way to make `ros2 launch` itself end with exit code 1.
        raise RuntimeError(f'{name} ended with exit code {event.returncode}')

    return {
        'output': 'screen',
        'on_exit': end,
        'sigterm_timeout': '3',
        'sigkill_timeout': '1',
    }


def _plot(plot: str, controller: str) -> Iterable[Any]:
    if plot != 'true' or controller == 'none':
        return
    if shutil.which('rqt_plot') is None:
        yield LogInfo(
            msg='plot: rqt_plot is not installed; get it with '
            '"sudo apt install ros-jazzy-rqt-plot", or open the recording in PlotJuggler'
        )
        return
    state = f'/{controller}_controller/controller_state'
    fields = [f'{state}/{part}/positions[0]' for part in ('reference', 'feedback', 'error')]
    yield Node(package='rqt_plot', executable='rqt_plot', arguments=fields)
