"""Processes next to an arm's nodes, or in their place: page, recorder, tools, comparison."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from launch.actions import ExecuteProcess, LogInfo
from launch_ros.parameter_descriptions import ParameterValue

from arm_dynamics.robots import RobotArgument
from arm_sim.launching.arguments import RECORD, namespace_of, number_of
from arm_sim.launching.processes import exit_options, node_process
from arm_sim.ros.config import config_file, robot_parameter
from arm_sim.standards.hardware import HardwareParameters
from arm_sim.view.ros.tools import missing, rviz, tool
from arm_sim.view.server import HELP, has_viser

_REST_PERIOD = 0.1  # time between recorded states of an arm at rest [s]


def extra_processes(
    given: Mapping[str, str],
    base_frame: str,
    config: str,
    simulator: Mapping[str, Any],
    recorder: bool,
) -> list[Any]:
    """Return the processes that arguments request besides the arm's own nodes.

    Args:
        given: values of the arguments.
        base_frame: of the arm.
        config: parameter file of the arm.
        simulator: parameters of the simulator.
        recorder: whether the argument `record` starts a recorder; a task records itself.
    """
    law, space, found = given['controller'], namespace_of(given), []
    surroundings = {'table': simulator['table']} if given['table'] else {}
    if given['viewer'] == 'true':
        found.append(node_process('viewer', [config, surroundings], space, may_end=True))
    if given['camera']:
        found.append(_camera(given, [config, surroundings], space))
    found += view(given, [config, surroundings])
    if recorder and given['record'] != 'false':
        parameters: dict[str, Any] = {'record': RECORD[given['record']]}
        if given['mode'] == 'realtime':  # a rerun of a lock-step needs every state
            parameters['rest_period'] = _REST_PERIOD
        found.append(node_process('recorder', [parameters], space, may_end=True))
    server = 'simulator' if law == 'none' else f'{law}_controller'
    for name in ('tip_servo', 'linear_move', 'plan_motion'):
        if given[name] == 'true':
            parameters = {'robot': robot_parameter(given['robot']), 'controller': server}
            if name == 'plan_motion':
                parameters |= surroundings
            found.append(node_process(name, [config, parameters], space, may_end=True))
    if given['controller_manager'] == 'true':
        found.append(_controller_manager(given['config'], simulator, space))
    if given['rviz'] == 'true':
        found.append(rviz(base_frame, space))
    if given['plot'] == 'true':
        found.append(_plot(server, space))
    return found


def _camera(given: Mapping[str, str], parameters: Sequence[Any], space: str) -> Any:
    """Return the node of the cameras; its end does not end the launch."""
    from arm_sim.view.cameras import read_cameras  # loads MuJoCo

    file = Path(given['camera']).expanduser().absolute()
    read_cameras(file)
    own = {'cameras': str(file), 'mode': given['mode']}
    return node_process('camera', [*parameters, own], space, may_end=True)


def _plot(controller: str, space: str) -> Any:
    """Return the node that starts rqt_plot, or a log line where rqt_plot is missing."""
    if tool('rqt_plot') is None:
        return missing('plot', 'rqt_plot', 'or open the recording in PlotJuggler')
    return node_process('plot', [{'controller': controller}], space, may_end=True)


def _controller_manager(config: str, simulator: Mapping[str, Any], space: str) -> Any:
    """Return controller_manager, or a log line where the package of its services is missing."""
    if find_spec('controller_manager_msgs') is None:
        return missing('controller_manager', 'controller_manager_msgs', 'or wait for ./ws')
    own = {each.name for each in fields(HardwareParameters)}
    parameters = {name: value for name, value in simulator.items() if name in own}
    parameters['config'] = ParameterValue(config, value_type=str)
    return node_process('controller_manager', [parameters], space, may_end=True)


def view(given: Mapping[str, str], parameters: Sequence[Any] = ()) -> list[Any]:
    """Return the server of the page where `view` requests one, or a log line without viser.

    `parameters`: files and mappings that are weaker than the arguments.
    """
    if given['view'] != 'true':
        return []
    if not has_viser():
        return [LogInfo(msg=f'view: {HELP}; the run goes on without')]
    own: dict[str, Any] = {'view_host': ParameterValue(given['view_host'], value_type=str)}
    own['view_port'] = number_of(given, 'view_port')
    tip = RobotArgument.of(given['robot']).tip_frame
    if tip:
        own['tool_frame'] = ParameterValue(tip, value_type=str)
    return [node_process('view', [*parameters, own], namespace_of(given), may_end=True)]


def replay(given: Mapping[str, str]) -> list[Any]:
    """Return the player of a recording, with the viewer and the page where requested."""
    file = str(Path(given['file']).expanduser().absolute())
    parameters = {
        'file': ParameterValue(file, value_type=str),
        **{name: float(number_of(given, name)) for name in ('speed', 'seek')},
    }
    space = namespace_of(given)
    found = [node_process('replay', [parameters], space, succeeds=True)]
    if given['viewer'] == 'true':
        found.append(node_process('viewer', [], space, may_end=True))
    return found + view(given)


def comparison(given: Mapping[str, str], **options: str) -> list[Any]:
    """Return `compare_controllers` with these options; its end is the end of the launch.

    The page shows runs over topics.
    """
    name, config = 'compare_controllers', given['config']
    for robot in options['robots'].split(',') if config else ():
        config_file(robot.strip(), config)
    common = {'config': config, 'scene': given['scene'], 'output-dir': given['output_dir']}
    options = {**options, **common}
    arguments = [f'--{option}={value}' for option, value in options.items()]
    tool = ExecuteProcess(
        cmd=[sys.executable, '-m', 'arm_sim.executables', name, *arguments],
        name=name,
        output_format='{line}',
        **exit_options(name, succeeds=True),
    )
    if given['view'] == 'true' and options.get('over', 'topics') == 'loop':
        return [tool, LogInfo(msg='view: a loop without nodes has no page; use topics')]
    return [*view(given), tool]
