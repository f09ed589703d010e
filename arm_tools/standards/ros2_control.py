"""A simulated arm as hardware of ros2_control: URDF with <ros2_control> tag, controllers' file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import SubElement

import yaml

from arm_dynamics.actuators import actuators_of
from arm_dynamics.checks import ArmError, one_line, text_of
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Stepping
from arm_sim.simulation.plant import COMMAND_INTERFACE
from arm_tools.standards.manager_pacing import UNCLAIMED

# Plugin of each package that connects ros2_control to hardware by topics.
PLUGINS = {
    'joint_state_topic_hardware_interface': 'JointStateTopicSystem',
    'topic_based_ros2_control': 'TopicBasedSystem',
}
STATES, COMMANDS = 'robot_joint_states', 'robot_joint_commands'
# The drives that ros2_control has an interface for.
DRIVES = ('servo', 'velocity', 'torque')
_READ = ('position', 'velocity', 'effort')


def with_hardware(model: RobotModel, package: str, actuator: str | Sequence[str]) -> str:
    """Return an arm's URDF with a <ros2_control> tag in place of its own.

    Args:
        model: the arm.
        package: a name of PLUGINS.
        actuator: of all joints, or of each: one of DRIVES.
    """
    actuators = actuators_of(actuator, model.joint_names)
    robot = ElementTree.fromstring(model.urdf)
    for tag in robot.findall('ros2_control'):
        robot.remove(tag)
    for dynamics in robot.iterfind('joint/dynamics'):
        if not {'damping', 'friction'} & {*dynamics.keys()}:
            dynamics.set('damping', '0')  # urdfdom refuses a rotor inertia alone
    tag = SubElement(robot, 'ros2_control', name='arm_sim', type='system')
    hardware = SubElement(tag, 'hardware')
    SubElement(hardware, 'plugin').text = f'{package}/{PLUGINS[package]}'
    given = {
        'joint_commands_topic': f'/{COMMANDS}',
        'joint_states_topic': f'/{STATES}',
        'trigger_joint_command_threshold': '-1',  # a message in every `write`, for lock-step
    }
    for name, value in given.items():
        SubElement(hardware, 'param', name=name).text = value
    drives = dict(zip(model.joint_names, actuators, strict=True))
    for name in dict.fromkeys((*drives, *model.moving_joints)):
        joint = SubElement(tag, 'joint', name=name)
        if name in drives:  # the others follow by their <mimic>
            SubElement(joint, 'command_interface', name=COMMAND_INTERFACE[drives[name]])
        for each in _READ:
            SubElement(joint, 'state_interface', name=each)
    # A command that is claimed by no controller stays NaN. A component that compares commands with
    # states, whatever its threshold, then sends in every `write` as well. It is of the joints' own
    # kind, since a message has as many numbers of it as names.
    gpio = SubElement(tag, 'gpio', name=UNCLAIMED)
    for each in ('command', 'state'):
        SubElement(gpio, f'{each}_interface', name=COMMAND_INTERFACE[actuators[0]])
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding='unicode')


def one_period(rate: int, simulator: Mapping[str, Any]) -> dict[str, int]:
    """Return the simulator's parameter that makes its control period that of a manager.

    Args:
        rate: update_rate of the manager [Hz].
        simulator: parameters of the simulator in files.

    Raises:
        ArmError: a period of the manager is no whole number of the simulator's time steps.
    """
    timestep = simulator.get('timestep', Stepping.timestep)
    count = round(1.0 / (rate * timestep))
    if (
        count < 1
        or Stepping(timestep=timestep, control_decimation=count).period_ns != 10**9 // rate
    ):
        raise ArmError(
            f'update_rate is {rate} Hz; in lock-step its period must be a whole number of time '
            f'steps of the simulator (timestep is {timestep:g} s)'
        )
    return {'control_decimation': count}


def controllers_of(file: Path, joints: Sequence[str], interface: str) -> Mapping[str, object]:
    """Return the parameters of a controllers' file, for these joints.

    Raises:
        ArmError: the file cannot be read, or has no update_rate of a controller_manager.
    """
    text = text_of(file, f'{str(file)!r}: cannot be read')
    text = text.replace('JOINTS', str(list(joints))).replace('INTERFACE', f'[{interface}]')
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ArmError(f'{str(file)!r}: not YAML: {one_line(error)}') from None
    try:
        rate = found['controller_manager']['ros__parameters']['update_rate']
    except (KeyError, TypeError):
        raise ArmError(f'{str(file)!r} has no update_rate of a controller_manager') from None
    if not isinstance(rate, int) or rate <= 0:
        raise ArmError(
            f'{str(file)!r}: update_rate is {rate!r}; it must be a whole number above 0'
        )
    return dict(found)
