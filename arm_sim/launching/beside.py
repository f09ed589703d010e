"""What runs beside an arm or in place of one: the page, a recording, a comparison."""

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from launch.actions import ExecuteProcess, LogInfo
from launch_ros.parameter_descriptions import ParameterValue

from arm_dynamics.robots import RobotArgument
from arm_sim.launching.arguments import RECORD, namespace_of, number_of
from arm_sim.launching.config import config_file, robot_parameter
from arm_sim.launching.processes import ending, node_process
from arm_sim.view.ros.tools import missing, plot, rviz
from arm_sim.view.server import HELP, has_viser


def beside_arm(
    given: Mapping[str, str],
    base_frame: str,
    config: str,
    around: Mapping[str, Any],
    recorder: bool,
) -> list[Any]:
    """Return what arguments ask for beside an arm's own nodes.

    Args:
        given: values of the arguments.
        base_frame: of the arm.
        config: its parameter file.
        around: parameters of what stands around it.
        recorder: whether one is among them where `record` asks for it.
    """
    law, space, found = given['controller'], namespace_of(given), []
    if given['viewer'] == 'true':
        found.append(node_process('viewer', [config, around], space, may_end=True))
    found += view(given, [config, around])
    if recorder and given['record'] != 'false':
        told = {'record': RECORD[given['record']]}
        found.append(node_process('recorder', [told], space, may_end=True))
    server = 'simulator' if law == 'none' else f'{law}_controller'
    for name in ('tip_servo', 'linear_move'):
        if given[name] == 'true':
            told = {'robot': robot_parameter(given['robot']), 'controller': server}
            found.append(node_process(name, [config, told], space))
    if given['controller_manager'] == 'true':
        found.append(_manager(given['config'], space))
    if given['rviz'] == 'true':
        found.append(rviz(base_frame, space))
    return [*found, *(plot(law, space) if given['plot'] == 'true' else ())]


def _manager(config: str, space: str) -> Any:
    """Return the controller_manager, or the line that its services' package is not there."""
    if find_spec('controller_manager_msgs') is None:
        return missing('controller_manager', 'controller_manager_msgs', 'or wait for ./ws')
    told = {'config': ParameterValue(config, value_type=str)}
    return node_process('controller_manager', [told], space)


def view(given: Mapping[str, str], parameters: Sequence[Any] = ()) -> list[Any]:
    """Return what serves a page with the arm, where it is asked for; or the line that it cannot.

    `parameters`: files and mappings that are weaker than the arguments.
    """
    if given['view'] != 'true':
        return []
    if not has_viser():
        return [LogInfo(msg=f'view: {HELP}; the run goes on without')]
    told: dict[str, Any] = {'view_host': ParameterValue(given['view_host'], value_type=str)}
    told['view_port'] = number_of(given, 'view_port')
    tip = RobotArgument.of(given['robot']).tip_frame
    if tip:
        told['tool_frame'] = ParameterValue(tip, value_type=str)
    return [node_process('view', [*parameters, told], namespace_of(given), may_end=True)]


def replay(given: Mapping[str, str]) -> list[Any]:
    """Return what plays a recording, and the viewer where it is asked for."""
    file = str(Path(given['file']).expanduser().absolute())
    told = {
        'file': ParameterValue(file, value_type=str),
        **{name: float(number_of(given, name)) for name in ('speed', 'seek')},
    }
    space = namespace_of(given)
    found = [node_process('replay', [told], space, succeeds=True)]
    if given['viewer'] == 'true':
        found.append(node_process('viewer', [], space, may_end=True))
    return found + view(given)


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
        **ending(name, succeeds=True),
    )
    if given['view'] == 'true' and options.get('over', 'topics') == 'loop':
        return [tool, LogInfo(msg='view: without nodes there is nothing to see; say topics')]
    return [*view(given), tool]
