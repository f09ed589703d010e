"""The arguments of launch files, those that several share and what all check."""

import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from arm_controllers.latency import FORMS
from arm_controllers.laws import law_names
from arm_controllers.laws.servo import FEEDFORWARD
from arm_controllers.parameter_file import yaml_value
from arm_controllers.parameter_values import as_ros_value
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_dynamics.checks import ArmError, unknown
from arm_dynamics.parameters import facts
from arm_dynamics.robots import MJCF_VALUES
from arm_sim.launching.shutdown import restore_interrupt, shutdown_guard
from arm_sim.parameter_files import files_of, merged, parameters_of
from arm_sim.simulation.plant import PlantParameters, engine_names
from arm_sim.simulation.scene import scene_names

# The values of the argument `controller`.
CONTROLLERS = ['none', 'external', *law_names()]
_SWITCH = ['true', 'false']


_BEGIN, _END = '[', '] '  # around the group of an argument in its description


class _Shared(NamedTuple):
    """An argument of several launch files: its default value, description and choices."""

    value: str
    text: str
    choices: list[str] | None = None


def _switch(text: str) -> _Shared:
    """Return an argument that is false or true."""
    return _Shared('false', text, _SWITCH)


def _of(kind: type, name: str, text: str = '') -> _Shared:
    """Return a parameter of a dataclass as an argument with a default value.

    An empty value leaves the parameter to the files, unless empty is the parameter's own default.
    """
    (field,) = (each for each in fields(kind) if each.name == name)
    known, choices = facts(field), list(facts(field).one_of)
    if text or field.default == '':
        return _Shared(text, known.description, choices or None)
    words = f'{known.description}; empty: as in the parameter files'
    return _Shared('', words, ['', *choices] if choices else None)


# The shared arguments by group, in the order of --show-args.
_GROUPS: dict[str, dict[str, _Shared]] = {
    'everyday': {
        'robot': _Shared('ur5e', 'name of a shipped robot, or path of a URDF, xacro or MJCF file'),
        'controller': _Shared(
            'servo',
            'control law that commands the arm; external: a node of yours commands the arm; '
            'none: the engine motion_model follows goals without a controller',
            CONTROLLERS,
        ),
        'mode': _Shared(
            'lockstep',
            'lockstep: simulated time runs as fast as the machine allows, with equal bits in '
            'every run; realtime: simulated time follows the wall clock',
            ['lockstep', 'realtime'],
        ),
        'composed': _switch(
            'whether simulator, controller and inverse kinematics run in one process: faster in '
            'lock-step, with equal bits'
        ),
        'start': _Shared(
            'moving',
            "start of the task; moving: the arm starts on the task's reference; rest: the arm "
            'first moves to the reference from rest',
            ['moving', 'rest'],
        ),
        'passes': _Shared('1', 'number of runs of the task; each run learns from the one before'),
        'config': _Shared(
            '', "path of a parameter file, whose values replace those of the robot's files"
        ),
        'output_dir': _Shared('task_output', 'folder for report, picture and recording'),
        'viewer': _switch('whether a window shows the arm; needs a display'),
    },
    'task': {},
    'robot and control': {
        'joints': _Shared(
            '',
            'names of the joints that move, as a,b,c, or chain: those from the base to tip_frame; '
            "empty: as in the robot's files",
        ),
        'tip_frame': _Shared(
            '',
            'name of the tool link; empty: as named in the SRDF, tool0 or alike, else the flange',
        ),
        'gripper': _Shared(
            '',
            'gripper in place of the tool of the arm: the name parallel, or path of a URDF, xacro '
            'or MJCF file; empty: none',
        ),
        'gripper_frame': _Shared(
            '',
            'name of the link of the arm that carries the gripper; empty: the flange, else the '
            'tool link',
        ),
        'xacro_args': _Shared('', 'arguments of the xacro file: "name:=value other:=value"'),
        'inertia': _Shared(
            '',
            'estimate: links without mass get mass and inertia from their shapes; empty: none',
            ['', 'estimate'],
        ),
        'density': _Shared('', 'density for inertia:=estimate [kg/m^3]; empty: 1000'),
        'total_mass': _Shared('', 'mass of the arm for inertia:=estimate [kg]; empty: by density'),
        'mjcf': _Shared(
            '',
            'what engine mujoco simulates of an MJCF robot; native: the file itself; converted: '
            'its URDF; empty: native',
            ['', *MJCF_VALUES],
        ),
        'actuator': _Shared(
            '',
            'actuators for controller:=external, one for all joints or a list; empty: as in the '
            'parameter files',
        ),
        'feedforward': _Shared(
            'best',
            'feedforward of the servo controller; best: discrete in lock-step, inverse_dynamics '
            'in real time',
            ['best', *FEEDFORWARD],
        ),
        'policy': _Shared('', 'path of the ONNX file of controller:=policy'),
        'latency': _Shared(
            '',
            f'time that an inference of the policy takes [s]: {FORMS}; empty: as in the '
            'parameter files',
        ),
        'latency_seed': _Shared('0', 'random seed of drawn latencies'),
        'reference_motion': _of(ControllerParameters, 'reference_motion'),
        'friction_velocity': _of(ControllerParameters, 'friction_velocity'),
        'learning_cutoff': _Shared(
            '0.0', 'cut-off frequency of the low-pass filter between passes [Hz]; 0: no filter'
        ),
        'controller_manager': _switch(
            "whether a node offers the services of ros2_control's controller_manager"
        ),
        'tip_servo': _switch(
            'whether the node tip_servo moves the tip by streams of twists and poses, on the '
            'topics ~/delta_twist_cmds and ~/pose_target_cmds'
        ),
        'linear_move': _switch(
            'whether a node offers the action linear_move: straight lines of the tip'
        ),
        'plan_motion': _switch(
            'whether a node offers the action plan_motion: motions around the objects of a scene'
        ),
    },
    'physics': {
        'engine': _Shared(
            '',
            "physics engine; empty: as in the robot's files, otherwise mujoco",
            ['', *engine_names()],
        ),
        'contacts': _switch('whether the arm collides with floor, table and itself'),
        'srdf': _of(PlantParameters, 'srdf'),
        'scene': _Shared(
            '',
            f'objects around the arm: {", ".join(scene_names())}, or the path of a YAML file or '
            'MJCF (.xml); empty: none',
        ),
        'faults': _of(PlantParameters, 'faults'),
        'camera': _Shared('', 'path of a YAML file that lists cameras; empty: none'),
        'table': _Shared(
            '', 'center x, y, z of a table and its sizes along x, y, z [m]; empty: no table'
        ),
        'plant_error': _Shared(
            '{}',
            'difference of the simulated arm from its URDF, such as '
            '"{payload: 2.0, mass_scale: [1.3]}" with the payload in kg',
        ),
        'model_error': _Shared(
            '{}', "difference of the controller's model from the URDF, written as plant_error"
        ),
    },
    'recording': {
        'record': _Shared(
            'true',
            'whether all messages are recorded; true: as an MCAP file, bag: as a rosbag2 folder',
            ['true', 'false', 'bag'],
        ),
    },
    'page': {
        'view': _switch('whether a page in the browser shows and commands the arm; needs viser'),
        'view_port': _Shared('8080', 'TCP port of the page; the next free port if it is in use'),
        'view_host': _Shared(
            '127.0.0.1', 'address that the page is served on; 0.0.0.0: for other machines too'
        ),
    },
    'graph': {
        'namespace': _Shared(
            '', "namespace of the arm's nodes, such as left; for several arms in one graph"
        ),
        'clock': _Shared(
            'true', 'whether the simulator publishes /clock; only one arm of a graph may', _SWITCH
        ),
        'plot': _switch('whether rqt_plot shows reference, position and error of the first joint'),
        'rviz': _switch('whether RViz shows the arm with config/arm.rviz'),
    },
}
_SHARED = {name: (group, each) for group, ones in _GROUPS.items() for name, each in ones.items()}
ARM = (
    'robot', 'joints', 'tip_frame', 'xacro_args', 'inertia', 'density', 'total_mass', 'gripper',
    'gripper_frame', 'mjcf',
    'controller', 'engine', 'mode', 'feedforward', 'policy', 'latency', 'latency_seed',
    'config', 'viewer', 'plot', 'rviz', 'contacts', 'srdf', 'scene', 'faults', 'camera',
    'table', 'composed', 'actuator',
    'namespace', 'clock', 'reference_motion', 'friction_velocity',
)  # fmt: skip
VIEW = ('view', 'view_port', 'view_host')  # of every launch file
# The parameter `record` of nodes by the argument `record`.
RECORD = {'true': 'mcap', 'bag': 'bag', 'false': 'none'}


def argument(
    name: str,
    value: str,
    text: str,
    choices: list[str] | None = None,
    group: str = 'everyday',
) -> DeclareLaunchArgument:
    """Declare an argument of a group with its default value; its description names the group."""
    return DeclareLaunchArgument(
        name, default_value=value, description=f'{_BEGIN}{group}{_END}{text}', choices=choices
    )


def shared(*names: str, **others: str) -> list[DeclareLaunchArgument]:
    """Declare shared arguments: those of `names` with their default value, others with another."""
    found = []
    for name in (*names, *others):
        group, each = _SHARED[name]
        value = others.get(name, each.value)
        found.append(argument(name, value, each.text, each.choices, group))
    return found


def of_parameters(
    kind: type, *names: str, group: str = 'everyday', **others: str
) -> list[DeclareLaunchArgument]:
    """Declare parameters of a dataclass: those of `names` with their default value."""
    defaults = {each.name: each.default for each in fields(kind)}
    values = {name: str(as_ros_value(defaults[name])) for name in names} | others
    found = {name: _of(kind, name, text) for name, text in values.items()}
    return [argument(name, *each, group) for name, each in found.items()]


def usual_values() -> dict[str, str]:
    """Return the default value of each shared argument."""
    return {name: each.value for name, (_, each) in _SHARED.items()}


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
        arguments: of the launch file; every launch file has those of VIEW as well. --show-args
            shows them by group.
        nodes: returns the actions to start for the values of all arguments; shared arguments that
            the launch file does not have are at their default value.
    """
    own = [each.name for each in arguments]
    arguments = [*arguments, *shared(*(name for name in VIEW if name not in own))]
    arguments.sort(key=_place)

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


def _place(argument: DeclareLaunchArgument) -> int:
    """Return the place of an argument in --show-args, by its group; without one the last."""
    group = argument.description.removeprefix(_BEGIN).partition(_END)[0]
    return [*_GROUPS, group].index(group)


def _robot_argument(given: dict[str, str]) -> str:
    """Return the robot with the other arguments about it, as `RobotArgument` reads them."""
    names = (
        'joints', 'tip_frame', 'inertia', 'density', 'total_mass', 'gripper', 'gripper_frame',
        'mjcf',
    )  # fmt: skip
    words = [f'{name}:={given[name]}' for name in names if given[name]]
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
