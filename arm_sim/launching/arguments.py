"""The arguments of launch files: what several share stands here once."""

import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from arm_controllers.discrete_motion import MOTIONS
from arm_controllers.known_friction import FRICTION_VELOCITIES
from arm_controllers.laws import law_names
from arm_controllers.laws.servo import FEEDFORWARD
from arm_controllers.parameter_file import yaml_value
from arm_dynamics.checks import ArmError, unknown
from arm_sim.launching.ends import certain_end
from arm_sim.parameter_files import files_of, merged, parameters_of
from arm_sim.simulation.plant import COMMAND_INTERFACE, ENGINES

# What the argument `controller` may be.
CONTROLLERS = ['none', 'external', *law_names()]

# The arguments that launch files share: usual value, description, choices.
_SHARED: dict[str, tuple[str, str, list[str] | None]] = {
    'robot': ('ur5e', 'name of a robot, or path of its URDF, xacro or MJCF', None),
    'joints': ('', "that move, a,b,c, or chain: base to tip_frame; empty: the robot's", None),
    'tip_frame': ('', 'the link that is the tool; empty: the last of the longest chain', None),
    'xacro_args': ('', 'of a xacro, "name:=value other:=value"', None),
    'controller': (
        'servo',
        'control law; external: your own node; none: the engine motion_model takes goals itself',
        CONTROLLERS,
    ),
    'actuator': (
        '',
        'with controller external: what drives the arm; empty: as the parameter files say',
        ['', *COMMAND_INTERFACE],
    ),
    'engine': (
        '',
        "physics engine; empty: the one that the robot's files name, else mujoco",
        ['', *sorted(ENGINES)],
    ),
    'mode': (
        'lockstep',
        'lockstep: as fast as it goes, bit for bit the same; realtime: wall clock',
        ['lockstep', 'realtime'],
    ),
    'feedforward': (
        'best',
        'of the servo controller; best: discrete in lockstep, else inverse_dynamics',
        ['best', *FEEDFORWARD],
    ),
    'reference_motion': (
        '',
        "of torque laws; discrete: the reference's samples, for simulated arms; empty: as the"
        ' parameter files say, else continuous',
        ['', *MOTIONS],
    ),
    'friction_velocity': (
        '',
        'by which torque laws answer Coulomb friction; empty: as the parameter files say, else'
        ' measured',
        ['', *FRICTION_VELOCITIES],
    ),
    'composed': (
        'false',
        'simulator, controller and inverse kinematics in one process: the same bits, faster',
        ['true', 'false'],
    ),
    'controller_manager': (
        'false',
        "ros2_control's services beside the arm, for ros2 control, rqt and MoveIt",
        ['true', 'false'],
    ),
    'tip_servo': (
        'false',
        'streams of twists and poses at ~/delta_twist_cmds, ~/pose_target_cmds move the tip',
        ['true', 'false'],
    ),
    'linear_move': (
        'false',
        'the action linear_move: the tip goes to poses on straight lines, planned and moved',
        ['true', 'false'],
    ),
    'namespace': ('', 'of everything of this arm, for several in one graph: left', None),
    'clock': (
        'true',
        'whether this arm publishes /clock; of several arms in one graph one may',
        ['true', 'false'],
    ),
    'config': ('', "parameter file, over the robot's own", None),
    'viewer': (
        'false',
        'a window that shows the arm, whatever engine steps it',
        ['true', 'false'],
    ),
    'view': (
        'false',
        'a page in the browser that shows the arm and takes orders; needs viser',
        ['true', 'false'],
    ),
    'view_port': ('8080', 'of that page; the next free one where it is taken', None),
    'view_host': ('127.0.0.1', 'address of that page; 0.0.0.0: for other machines too', None),
    'contacts': ('false', 'whether the arm touches floor and table', ['true', 'false']),
    'table': ('', 'box: its middle x, y, z and its sizes along them [m]; empty: none', None),
    'plot': ('false', 'start rqt_plot', ['true', 'false']),
    'rviz': ('false', 'start RViz on config/arm.rviz', ['true', 'false']),
    'start': (
        'moving',
        "moving: the arm starts on the task's reference; rest: a way leads there",
        ['moving', 'rest'],
    ),
    'plant_error': (
        '{}',
        'how the simulated arm differs from its URDF, e.g. "{payload: 2.0, mass_scale: [1.3]}"',
        None,
    ),
    'model_error': ('{}', 'how the arm that the controller believes in differs, likewise', None),
    'passes': ('1', 'how often the motion is made; each pass learns from the one before', None),
    'learning_cutoff': ('0.0', 'of what is learnt, against noise [Hz]; 0: none', None),
    'record': (
        'true',
        'write the messages as MCAP, bag: as a folder of rosbag2',
        ['true', 'false', 'bag'],
    ),
    'output_dir': ('task_output', 'folder for report and picture', None),
}
ARM = (
    'robot', 'joints', 'tip_frame', 'xacro_args', 'controller', 'engine', 'mode', 'feedforward',
    'config', 'viewer', 'plot', 'rviz', 'contacts', 'table', 'composed', 'actuator',
    'namespace', 'clock', 'reference_motion', 'friction_velocity',
)  # fmt: skip
VIEW = ('view', 'view_port', 'view_host')  # of every launch file
# What the argument `record` is for nodes.
RECORD = {'true': 'mcap', 'bag': 'bag', 'false': 'none'}


def argument(
    name: str, value: str, description: str, choices: list[str] | None = None
) -> DeclareLaunchArgument:
    """Declare an argument with its usual value."""
    return DeclareLaunchArgument(
        name, default_value=value, description=description, choices=choices
    )


def shared(*names: str, **others: str) -> list[DeclareLaunchArgument]:
    """Declare shared arguments: those of `names` with their usual value, others with another."""
    values = {name: _SHARED[name][0] for name in names} | others
    return [argument(name, value, *_SHARED[name][1:]) for name, value in values.items()]


def usual_values() -> dict[str, str]:
    """Return the usual value of each shared argument."""
    return {name: value for name, (value, *_) in _SHARED.items()}


def namespace_of(given: Mapping[str, str]) -> str:
    """Return the namespace of an arm's nodes, '' or '/left'. Refuses what no namespace can be."""
    name = given['namespace'].strip('/')
    if name and not re.fullmatch(r'[a-zA-Z_]\w*(/[a-zA-Z_]\w*)*', name, re.ASCII):
        raise ArmError(
            f'namespace is {given["namespace"]!r}; it must be of letters, digits and _, '
            'such as left or cell_1/left'
        )
    return f'/{name}' if name else ''


def number_of(given: Mapping[str, str], name: str) -> float:
    """Return the number that an argument tells; refuse another text."""
    value = yaml_value(name, given[name])
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ArmError(f'{name} is {given[name]!r}; it must be a number')
    return value


def description(
    arguments: Sequence[DeclareLaunchArgument], nodes: Callable[[dict[str, str]], list[Any]]
) -> Callable[[], LaunchDescription]:
    """Return the function that launch asks a file for, `generate_launch_description`.

    `nodes` returns what to start for the values of all arguments. Shared arguments that are not
    among the launch file's own have their usual value; those of VIEW every launch file has.
    """
    own = [each.name for each in arguments]
    arguments = [*arguments, *shared(*(name for name in VIEW if name not in own))]

    def start(context: LaunchContext) -> list[Any]:
        _refuse_unknown_arguments(context, [each.name for each in arguments])
        given = usual_values() | dict(context.launch_configurations)
        given['robot'] = _in_words(given)
        if not given['engine']:
            sections = merged(files_of(given['robot'], given['config']))
            given['engine'] = parameters_of(sections, 'simulator').get('engine', 'mujoco')
        return nodes(given)

    actions = [*arguments, certain_end(), OpaqueFunction(function=start)]
    return lambda: LaunchDescription(actions)


def _in_words(given: dict[str, str]) -> str:
    """Return the robot with what other arguments say of it, as `RobotArgument` reads it."""
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
