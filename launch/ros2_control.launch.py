"""A simulated arm as hardware of ros2_control, with its own controller_manager.

The simulator runs in real time and takes commands as they arrive, or in lock-step with the
manager. Where controller_manager is installed it is started as well, with a
joint_state_broadcaster and a joint_trajectory_controller.
"""

from collections.abc import Sequence
from pathlib import Path

import yaml
from ament_index_python.packages import get_packages_with_prefixes
from launch.actions import GroupAction, LogInfo
from launch_ros.actions import Node, SetRemap

from arm_dynamics.actuators import actuators_of
from arm_dynamics.checks import ArmError, one_of
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf, share_folder
from arm_dynamics.temporary_folder import temporary_folder
from arm_sim.launching.arguments import argument, description, namespace_of, shared
from arm_sim.launching.arm import actuators_argument, arm_nodes, core_of
from arm_sim.parameter_files import parameters_of
from arm_sim.ros.config import sections_of
from arm_sim.simulation.plant import COMMAND_INTERFACE
from arm_tools.standards.ros.manager_input import TOPIC
from arm_tools.standards.ros2_control import (
    COMMANDS,
    DRIVES,
    PLUGINS,
    STATES,
    controllers_of,
    one_period,
    with_hardware,
)

BROADCASTER, CONTROLLER = 'joint_state_broadcaster', 'joint_trajectory_controller'
ARGUMENTS = (
    *shared('robot', 'joints', 'tip_frame', 'xacro_args', 'gripper', 'gripper_frame'),
    *shared('engine', 'config', 'viewer'),
    *shared('scene', actuator='servo', mode='realtime'),
    argument(
        'gravity_compensation',
        'true',
        "whether the drives add the arm's weight: commands of position, velocity and effort then "
        'need no gravity term',
        ['true', 'false'],
    ),
    argument(
        'controllers',
        '',
        'path of the parameter file of controller_manager and its controllers; empty: '
        'config/ros2_control/controllers.yaml',
    ),
    argument(
        'spawn',
        CONTROLLER,
        'names of the controllers to activate besides joint_state_broadcaster, as a,b',
    ),
    argument(
        'hardware',
        next(iter(PLUGINS)),
        'package of the hardware interface that controller_manager loads',
        [*PLUGINS],
    ),
)
# Topics of the simulator whose names ros2_control uses itself.
REMAPPED = {
    'joint_states': STATES,
    'joint_commands': COMMANDS,
    'robot_description': 'arm_sim/robot_description',
}
READ = {TOPIC: '/joint_states'}  # of joint_state_broadcaster
COMPENSATION = (
    "ros2_control: the drives add the arm's weight (gravity_compensation:=false: they do not, "
    'and an arm under position commands rests below its command)'
)
# [s]; the spawner waits until simulated time runs.
SPAWNER_TIMEOUTS = ('--switch-timeout', '60', '--service-call-timeout', '60')


def hardware(given: dict[str, str]) -> list:
    """Return the simulator on other topics, and controller_manager where it is installed."""
    own = 'config/ros2_control/controllers.yaml'
    model = RobotModel.from_urdf(find_urdf(given['robot']))
    drives = actuators_of(actuators_argument(given['actuator']), model.joint_names)
    for each in drives:
        one_of('actuator (ros2_control)', each, DRIVES)
    if len(set(drives)) > 1 and not given['controllers']:
        raise ArmError(
            'actuator differs from joint to joint: give controllers:=FILE for these joints'
        )
    file = Path(given['controllers'] or share_folder() / own)
    controllers = controllers_of(file, model.joint_names, COMMAND_INTERFACE[drives[0]])
    rate = controllers['controller_manager']['ros__parameters']['update_rate']
    arm = given | {'controller': 'external', 'record': 'false'}
    simulator = {'command_stamp': 'arrival', 'clock_rate': float(rate), 'tf_rate': 0.0}
    core, lines = None, []
    if given['mode'] == 'lockstep':
        core = core_of(namespace_of(given))  # the manager takes turns with the simulator
        files = sections_of(given['robot'], given['config'])
        simulator |= one_period(rate, parameters_of(files, 'simulator'))
    if given['gravity_compensation'] == 'true':
        simulator |= compensation(drives)
        lines = [LogInfo(msg=COMPENSATION)]
    found = arm_nodes(arm, simulator, gripper_controller=False)
    nodes = [each for each in found if not isinstance(each, LogInfo)]
    remaps = [SetRemap(src=name, dst=other) for name, other in (REMAPPED | READ).items()]
    urdf = temporary_folder() / 'ros2_control.urdf'
    urdf.write_text(with_hardware(model, given['hardware'], drives))
    parameters = urdf.with_name('controllers.yaml')
    parameters.write_text(yaml.safe_dump(dict(controllers)))
    return [
        GroupAction([*remaps, *nodes]),
        *lines,
        *manager(str(urdf), str(parameters), given['spawn'], core),
    ]


def compensation(drives: Sequence[str]) -> dict[str, object]:
    """Return the simulator's parameters of drives that add the arm's weight."""
    found: dict[str, object] = {}
    if 'torque' in drives:
        found['effort_convention'] = 'gravity_compensated'
    if {'servo', 'velocity'} & {*drives}:
        found['servo_compensation'] = True
    return found


def manager(urdf: str, controllers: str, spawn: str, core: int | None = None) -> list:
    """Return controller_manager with its controllers, or a log line where it is missing."""
    if 'controller_manager' not in get_packages_with_prefixes():
        line = (
            'ros2_control: controller_manager is not installed here: source a ROS 2 with it '
            '(ros-jazzy-ros2-control, ros-jazzy-ros2-controllers), which ./ws then uses; the arm '
            f'is on /{STATES} and /{COMMANDS} for one that runs elsewhere, its URDF is {urdf}'
        )
        return [LogInfo(msg=line)]
    text = {'robot_description': Path(urdf).read_text(), 'use_sim_time': True}
    publisher = 'robot_state_publisher'
    spawned = ['--param-file', controllers]
    return [
        Node(package=publisher, executable=publisher, parameters=[text]),
        Node(
            package='controller_manager', executable='ros2_control_node', parameters=[controllers],
            prefix=f'taskset -c {core}' if core is not None else None,
        ),
        Node(
            package='controller_manager', executable='spawner',
            arguments=[BROADCASTER, *spawn.split(','), *spawned, *SPAWNER_TIMEOUTS],
        ),
    ]  # fmt: skip


generate_launch_description = description(ARGUMENTS, hardware)
