"""A controller of this package on a robot that another ros2_control runs, under supervision.

`ros2 launch arm_sim drive.launch.py robot:=ur5e drives:=ur_direct_torque controller:=pd`
"""

import re

from launch.actions import LogInfo

from arm_controllers.laws import law_class
from arm_controllers.parameter_file import yaml_value
from arm_dynamics.checks import ArmError
from arm_sim.launching.arguments import (
    argument,
    description,
    namespace_of,
    number_of,
    of_parameters,
    shared,
)
from arm_sim.launching.arm import controller_process
from arm_sim.launching.checked import check_policy
from arm_sim.launching.processes import node_process
from arm_sim.parameter_files import parameters_of
from arm_sim.ros.config import config_file, robot_parameter, sections_of
from arm_tools.driving.presets import PRESETS, drives_of, period_of
from arm_tools.driving.supervisor_parameters import SupervisorNodeParameters
from arm_tools.view.ros.view_launch import view

ARGUMENTS = (
    *shared('robot', 'joints', 'tip_frame', 'xacro_args', 'controller', 'config', 'policy'),
    *shared(namespace='drive'),
    argument('drives', 'position', 'what the drives of the robot take', [*PRESETS]),
    argument(
        'robot_controller', '', "name of the robot's controller; empty: that of the drives"
    ),
    argument('states', '/joint_states', "topic of the robot's states"),
    argument('rate', '', "rate of the robot's states [Hz]; empty: that of the drives"),
    *of_parameters(SupervisorNodeParameters, workspace=''),
    argument('autostart', 'true', 'whether the law begins without ~/start', ['true', 'false']),
)  # fmt: skip
SLOWEST, FASTEST = 10, 100_000  # rate of the states [Hz]
TOPIC = r'/?[a-zA-Z_]\w*(/[a-zA-Z_]\w*)*'


def drive(given: dict[str, str]) -> list[object]:
    """Return the controller and the supervisor between it and the robot."""
    law, space = given['controller'], namespace_of(given)
    drives = drives_of(given['drives'], law_class(law).command_interface)
    rate = number_of(given, 'rate') if given['rate'] else drives.rate
    if not SLOWEST <= rate <= FASTEST:
        raise ArmError(f'rate is {rate:g} Hz; it must be {SLOWEST} to {FASTEST} Hz')
    topic = drives.topic(given['robot_controller'].strip('/'))
    for name, value in (('states', given['states']), ('robot_controller', topic)):
        if not re.fullmatch(TOPIC, value, re.ASCII):
            raise ArmError(
                f'{name}: {value!r} is no topic; it must be of letters, digits, _ and /'
            )
    common: dict[str, object] = {
        'robot': robot_parameter(given['robot']),
        'timestep': period_of(rate),
        'control_decimation': 1,
        'effort_convention': drives.effort_convention,
        'friction_compensation': drives.friction_compensation,
    }
    config = config_file(given['robot'], given['config'], space, law)
    of_law = {'autostart': True, 'mode': 'realtime', 'state_publish_rate': 200.0}
    if law == 'servo':
        of_law['feedforward'] = 'none'  # the drives' gains are not known
    if given['policy']:
        of_law['policy'] = given['policy']
    sections = sections_of(given['robot'], given['config'], law)
    check_policy(given, parameters_of(sections, f'{law}_controller') | of_law)
    own: dict[str, object] = {
        'command_interface': drives.interface,
        'output': drives.output,
        'controller': f'{law}_controller',
        'autostart': given['autostart'] == 'true',
    }
    if drives.torque_rate:
        own['torque_rate'] = [drives.torque_rate]
    if given['workspace']:
        own['workspace'] = yaml_value('workspace', given['workspace'])
    remaps = [('robot_states', given['states']), ('robot_commands', topic)]
    waits = (
        f'drive: waiting for states of the robot on {given["states"]} ({rate:g} Hz); the law '
        f'{law!r} begins {"with them" if own["autostart"] else "by ~/start of the supervisor"}, '
        f'and its commands go to {topic}. Start the ros2_control of the robot if it does not run'
    )
    return [
        LogInfo(msg=waits),
        controller_process(law, [config, common | of_law], space),
        node_process('supervisor', [config, common | own], space, remappings=remaps),
        *view({**given, 'namespace': ''}),  # of the robot itself
    ]


generate_launch_description = description(ARGUMENTS, drive)
