"""The nodes that a robot, a controller and an engine need."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any
from zlib import crc32

from launch import LaunchContext
from launch.actions import LogInfo
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.utilities import evaluate_parameters, normalize_parameters

from arm_controllers.gripper import gains_of_arm, gripper_joint
from arm_controllers.latency import latency_of
from arm_controllers.laws import law_class
from arm_controllers.laws.servo import ServoParameters
from arm_controllers.parameter_file import sections_text, yaml_value
from arm_controllers.parameter_values import as_ros_value
from arm_dynamics.actuators import ACTUATORS, actuators_of
from arm_dynamics.checks import ArmError, one_of, units
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import RobotArgument, find_urdf
from arm_dynamics.temporary_folder import temporary_folder
from arm_sim.devices.faults import read_faults
from arm_sim.launching.arguments import namespace_of, number_of
from arm_sim.launching.checked import check_policy, check_simulator, check_tip
from arm_sim.launching.companions import LaunchedArm, companions
from arm_sim.launching.needs import check_of_file, check_of_law
from arm_sim.launching.processes import is_installed, node_process
from arm_sim.parameter_files import parameters_of
from arm_sim.ros.config import config_file, feedforward_of, robot_parameters, sections_of
from arm_sim.simulation.driving_laws import check_law
from arm_sim.simulation.plant import ACTUATOR_FOR, PlantParameters, plant_class
from arm_sim.simulation.scene import scene_file


def arm_nodes(
    given: Mapping[str, str],
    simulator: Mapping[str, object] = MappingProxyType({}),
    controller: Mapping[str, object] = MappingProxyType({}),
    inverse_kinematics: bool = True,
    recorder: bool = True,
    gripper_controller: bool = True,
) -> list[object]:
    """Return simulator, controller and IK nodes for the values of launch arguments.

    Args:
        given: values of the arguments, among them those of ARM.
        simulator, controller: parameters that replace those of the arguments and of the files.
        inverse_kinematics, recorder, gripper_controller: whether to start that node; a task
            records itself, and a manager of ros2_control commands the gripper as well.
    """
    robot, law, mode = (given[name] for name in ('robot', 'controller', 'mode'))
    model, space = RobotModel.from_urdf(find_urdf(robot)), namespace_of(given)
    check_tip(given, model)
    check_of_law(given)
    check_of_file(given, model)
    core = {'core': core_of(space)} if mode == 'lockstep' else {}
    config = config_file(robot, given['config'], space, law)
    if law == 'none' and not plant_class(given['engine']).takes_goals:
        raise ArmError(
            f"engine {given['engine']!r} needs a controller; 'none' is for motion_model: leave "
            'controller:=none out'
        )
    sections = sections_of(robot, given['config'], law)
    in_files = parameters_of(sections, 'simulator')
    common = robot_parameters(robot, model, in_files)
    actuator = _actuator(law, given['actuator'], in_files)
    plant = {'engine': given['engine'], 'mode': mode, 'actuator': actuator}
    if given['integrator']:
        plant['integrator'] = given['integrator']
    table = {'table': yaml_value('table', given['table'])} if given['table'] else {}
    contacts: dict[str, Any] = {'contacts': True} if given['contacts'] == 'true' else {}
    if given['scene']:
        scene_file(given['scene'])  # a mistake is refused before any node starts
    contacts |= {name: given[name] for name in ('scene', 'srdf') if given[name]}
    if given['faults']:
        read_faults(given['faults'])  # a mistake is refused before any node starts
        contacts['faults'] = ParameterValue(given['faults'], value_type=str)
    if given['camera'] and mode == 'lockstep':
        contacts['wait_for_camera'] = True
    clock = {'clock_rate': 0.0} if given['clock'] == 'false' else {}
    gripper = _gripper(robot, model) if law != 'none' and gripper_controller else ''
    if gripper and isinstance(actuator, str):
        names = model.joint_names
        plant['actuator'] = ['torque' if x == gripper else actuator for x in names]
    of_arm = {'joints': [x for x in model.joint_names if x != gripper]} if gripper else {}
    nodes = {'simulator': common | core | plant | dict(simulator) | table | contacts | clock}
    if law not in ('none', 'external'):
        check_law(robot, law, in_files | nodes['simulator'])
        own = _controller(given, controller)
        nodes[f'{law}_controller'] = common | core | own
        check_policy(given, parameters_of(sections, f'{law}_controller') | own)
        if gripper:
            own = parameters_of(sections, f'{law}_controller')
            own = gains_of_arm(law_class(law), own, model, gripper) | of_arm
            nodes[f'{law}_controller'] |= own
            if mode == 'lockstep':
                awaited = [f'{law}_controller', 'gripper_controller']
                nodes['simulator']['awaited_controllers'] = awaited
    check_simulator(given, in_files | nodes['simulator'])
    if inverse_kinematics:
        nodes['inverse_kinematics'] = common | of_arm
    if gripper:
        nodes['gripper_controller'] = common | core | {'autostart': True, 'joint': gripper}
    found = (_composed if given['composed'] == 'true' else _separate)(config, nodes, space)
    if law == 'external':
        found.append(LogInfo(msg=_instructions(model, actuator)))
    simulated = in_files | nodes['simulator']
    if law == 'servo':
        servo = parameters_of(sections, 'servo_controller') | nodes['servo_controller']
        found += [LogInfo(msg=text) for text in _unknown_delay(servo, simulated)]
    launched = given, model.base_frame, config, simulated, recorder, of_arm.get('joints', ())
    return found + companions(LaunchedArm(*launched))


def _gripper(robot: str, model: RobotModel) -> str:
    """Return the joint of the gripper that a robot carries; '' where there is none."""
    if RobotArgument.of(robot).gripper:
        with suppress(ArmError):  # a tool without a joint, or a hand of several
            return gripper_joint(model)
    return ''


def core_of(space: str) -> int:
    """Return the CPU core of nodes that take turns, which are faster on one core than on two.

    Domain and namespace select the core.
    """
    place = int(os.environ.get('ROS_DOMAIN_ID') or 0) + (crc32(space.encode()) if space else 0)
    return place % (os.cpu_count() or 1)


def _controller(given: Mapping[str, str], own: Mapping[str, object]) -> dict[str, Any]:
    """Return the parameters of a controller of this package that arguments set.

    `own` replace those of the arguments, but not the latency.
    """
    law, mode = given['controller'], given['mode']
    parameters: dict[str, object] = {'autostart': True, 'mode': mode}
    if law == 'servo':
        parameters['feedforward'] = feedforward_of(law, given['feedforward'], mode)
    optional = ('policy', 'reference_motion', 'friction_velocity')
    parameters |= {name: given[name] for name in optional if given[name]} | dict(own)
    if text := given['latency']:
        if not law_class(law).evaluation.of_file:
            raise ArmError(f'latency is {text!r}: controller {law!r} is no policy')
        latency_of(text)  # a mistake is refused before any node starts
        parameters |= {'latency': text, 'latency_seed': int(number_of(given, 'latency_seed'))}
    if 'latency' in parameters:
        parameters['latency'] = ParameterValue(str(parameters['latency']), value_type=str)
    return parameters


def _unknown_delay(servo: Mapping[str, Any], simulator: Mapping[str, object]) -> list[str]:
    """Return a warning if the level 'observed' does not bear the delay of the drives."""
    true, known = simulator.get('command_delay', 0), servo.get('delay', 0)
    pole = servo.get('observer_pole', ServoParameters.observer_pole)
    if servo['feedforward'] != 'observed' or true == known or (pole >= 0.8 and true == known + 1):
        return []
    return [
        f'servo_controller: its delay is {known}, command_delay of the simulator is {true} '
        f"[control periods]: 'observed' with observer_pole {pole:g} may be unstable. Set delay "
        f'to {true}, or for one unknown period observer_pole to 0.8'
    ]


def actuators_argument(text: str) -> str | list[str]:
    """Return the actuator of all joints, or of each, from the text of a launch argument."""
    value = yaml_value('actuator', text) if text else ''
    for each in (value if isinstance(value, list) else [value]) if text else []:
        one_of('actuator', each, ACTUATORS)
    return value


def _actuator(law: str, wanted: str, in_files: Mapping[str, object]) -> Any:
    """Return the actuators of a law, or those requested for an external controller."""
    if law == 'external':
        return actuators_argument(wanted) or in_files.get('actuator', PlantParameters.actuator)
    own = 'servo' if law == 'none' else ACTUATOR_FOR[law_class(law).command_interface]
    if wanted not in ('', own):
        raise ArmError(f'actuator is {wanted!r}; controller {law!r} has {own!r}: leave it out')
    return own


_FIELDS = {
    'servo': ('position', 'rad | m'),
    'velocity': ('velocity', 'rad/s | m/s'),
    'torque': ('effort', 'N.m | N'),
    'voltage': ('effort', 'V'),
}


def _instructions(model: RobotModel, actuator: str | Sequence[str]) -> str:
    """Return the log line about the duties of an external controller."""
    own = actuators_of(actuator, model.joint_names)
    each = {kind: [k for k, x in enumerate(own) if x == kind] for kind in _FIELDS if kind in own}
    parts = [
        f'{_FIELDS[kind][0]} [{units(_FIELDS[kind][1], model.prismatic[joints])}] of '
        f'{", ".join(model.joint_names[k] for k in joints)}'
        for kind, joints in each.items()
    ]
    return (
        'external: waiting for your controller. It answers each message on joint_states by one on '
        f"joint_commands, a JointState with the state's stamp and {' and '.join(parts)}; tasks "
        'send goals to external_controller/joint_trajectory'
    )


def _separate(config: str, nodes: Mapping[str, dict[str, object]], space: str) -> list[object]:
    """Return a process for each node, with its own parameters besides the file."""
    return [
        controller_process(name.removesuffix('_controller'), [config, parameters], space)
        if name.endswith('_controller')
        else node_process(name, [config, parameters], space)
        for name, parameters in nodes.items()
    ]


def controller_process(law: str, parameters: list[object], space: str) -> object:
    """Return the process of a law's controller; a plugin's law has no executable of its own."""
    name = f'{law}_controller'
    options: dict[str, Any] = {}
    if not is_installed(name):
        options = {'executable': 'controller', 'arguments': [law]}
    return node_process(name, parameters, space, **options)


def _composed(config: str, nodes: Mapping[str, dict[str, object]], space: str) -> list[object]:
    """Return one process for all nodes, with their own parameters besides the file."""
    sections = {}
    for name, parameters in nodes.items():
        (values,) = evaluate_parameters(LaunchContext(), normalize_parameters([parameters]))
        sections[f'{space}/{name}'] = {key: as_ros_value(x) for key, x in values.items()}
    file = temporary_folder() / 'composed.yaml'
    file.write_text(sections_text(sections))
    # Without a node's name, which would become the name of all nodes.
    return [node_process('composed', [config, str(file)], space, node=None, arguments=list(nodes))]
