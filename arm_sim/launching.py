"""What the launch files share: which nodes a robot, a controller and an engine need."""

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zlib import crc32

import yaml
from ament_index_python.packages import get_package_prefix
from launch import LaunchContext
from launch.actions import ExecuteProcess, LogInfo, Shutdown
from launch.events.process import ProcessExited
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.utilities import evaluate_parameters, normalize_parameters

from arm_controllers.laws import law_class
from arm_controllers.parameter_file import SHARED, yaml_value
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import RobotWords, find_urdf
from arm_sim.executables import LAUNCH
from arm_sim.output_folder import temporary_folder
from arm_sim.parameter_files import files_of, merged, parameters_of
from arm_sim.plants.plant import (
    ACTUATOR_FOR,
    COMMAND_INTERFACE,
    PlantParameters,
    check_law,
    plant_class,
)
from arm_sim.ros.launch_arguments import namespace_of
from arm_sim.runs.robot import Robot
from arm_sim.view.needs import HELP, has_viser
from arm_sim.viewer.ros.tools import missing, plot, rviz


def feedforward_of(controller: str, feedforward: str, mode: str) -> str:
    """Return the servo's feedforward level ('' for other laws), with 'best' resolved."""
    if controller != 'servo':
        return ''
    if feedforward == 'best':
        return 'discrete' if mode == 'lockstep' else 'inverse_dynamics'
    return feedforward


@cache
def config_file(robot: str, config: str, namespace: str = '', law: str = '') -> str:
    """Return a file with what the robot's files say, and gains where they say none.

    It is written for nodes in a namespace, '' or '/left'; `law`: one of them, '': none.
    """
    file = temporary_folder() / 'parameters.yaml'
    sections = merged(files_of(robot, config))
    if not RobotWords.of(robot).is_shipped:
        sections = Robot.load(robot, config).sections_for(law)
    if config:
        from arm_sim.ros.known_parameters import check_parameter_file  # imports all

        check_parameter_file(Path(config), RobotModel.from_urdf(find_urdf(robot)).joint_names)
    told = {
        name if name == SHARED else f'{namespace}/{name}': {'ros__parameters': values}
        for name, values in sections.items()
    }
    file.write_text(yaml.safe_dump(told))
    return str(file)


def arm_nodes(
    given: Mapping[str, str],
    simulator: Mapping[str, Any] = MappingProxyType({}),
    controller: Mapping[str, Any] = MappingProxyType({}),
    inverse_kinematics: bool = True,
    recorder: bool = True,
) -> list[Any]:
    """Return simulator, controller and IK nodes for the values of launch arguments.

    Args:
        given: has those of ARM.
        simulator, controller: parameters that are stronger than those of arguments and file.
        inverse_kinematics, recorder: whether its node is among them; a task records itself.
    """
    robot, law, mode = (given[name] for name in ('robot', 'controller', 'mode'))
    ours = law not in ('none', 'external')
    model = RobotModel.from_urdf(find_urdf(robot))
    common: dict[str, Any] = {'robot': robot_parameter(robot)}
    # Nodes that take turns are faster on one core than on two; which one, the domain says.
    space, cores = namespace_of(given), os.cpu_count() or 1
    place = int(os.environ.get('ROS_DOMAIN_ID', '0')) + (crc32(space.encode()) if space else 0)
    core = {'core': place % cores} if mode == 'lockstep' else {}
    config = config_file(robot, given['config'], space, law)
    if law == 'none' and not plant_class(given['engine']).takes_goals:
        raise RuntimeError(
            f"engine {given['engine']!r} needs a controller; 'none' is for motion_model"
        )
    in_files = parameters_of(merged(files_of(robot, given['config'])), 'simulator')
    own: dict[str, Any] = {'autostart': True, 'mode': mode}
    if law == 'servo':
        own['feedforward'] = feedforward_of(law, given['feedforward'], mode)
    for name in ('reference_motion', 'friction_velocity'):
        if given[name]:
            own[name] = given[name]
    plant = {
        'engine': given['engine'],
        'mode': mode,
        'actuator': _actuator(law, given['actuator'], in_files),
    }
    around = {'table': yaml.safe_load(given['table'])} if given['table'] else {}
    touching = {'contacts': True} if given['contacts'] == 'true' else {}
    clock = {'clock_rate': 0.0} if given['clock'] == 'false' else {}
    told = common | core | plant | dict(simulator) | around | touching | clock
    nodes = {'simulator': told}
    if ours:
        check_law(robot, law, in_files | told)
        nodes[f'{law}_controller'] = common | core | own | dict(controller)
    if inverse_kinematics:
        nodes['inverse_kinematics'] = common
    arm = _composed if given['composed'] == 'true' else _separate
    found = arm(config, nodes, space)
    if law == 'external':
        found.append(LogInfo(msg=_wanted(model, plant['actuator'])))
    if given['viewer'] == 'true':
        found.append(_node('viewer', [config, around], space, may_end=True))
    found += view(given, [config, around])
    if recorder and given['record'] != 'false':
        kind = 'bag' if given['record'] == 'bag' else 'mcap'
        found.append(_node('recorder', [{'record': kind}], space, may_end=True))
    if given['tip_servo'] == 'true':
        server = 'simulator' if law == 'none' else f'{law}_controller'
        found.append(_node('tip_servo', [config, common, {'controller': server}], space))
    if given['controller_manager'] == 'true':
        found.append(_manager(given['config'], space))
    if given['rviz'] == 'true':
        found.append(rviz(model.base_frame, space))
    return [*found, *(plot(law, space) if given['plot'] == 'true' else ())]


def _actuator(law: str, wanted: str, in_files: Mapping[str, Any]) -> str:
    """Return what drives the arm: a law's own actuator; of an external controller, the wanted."""
    if law == 'external':
        return wanted or in_files.get('actuator', PlantParameters.actuator)
    own = 'servo' if law == 'none' else ACTUATOR_FOR[law_class(law).command_interface]
    if wanted not in ('', own):
        raise ArmError(f'actuator is {wanted!r}; controller {law!r} has {own!r}: leave it out')
    return own


_FIELDS = {'position': 'position [rad | m]', 'effort': 'effort [N.m | N]', 'voltage': 'effort [V]'}


def _wanted(model: RobotModel, actuator: str) -> str:
    """Return the line that says what an external controller has to do."""
    field = _FIELDS[COMMAND_INTERFACE[actuator]]
    return (
        'external: waiting for your controller. It answers each message on joint_states by one on '
        f"joint_commands, a JointState with the state's stamp and {field} of "
        f'{", ".join(model.joint_names)}; tasks send goals to external_controller/joint_trajectory'
    )


def _manager(config: str, space: str) -> Any:
    """Return the controller_manager, or the line that its services' package is not there."""
    if find_spec('controller_manager_msgs') is None:
        return missing('controller_manager', 'controller_manager_msgs', 'or wait for ./ws')
    told = {'config': ParameterValue(config, value_type=str)}
    return _node('controller_manager', [told], space)


def view(given: Mapping[str, str], parameters: Sequence[Any] = ()) -> list[Any]:
    """Return what serves a page with the arm, where it is asked for; or the line that it cannot.

    `parameters`: files and mappings that are weaker than the arguments.
    """
    if given['view'] != 'true':
        return []
    if not has_viser():
        return [LogInfo(msg=f'view: {HELP}; the run goes on without')]
    told: dict[str, Any] = {'view_host': ParameterValue(given['view_host'], value_type=str)}
    told['view_port'] = yaml_value('view_port', given['view_port'])
    tip = RobotWords.of(given['robot']).tip_frame
    if tip:
        told['tool_frame'] = ParameterValue(tip, value_type=str)
    return [_node('view', [*parameters, told], namespace_of(given), may_end=True)]


def replay(given: Mapping[str, str]) -> list[Any]:
    """Return what plays a recording, and the viewer where it is asked for."""
    file = str(Path(given['file']).expanduser().absolute())
    told = {
        'file': ParameterValue(file, value_type=str),
        'speed': float(given['speed']),
        'seek': float(given['seek']),
    }
    found = [_node('replay', [told], '', succeeds=True)]
    found += [_node('viewer', [], '', may_end=True)] if given['viewer'] == 'true' else []
    return found + view(given)


def _separate(config: str, told: Mapping[str, dict[str, Any]], space: str) -> list[Any]:
    """Return a process for each node, with what it is told beside the file."""
    options: dict[str, dict[str, Any]] = {name: {} for name in told}
    for name in told:
        if not _installed(name):  # a plugin's law has no executable of its own
            law = name.removesuffix('_controller')
            options[name] = {'executable': 'controller', 'arguments': [law]}
    return [_node(name, [config, each], space, **options[name]) for name, each in told.items()]


def _composed(config: str, told: Mapping[str, dict[str, Any]], space: str) -> list[Any]:
    """Return one process for all nodes, with what each is told beside the file."""
    sections = {}
    for name, values in told.items():
        (given,) = evaluate_parameters(LaunchContext(), normalize_parameters([values]))
        plain = {key: list(v) if isinstance(v, tuple) else v for key, v in given.items()}
        sections[f'{space}/{name}'] = {'ros__parameters': plain}
    file = temporary_folder() / 'composed.yaml'
    file.write_text(yaml.safe_dump(sections))
    # Without a node's name: it would become the name of all.
    return [_node('composed', [config, str(file)], space, node=None, arguments=list(told))]


def robot_parameter(robot: str) -> str:
    """Return the parameter `robot` of nodes: a shipped robot's name, or the path of a URDF."""
    words = RobotWords.of(robot)
    return words.name if words.is_shipped else str(find_urdf(robot))


def task_node(task: str, parameters: list[Any], space: str = '') -> Node:
    """Return a task: its end is the end of the launch, its exit code that of `ros2 launch`."""
    name = f'{task}_task'
    options: dict[str, Any] = {'output_format': '{line}', 'emulate_tty': sys.stdout.isatty()}
    if not _installed(name):  # a plugin
        options['executable'] = 'comparison_task'
        parameters = [*parameters, {'task': task}]
    return _node(name, parameters, space, succeeds=True, **options)


def _installed(executable: str) -> bool:
    return Path(get_package_prefix('arm_sim'), 'lib', 'arm_sim', executable).is_file()


def comparison(given: Mapping[str, str], **options: str) -> list[Any]:
    """Return `compare_controllers` with these options; its end ends the launch, as a task's.

    A page shows the runs that are made of nodes.
    """
    name, config = 'compare_controllers', given['config']
    for robot in options['robots'].split(',') if config else ():
        config_file(robot.strip(), config)
    options = {**options, 'config': config, 'output-dir': given['output_dir']}
    arguments = [f'--{option}={value}' for option, value in options.items()]
    tool = ExecuteProcess(
        cmd=[sys.executable, '-m', 'arm_sim.executables', name, *arguments],
        name=name,
        output_format='{line}',
        **_ending(name, succeeds=True),
    )
    if given['view'] == 'true' and options.get('over', 'topics') == 'loop':
        return [tool, LogInfo(msg='view: without nodes there is nothing to see; say topics')]
    return [*view(given), tool]


def _node(
    name: str,
    parameters: list[Any],
    space: str,
    succeeds: bool = False,
    may_end: bool = False,
    **options: Any,
) -> Node:
    """Return a process in a namespace; `node`: its node's name, where that is not its own."""
    return Node(
        package='arm_sim',
        name=options.pop('node', name),
        exec_name=name,
        namespace=space or '/',  # so that parameters given here are stronger than a file's section
        parameters=parameters,
        ros_arguments=['--enclave', f'/arm_sim/{name}'],  # where ROS 2 security is on
        **{'executable': name, **options},
        **_ending(name, succeeds, may_end),
    )


def _ending(name: str, succeeds: bool, may_end: bool = False) -> dict[str, Any]:
    """Return the options of a process whose end is the end of the launch, or its failure.

    One that `may_end` in order does so alone.
    """

    def end(event: ProcessExited, context: LaunchContext) -> Shutdown | None:
        if context.is_shutdown or (may_end and event.returncode == 0):
            return None
        if succeeds and event.returncode == 0:
            return Shutdown(reason=f'{name} is done')
        # An exception is the only way to make `ros2 launch` itself end with exit code 1.
        raise RuntimeError(f'{name} ended with exit code {event.returncode}')

    return {
        'output': 'screen',
        'additional_env': {LAUNCH: str(os.getpid())},
        'on_exit': end,
        'sigterm_timeout': '3',
        'sigkill_timeout': '10',  # a busy machine is slow
    }
