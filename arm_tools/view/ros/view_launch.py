"""The page in the browser, which every launch file can have."""

from collections.abc import Mapping, Sequence

from launch.actions import LogInfo
from launch_ros.parameter_descriptions import ParameterValue

from arm_controllers.parameter_values import read_fields
from arm_dynamics.robots import RobotArgument
from arm_sim.launching.arguments import namespace_of, number_of, of, switch
from arm_sim.launching.companions import LaunchedArm
from arm_sim.launching.processes import node_process
from arm_tools.view.ros.view_parameters import ViewParameters
from arm_tools.view.server import HELP, has_viser

ARGUMENTS = {
    'page': {
        'view': switch('whether a page in the browser shows and commands the arm; needs viser'),
        **{name: of(ViewParameters, name, usual=True) for name in ('view_port', 'view_host')},
    }
}


def processes(arm: LaunchedArm) -> list[object]:
    """Return the server of the page where requested."""
    return view(arm.given, [arm.config, arm.table])


def view(given: Mapping[str, str], parameters: Sequence[object] = ()) -> list[object]:
    """Return the server of the page where `view` requests one, or a log line without viser.

    `parameters`: files and mappings that are weaker than the arguments.
    """
    if given['view'] != 'true':
        return []
    if not has_viser():
        return [LogInfo(msg=f'view: {HELP}; the run goes on without')]
    own: dict[str, object] = {'view_host': ParameterValue(given['view_host'], value_type=str)}
    own['view_port'] = number_of(given, 'view_port')
    read_fields(ViewParameters, {'view_port': own['view_port']})
    tip = RobotArgument.of(given['robot']).tip_frame
    if tip:
        own['tool_frame'] = ParameterValue(tip, value_type=str)
    return [node_process('view', [*parameters, own], namespace_of(given), may_end=True)]
