"""The arguments of launch files, those that several share and what all check."""

import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.utilities import perform_substitutions
from launch_ros.actions import node as launch_node

from arm_controllers.laws import law_names
from arm_controllers.laws.policy import PolicyParameters
from arm_controllers.laws.servo import FEEDFORWARD
from arm_controllers.parameter_file import yaml_value
from arm_controllers.parameter_values import as_ros_value
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_dynamics.checks import ArmError, one_of, unknown
from arm_dynamics.parameters import facts
from arm_dynamics.robots import MJCF_VALUES, ArmParameters
from arm_dynamics.temporary_folder import temporary_folder
from arm_sim.launching.needs import NEEDS, Need, check_needs
from arm_sim.launching.shutdown import keep_screen, restore_interrupt, shutdown_guard
from arm_sim.parameter_files import files_of, merged, parameters_of
from arm_sim.registered import launches
from arm_sim.ros.task_parameters import TaskNodeParameters
from arm_sim.simulation.plant import PlantParameters, engine_names
from arm_sim.simulation.scene import scene_names

_LAW = 'controller'  # the other word for the argument `law`
# The values of the argument `controller`.
CONTROLLERS = ['none', 'external', *law_names()]
_SWITCH = ['true', 'false']
_FEW = 6  # choices that a refusal names all


_BEGIN, _END = '[', '] '  # around the group of an argument in its description


class Shared(NamedTuple):
    """An argument of several launch files: its default value, description and choices."""

    value: str
    text: str
    choices: list[str] | None = None


def switch(text: str) -> Shared:
    """Return an argument that is false or true."""
    return Shared('false', text, _SWITCH)


def of(kind: type, name: str, text: str = '', usual: bool = False) -> Shared:
    """Return a parameter of a dataclass as an argument, with its description.

    Args:
        kind, name: the dataclass and the name of its field.
        text: default value of the argument. Empty: the parameter is left to the parameter files,
            unless empty has a meaning of its own.
        usual: whether the default value is that of the field.
    """
    (field,) = (each for each in fields(kind) if each.name == name)
    known, choices = facts(field), list(facts(field).one_of)
    if usual:
        text = str(as_ros_value(field.default))
    if text in _SWITCH:
        choices = _SWITCH
    if text or field.default == '' or '; empty: ' in known.description:
        return Shared(text, known.description, choices or None)
    words = f'{known.description}; empty: as in the parameter files'
    return Shared('', words, ['', *choices] if choices else None)


# The shared arguments by group, in the order of --show-args, without those of `*_launch.py` files.
_GROUPS: dict[str, dict[str, Shared]] = {
    'everyday': {
        'robot': of(ArmParameters, 'robot', usual=True),
        'controller': Shared(
            'servo',
            'control law that commands the arm; external: a node of yours commands the arm; '
            'none: the engine motion_model follows goals without a controller',
            CONTROLLERS,
        ),
        'mode': Shared(
            'lockstep',
            'lockstep: simulated time runs as fast as the machine allows, with equal bits in '
            'every run; realtime: simulated time follows the wall clock',
            ['lockstep', 'realtime'],
        ),
        'composed': switch(
            'whether simulator, controller and inverse kinematics run in one process: faster in '
            'lock-step, with equal bits'
        ),
        'start': Shared(
            '',
            'moving: the arm starts on the reference; rest: the task moves it there first; empty: '
            'moving in lock-step, rest in real time',
            ['', 'moving', 'rest'],
        ),
        'passes': of(TaskNodeParameters, 'passes', usual=True),
        'config': Shared(
            '', "path of a parameter file, whose values replace those of the robot's files"
        ),
        'output_dir': of(TaskNodeParameters, 'output_dir', 'task_output'),
    },
    'task': {},
    'robot and control': {
        'joints': Shared(
            '',
            'names of the joints that move, as a,b,c, or chain: those from the base to tip_frame; '
            "empty: as in the robot's files",
        ),
        'tip_frame': of(ArmParameters, 'tool_frame'),
        'gripper': Shared(
            '',
            'gripper in place of the tool of the arm: the name parallel, or path of a URDF, xacro '
            'or MJCF file; empty: none',
        ),
        'gripper_frame': Shared(
            '',
            'name of the link of the arm that carries the gripper; empty: the flange, else the '
            'tool link',
        ),
        'xacro_args': Shared('', 'arguments of the xacro file: "name:=value other:=value"'),
        'inertia': Shared(
            '',
            'estimate: links without mass get mass and inertia from their shapes; empty: none',
            ['', 'estimate'],
        ),
        'density': Shared('', 'density for inertia:=estimate [kg/m^3]; empty: 1000'),
        'total_mass': Shared('', 'mass of the arm for inertia:=estimate [kg]; empty: by density'),
        'mjcf': Shared(
            '',
            'what engine mujoco simulates of an MJCF robot; native: the file itself; converted: '
            'its URDF; empty: native',
            ['', *MJCF_VALUES],
        ),
        'actuator': Shared(
            '',
            'actuators for controller:=external, one for all joints or a list; empty: as in the '
            'parameter files',
        ),
        'feedforward': Shared(
            'best',
            'feedforward of the servo controller; best: discrete in lock-step, inverse_dynamics '
            'in real time',
            ['best', *FEEDFORWARD],
        ),
        'policy': of(PolicyParameters, 'policy'),
        'latency': of(PolicyParameters, 'latency'),
        'latency_seed': of(PolicyParameters, 'latency_seed', usual=True),
        'reference_motion': of(ControllerParameters, 'reference_motion'),
        'friction_velocity': of(ControllerParameters, 'friction_velocity'),
        'learning_cutoff': of(TaskNodeParameters, 'learning_cutoff', usual=True),
    },
    'physics': {
        'engine': Shared(
            '',
            "physics engine; empty: as in the robot's files, otherwise mujoco",
            ['', *engine_names()],
        ),
        'integrator': Shared(
            '',
            'integration of the simulated arm, such as implicitfast (one step per timestep); '
            "empty: as in the robot's files, otherwise continuous",
        ),
        'contacts': of(PlantParameters, 'contacts', 'false'),
        'srdf': of(PlantParameters, 'srdf'),
        'scene': Shared(
            '',
            f'objects around the arm: {", ".join(scene_names())}, or the path of a YAML file or '
            'MJCF (.xml); empty: none',
        ),
        'faults': of(PlantParameters, 'faults'),
        'table': of(PlantParameters, 'table'),
        'plant_error': Shared(
            '{}',
            'difference of the simulated arm from its URDF, such as '
            '"{payload: 2.0, mass_scale: [1.3]}" with the payload in kg',
        ),
        'model_error': Shared(
            '{}', "difference of the controller's model from the URDF, written as plant_error"
        ),
    },
    'recording': {},
    'page': {},
    'graph': {
        'namespace': Shared(
            '', "namespace of the arm's nodes, such as left; for several arms in one graph"
        ),
        'clock': Shared(
            'true', 'whether the simulator publishes /clock; only one arm of a graph may', _SWITCH
        ),
    },
}
ARM = (
    'robot', 'joints', 'tip_frame', 'xacro_args', 'inertia', 'density', 'total_mass', 'gripper',
    'gripper_frame', 'mjcf',
    'controller', 'engine', 'integrator', 'mode', 'feedforward', 'policy', 'latency',
    'latency_seed', 'config', 'viewer', 'plot', 'rviz', 'contacts', 'srdf', 'scene', 'faults',
    'camera', 'table', 'composed', 'actuator',
    'namespace', 'clock', 'reference_motion', 'friction_velocity',
)  # fmt: skip
VIEW = ('view', 'view_port', 'view_host')  # of every launch file
# The parameter `record` of nodes by the argument `record`.
RECORD = {'true': 'mcap', 'bag': 'bag', 'false': 'none'}


@cache
def _shared() -> dict[str, tuple[str, Shared]]:
    """Return group and argument by the argument's name, with those of `*_launch.py` files."""
    tables = [_GROUPS, *(import_module(module).ARGUMENTS for module in launches())]
    return {
        name: (group, each)
        for groups in tables
        for group, ones in groups.items()
        for name, each in ones.items()
    }


def argument(
    name: str, value: str, text: str, choices: list[str] | None = None, group: str = 'everyday'
) -> DeclareLaunchArgument:
    """Declare an argument of a group with its default value; its description names the group."""
    return DeclareLaunchArgument(
        name, default_value=value, description=f'{_BEGIN}{group}{_END}{text}', choices=choices
    )


def shared(*names: str, **others: str) -> list[DeclareLaunchArgument]:
    """Declare shared arguments: those of `names` with their default value, others with another."""
    found = []
    for name in (*names, *others):
        group, each = _shared()[name]
        value = others.get(name, each.value)
        found.append(argument(name, value, each.text, each.choices, group))
    return found


def of_parameters(
    kind: type, *names: str, group: str = 'everyday', **others: str
) -> list[DeclareLaunchArgument]:
    """Declare parameters of a dataclass: those of `names` with their default value."""
    defaults = {each.name: each.default for each in fields(kind)}
    values = {name: str(as_ros_value(defaults[name])) for name in names} | others
    found = {name: of(kind, name, text) for name, text in values.items()}
    return [argument(name, *each, group) for name, each in found.items()]


def usual_values() -> dict[str, str]:
    """Return the default value of each shared argument."""
    return {name: each.value for name, (_, each) in _shared().items()}


def namespace_of(given: Mapping[str, str]) -> str:
    """Return the namespace of an arm's nodes, '' or '/left'; refuse an invalid one."""
    name = given['namespace'].strip('/')
    if name and not re.fullmatch(r'[a-zA-Z_]\w*(/[a-zA-Z_]\w*)*', name, re.ASCII):
        raise ArmError(
            f'namespace is {given["namespace"]!r}; it must be of letters, digits and _, '
            'no digit first, such as left or cell_1/left'
        )
    return f'/{name}' if name else ''


def number_of(given: Mapping[str, str], name: str) -> float:
    """Return the value of an argument that must be a number."""
    value = yaml_value(name, given[name])
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ArmError(f'{name} is {given[name]!r}; it must be a number')
    return value


def description(
    arguments: Sequence[DeclareLaunchArgument],
    nodes: Callable[[dict[str, str]], list[object]],
    needs: Sequence[Need] = (),
) -> Callable[[], LaunchDescription]:
    """Return the function `generate_launch_description` of a launch file.

    Args:
        arguments: of the launch file; every launch file has those of VIEW as well. --show-args
            shows them by group.
        nodes: returns the actions to start for the values of all arguments; shared arguments that
            the launch file does not have are at their default value.
        needs: of the launch file's arguments, besides NEEDS.
    """
    own = [each.name for each in arguments]
    arguments = [*arguments, *shared(*(name for name in VIEW if name not in own))]
    arguments.sort(key=_place)

    def refuse(context: LaunchContext) -> None:
        _refuse_unknown_arguments(context, [each.name for each in arguments])
        for each in arguments:
            value = context.launch_configurations.get(each.name)
            if value is not None:
                _refuse_other_value(each.name, value, each.choices or ())

    def start(context: LaunchContext) -> list[object]:
        # Else the parameter files that launch_ros writes for nodes stay for ever.
        of_this_launch = partial(NamedTemporaryFile, dir=str(temporary_folder()))
        vars(launch_node)['NamedTemporaryFile'] = of_this_launch
        given = usual_values() | dict(context.launch_configurations)
        if _LAW in own and 'law' not in own and 'law' in given:
            given[_LAW] = law_word(given, usual_values()[_LAW])
            _refuse_other_value('law', given[_LAW], CONTROLLERS)
        given['robot'] = _robot_argument(given)
        if not given['engine']:
            sections = merged(files_of(given['robot'], given['config']))
            given['engine'] = parameters_of(sections, 'simulator').get('engine', 'mujoco')
        usual = {
            each.name: perform_substitutions(context, each.default_value or [])
            for each in arguments
        }
        check_needs(given, usual_values() | usual, (*needs, *NEEDS))
        return nodes(given)

    def generate_launch_description() -> LaunchDescription:
        restore_interrupt()
        keep_screen()
        return LaunchDescription(
            [OpaqueFunction(function=refuse), *arguments, shutdown_guard(),
             OpaqueFunction(function=start)]
        )  # fmt: skip

    return generate_launch_description


def law_word(given: Mapping[str, str], usual: str = '') -> str:
    """Return the law that the arguments `law` and `controller`, two words for it, name.

    `usual`: value of `controller` where only `law` is given.

    Raises:
        ArmError: they name two laws.
    """
    law, controller = given.get('law', ''), given[_LAW]
    if law and controller not in ('', usual, law):
        raise ArmError(
            f'law is {law!r} and controller {controller!r}; they are two words for one law: '
            'leave one out'
        )
    return law or controller


def _refuse_other_value(name: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a value that is not among the choices of an argument, where it has any."""
    if choices and value not in choices:
        named = [each for each in choices if each]
        if len(named) <= _FEW or not value:
            one_of(name, value, named)
        raise unknown(f'value of {name}', value, named)


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
    known = {*names, 'law'} if _LAW in names else names
    for name in (word.partition(':=')[0] for word in context.argv if ':=' in word):
        if name not in known:
            raise unknown('launch argument', name, names)
