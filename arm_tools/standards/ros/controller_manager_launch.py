"""The services of ros2_control's controller_manager beside an arm's nodes."""

from dataclasses import fields
from importlib.util import find_spec

from launch_ros.parameter_descriptions import ParameterValue

from arm_sim.launching.arguments import switch
from arm_sim.launching.companions import LaunchedArm
from arm_sim.launching.processes import missing, node_process
from arm_tools.standards.hardware import HardwareParameters

ARGUMENTS = {
    'robot and control': {
        'controller_manager': switch(
            "whether a node offers the services of ros2_control's controller_manager"
        )
    }
}


def processes(arm: LaunchedArm) -> list[object]:
    """Return controller_manager, or a log line where the package of its services is missing."""
    if arm.given['controller_manager'] != 'true':
        return []
    if find_spec('controller_manager_msgs') is None:
        return [missing('controller_manager', 'controller_manager_msgs', 'or wait for ./ws')]
    own = {each.name for each in fields(HardwareParameters)}
    parameters = {name: value for name, value in arm.simulator.items() if name in own}
    parameters['config'] = ParameterValue(arm.given['config'], value_type=str)
    if arm.joints:
        parameters['joints'] = list(arm.joints)
    return [node_process('controller_manager', [parameters], arm.space, may_end=True)]
