"""What the launch files of tasks share: the arm's nodes, and what the task is told."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from launch.actions import DeclareLaunchArgument

from arm_controllers.parameter_file import yaml_value
from arm_controllers.parameter_values import as_ros_value, parameter_fields, read_fields
from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError
from arm_dynamics.parameters import Stepping, facts
from arm_sim.launching.arguments import RECORD, argument, namespace_of
from arm_sim.launching.arm import arm_nodes
from arm_sim.launching.config import config_file, feedforward_of, robot_parameter
from arm_sim.launching.processes import task_node
from arm_sim.robot import Robot, model_error_of
from arm_sim.tasks import Task, make_task, task_class


def task_arguments(task: str, *names: str, **others: str) -> list[DeclareLaunchArgument]:
    """Declare parameters of a task as arguments, `names` with their usual value."""
    known = {each.name: each for each in fields(task_class(task).Parameters)}
    texts = {name: str(as_ros_value(known[name].default)) for name in names} | others
    found = []
    for name, text in texts.items():
        told = facts(known[name])
        empty = '' if text else '; empty: as the parameter files say'
        found.append(argument(name, text, told.description + empty, list(told.one_of) or None))
    return found


def run_arm(given: Mapping[str, str], simulator: Iterable[str] = ()) -> list[Any]:
    """Return the arm's nodes alone; `simulator` as for `run_task`."""
    told = _values(given, simulator)
    return arm_nodes(given, told, inverse_kinematics=False, recorder=False)


def run_task(
    given: Mapping[str, str],
    task: str,
    parameters: Iterable[str] = (),
    simulator: Iterable[str] = (),
) -> list[Any]:
    """Return the arm's nodes, paused, and a task, under a controller as the robot's files have it.

    `parameters` and `simulator` name the arguments that are parameters of the task and of the
    simulator; an empty value leaves it to the robot's files.
    """
    robot = Robot.load(given['robot'], given['config'])
    made = make_task(
        task, robot, _table(given, task) | _values(given, parameters) | _mapping(given)
    )
    period_ns = read_fields(Stepping, robot.parameters('simulator')).period_ns
    moving = given['start'] == 'moving'
    error = model_error_of(given['plant_error'], 'plant_error', robot.model)
    scene = made.scene(error, moving, period_ns) | _values(given, simulator)
    if given['controller'] == 'external' and error != ModelError():
        scene['described'] = robot_parameter(given['robot'])  # not to tell it of the error
    return _nodes(given, task, made, scene, _believed(given, robot))


def run_designed(given: Mapping[str, str]) -> list[Any]:
    """Return the arm's nodes, paused, and a task, under a law that is designed as in a comparison.

    `given` are the values of the arguments of `task.launch.py`.
    """
    # These modules import every law.
    from arm_sim.experiments import over_topics
    from arm_sim.experiments.compared_laws import compared_laws

    robot = Robot.load(given['robot'], given['config'])
    loaded = over_topics.experiment_of(
        given, robot, _table(given, given['task']) | _mapping(given)
    )
    case = loaded.experiment
    simulator = over_topics.simulator_parameters(loaded, given['start'] == 'moving')
    controller = over_topics.controller_parameters(loaded) | _believed(given, robot)
    given = {**given, 'controller': compared_laws()[case.law][0]}
    # The limits in the robot's file are for controllers as they stand there, not for this design.
    design = f'{case.law}, designed for {case.natural_frequency:g} rad/s'
    return _nodes(given, case.task, loaded.task, simulator, controller, design)


def _nodes(
    given: Mapping[str, str],
    task: str,
    made: Task,
    simulator: Mapping[str, Any],
    controller: Mapping[str, Any],
    design: str = '',
) -> list[Any]:
    names = ('controller', 'start', 'engine', 'mode', 'output_dir')
    repeated = ('passes', 'learning_cutoff')
    stepping = ('timestep', 'control_decimation')
    law, level, mode = (given[name] for name in ('controller', 'feedforward', 'mode'))
    if law == 'external' and given['passes'] != '1':
        raise ArmError(
            f'task {task!r} learns from passes, by a law; controller {law!r} is not known as one'
        )
    space = namespace_of(given)
    told: dict[str, Any] = {
        'robot': robot_parameter(given['robot']),
        **{name: given[name] for name in names},
        'record': RECORD[given['record']],
        **_values(given, repeated),
        'feedforward': controller.get('feedforward', design or feedforward_of(law, level, mode)),
        **{name: controller[name] for name in stepping if name in controller},
    }
    for field in parameter_fields(made.Parameters):
        value = as_ros_value(getattr(made.parameters, field.name, None))
        if value not in (None, []) and not isinstance(value, Mapping):
            told[field.name] = value
    return [
        *arm_nodes(
            given,
            {**simulator, 'start_paused': True},
            controller,
            made.asks_ik,
            recorder=False,
        ),
        task_node(task, [config_file(given['robot'], given['config'], space), told], space),
    ]


def _table(given: Mapping[str, str], task: str) -> dict[str, Any]:
    """Return the argument `table` for a task that keeps clear of it."""
    known = {each.name for each in parameter_fields(task_class(task).Parameters)}
    return _values(given, known & {'table'})


def _believed(given: Mapping[str, str], robot: Robot) -> dict[str, Any]:
    """Return the controller's parameters for what the argument `model_error` says."""
    usual = ModelError()
    error = model_error_of(given['model_error'], 'model_error', robot.model)
    if error != usual and given['controller'] in ('none', 'external'):
        raise ArmError(
            f'model_error is what a controller of this package believes; controller '
            f'{given["controller"]!r} is none'
        )
    wrong = {name: value for name, value in vars(error).items() if value != getattr(usual, name)}
    return {f'{error.prefix}{name}': as_ros_value(value) for name, value in wrong.items()}


def _values(given: Mapping[str, str], names: Iterable[str]) -> dict[str, Any]:
    return {name: yaml_value(name, given[name]) for name in names if given[name]}


def _mapping(given: Mapping[str, str]) -> dict[str, Any]:
    """Return what the argument `parameters` says, where there is one."""
    text = given.get('parameters', '')
    told = yaml_value('parameters', text) or {}
    if not isinstance(told, dict):
        raise ArmError(f'parameters is {text!r}; it must be {{name: value}}')
    found: dict[str, Any] = {}
    for name, value in told.items():
        if not isinstance(name, str):
            raise ArmError(f'parameters has the name {name!r}; it must be a text')
        each = value.items() if isinstance(value, dict) else [(None, value)]
        found |= {f'{name}.{key}' if key else name: item for key, item in each}
    return found
