"""The arguments of launch files, those that several share and what all check."""

import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from arm_controllers.discrete_motion import MOTIONS
from arm_controllers.known_friction import FRICTION_VELOCITIES
from arm_controllers.laws import law_names
from arm_controllers.laws.servo import FEEDFORWARD
from arm_controllers.parameter_file import yaml_value
from arm_dynamics.checks import ArmError, unknown
from arm_sim.launching.shutdown import restore_interrupt, shutdown_guard
from arm_sim.parameter_files import files_of, merged, parameters_of
from arm_sim.simulation.plant import COMMAND_INTERFACE, engine_names

# The values of the argument `controller`.
CONTROLLERS = ['none', 'external', *law_names()]
_SWITCH = ['true', 'false']


class _Shared(NamedTuple):
    """An argument of several launch files: its default value, description and choices."""

    value: str
    text: str
    choices: list[str] | None = None


# The shared arguments by group, in the order of --show-args.
_GROUPS: dict[str, dict[str, _Shared]] = {
    '': {
        'robot': _Shared('ur5e', 'name of a robot, or path of its URDF, xacro or MJCF file'),
        'controller': _Shared(
            'servo',
            'control law of the controller; external: your own node; none: the engine '
            'motion_model takes goals itself',
            CONTROLLERS,
        ),
        'mode': _Shared(
            'lockstep',
            'lockstep: as fast as possible, equal bits in every run; realtime: by the wall clock',
            ['lockstep', 'realtime'],
        ),
        'composed': _Shared(
            'false',
            'run simulator, controller and inverse kinematics in one process: faster, equal bits',
            _SWITCH,
        ),
        'start': _Shared(
            'moving',
            "moving: the arm starts on the task's reference; rest: it first moves there from rest",
            ['moving', 'rest'],
        ),
        'passes': _Shared(
            '1', 'number of times that the task is run; each pass learns from the one before'
        ),
        'config': _Shared('', "parameter file; its values replace those of the robot's files"),
        'output_dir': _Shared('task_output', 'folder of the report and the picture'),
        'viewer': _Shared('false', 'show the arm in a window', _SWITCH),
    },
    'robot and control': {
        'joints': _Shared(
            '',
            "joints that move: a,b,c, or chain: base to tip_frame; empty: as in the robot's files",
        ),
        'tip_frame': _Shared(
            '', 'tool link; empty: named in the SRDF, tool0 or alike, else the flange'
        ),
        'xacro_args': _Shared('', 'arguments of the xacro file: "name:=value other:=value"'),
        'actuator': _Shared(
            '',
            'actuator for controller:=external; empty: as in the parameter files',
            ['', *COMMAND_INTERFACE],
        ),
        'feedforward': _Shared(
            'best',
            'feedforward of the servo controller; best: discrete in lockstep, otherwise '
            'inverse_dynamics',
            ['best', *FEEDFORWARD],
        ),
        'reference_motion': _Shared(
            '',
            'motion that torque laws take the reference for; discrete: that of its samples, for '
            'simulated arms; empty: as in the parameter files, otherwise continuous',
            ['', *MOTIONS],
        ),
        'friction_velocity': _Shared(
            '',
            'velocity by which torque laws compensate Coulomb friction; empty: as in the '
            'parameter files, otherwise measured',
            ['', *FRICTION_VELOCITIES],
        ),
        'learning_cutoff': _Shared(
            '0.0', 'cut-off frequency of the low-pass filter between passes [Hz]; 0: no filter'
        ),
        'controller_manager': _Shared(
            'false', "serve ros2_control's services, for ros2 control, rqt and MoveIt", _SWITCH
        ),
        'tip_servo': _Shared(
            'false',
            'move the tip by streams of twists and poses on ~/delta_twist_cmds and '
            '~/pose_target_cmds',
            _SWITCH,
        ),
        'linear_move': _Shared(
            'false', 'serve the action linear_move: straight lines of the tip', _SWITCH
        ),
    },
    'physics': {
        'engine': _Shared(
            '',
            "physics engine; empty: as in the robot's files, otherwise mujoco",
            ['', *engine_names()],
        ),
        'contacts': _Shared('false', 'let the arm touch floor and table', _SWITCH),
        'scene': _Shared(
            '', 'objects around the arm: blocks, table, wall, or a YAML file; empty: none'
        ),
        'table': _Shared('', 'table: center x, y, z and sizes along them [m]; empty: no table'),
        'plant_error': _Shared(
            '{}',
            'difference of the simulated arm from its URDF: "{payload: 2.0, mass_scale: [1.3]}"',
        ),
        'model_error': _Shared(
            '{}', "difference of the controller's model from the URDF, as in plant_error"
        ),
    },
    'recording': {
        'record': _Shared(
            'true',
            'record all messages; true: as an MCAP file, bag: as a rosbag2 folder',
            ['true', 'false', 'bag'],
        ),
    },
    'page': {
        'view': _Shared(
            'false', 'show and command the arm on a page in the browser; needs viser', _SWITCH
        ),
        'view_port': _Shared('8080', 'port of the page, or the next free one'),
        'view_host': _Shared('127.0.0.1', 'address of the page; 0.0.0.0: for other machines too'),
    },
    'graph': {
        'namespace': _Shared('', "namespace of the arm's nodes, for several arms: left"),
        'clock': _Shared(
            'true', 'publish /clock; of several arms in one graph only one may', _SWITCH
        ),
        'plot': _Shared('false', 'start rqt_plot', _SWITCH),
        'rviz': _Shared('false', 'start RViz with config/arm.rviz', _SWITCH),
    },
}
_GROUP_OF = {name: group for group, each in _GROUPS.items() for name in each}
_SHARED = {
    name: each._replace(text=f'[{group}] {each.text}' if group else each.text)
    for group, shared_ones in _GROUPS.items()
    for name, each in shared_ones.items()
}
ARM = (
    'robot', 'joints', 'tip_frame', 'xacro_args', 'controller', 'engine', 'mode', 'feedforward',
    'config', 'viewer', 'plot', 'rviz', 'contacts', 'scene', 'table', 'composed', 'actuator',
    'namespace', 'clock', 'reference_motion', 'friction_velocity',
)  # fmt: skip
VIEW = ('view', 'view_port', 'view_host')  # of every launch file
# The parameter `record` of nodes by the argument `record`.
RECORD = {'true': 'mcap', 'bag': 'bag', 'false': 'none'}


def argument(
    name: str, value: str, description: str, choices: list[str] | None = None
) -> DeclareLaunchArgument:
    """Declare an argument with its default value."""
    return DeclareLaunchArgument(
        name, default_value=value, description=description, choices=choices
    )


def shared(*names: str, **others: str) -> list[DeclareLaunchArgument]:
    """Declare shared arguments: those of `names` with their default value, others with another."""
    values = {name: _SHARED[name].value for name in names} | others
    return [argument(name, value, *_SHARED[name][1:]) for name, value in values.items()]


def usual_values() -> dict[str, str]:
    """Return the default value of each shared argument."""
    return {name: each.value for name, each in _SHARED.items()}


def namespace_of(given: Mapping[str, str]) -> str:
    """Return the namespace of an arm's nodes, '' or '/left'; refuse an invalid one."""
    name = given['namespace'].strip('/')
    if name and not re.fullmatch(r'[a-zA-Z_]\w*(/[a-zA-Z_]\w*)*', name, re.ASCII):
        raise ArmError(
            f'namespace is {given["namespace"]!r}; it must be of letters, digits and _, '
            'such as left or cell_1/left'
        )
    return f'/{name}' if name else ''


def number_of(given: Mapping[str, str], name: str) -> float:
    """Return the value of an argument that must be a number."""
    value = yaml_value(name, given[name])
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ArmError(f'{name} is {given[name]!r}; it must be a number')
    return value


def description(
    arguments: Sequence[DeclareLaunchArgument], nodes: Callable[[dict[str, str]], list[Any]]
) -> Callable[[], LaunchDescription]:
    """Return the function `generate_launch_description` of a launch file.

    Args:
        arguments: of the launch file; every launch file has those of VIEW as well. They are shown
            group by group, the file's own ones among the first.
        nodes: returns the actions to start for the values of all arguments; shared arguments that
            the launch file does not have are at their default value.
    """
    own = [each.name for each in arguments]
    arguments = [*arguments, *shared(*(name for name in VIEW if name not in own))]
    groups = list(_GROUPS)
    arguments.sort(key=lambda each: groups.index(_GROUP_OF.get(each.name, '')))

    def start(context: LaunchContext) -> list[Any]:
        _refuse_unknown_arguments(context, [each.name for each in arguments])
        given = usual_values() | dict(context.launch_configurations)
        given['robot'] = _robot_argument(given)
        if not given['engine']:
            sections = merged(files_of(given['robot'], given['config']))
            given['engine'] = parameters_of(sections, 'simulator').get('engine', 'mujoco')
        return nodes(given)

    def generate_launch_description() -> LaunchDescription:
        restore_interrupt()
        return LaunchDescription([*arguments, shutdown_guard(), OpaqueFunction(function=start)])

    return generate_launch_description


def _robot_argument(given: dict[str, str]) -> str:
    """Return the robot with the other arguments about it, as `RobotArgument` reads them."""
    words = [f'{name}:={given[name]}' for name in ('joints', 'tip_frame') if given[name]]
    try:
        words += shlex.split(given['xacro_args'])
    except ValueError as error:
        raise ArmError(f'xacro_args is {given["xacro_args"]!r}: {error}') from None
    robot = given['robot']
    if not words:
        return robot
    return f'{robot if ":=" in robot else shlex.quote(robot)} {shlex.join(words)}'


def _refuse_unknown_arguments(context: LaunchContext, names: Sequence[str]) -> None:
    """Refuse `name:=value` with an unknown name, which `ros2 launch` ignores.

    Where another launch file includes this one, its own arguments are not refused.
    """
    file = Path(context.get_locals_as_dict().get('current_launch_file_path', '')).name
    if file not in (Path(word).name for word in sys.argv):
        return
    for name in (word.partition(':=')[0] for word in context.argv if ':=' in word):
        if name not in names:
            raise unknown('launch argument', name, names)
