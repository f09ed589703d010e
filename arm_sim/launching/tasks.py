"""The launch files of tasks: the arm's nodes, the task, and its parameters."""

from collections.abc import Iterable, Mapping

from launch.actions import DeclareLaunchArgument
from launch_ros.parameter_descriptions import ParameterValue

from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_file import mapping, yaml_value
from arm_controllers.parameter_values import as_ros_value, parameter_fields, read_fields
from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError
from arm_dynamics.parameters import Stepping, changed
from arm_dynamics.plugins import extension
from arm_dynamics.temporary_folder import temporary_folder
from arm_sim.launching.arguments import RECORD, law_word, namespace_of, of_parameters
from arm_sim.launching.arm import arm_nodes
from arm_sim.launching.checked import check_folder
from arm_sim.launching.processes import task_node
from arm_sim.loop.differences import errors_of
from arm_sim.robot import Robot, model_error_of
from arm_sim.ros.config import config_file, feedforward_of, robot_parameters
from arm_sim.ros.task_parameters import TaskNodeParameters
from arm_sim.simulation.scene import read_objects, read_scene
from arm_sim.tasks import Task, make_task, simulator_of, task_class
from arm_sim.tasks._laws import check_law, suitable_law


def task_arguments(task: str, *names: str, **others: str) -> list[DeclareLaunchArgument]:
    """Declare parameters of a task as arguments, `names` with their default value."""
    return of_parameters(task_class(task).Parameters, *names, group='task', **others)


def run_arm(given: Mapping[str, str], simulator: Iterable[str] = ()) -> list[object]:
    """Return the arm's nodes alone; `simulator` as for `run_task`."""
    parameters = _values(given, simulator)
    return arm_nodes(given, parameters, inverse_kinematics=False, recorder=False)


def run_task(
    given: Mapping[str, str],
    task: str,
    parameters: Iterable[str] = (),
    simulator: Iterable[str] = (),
) -> list[object]:
    """Return the arm's nodes, paused, and a task, under a controller with the gains of the files.

    Args:
        given: values of all arguments.
        task: its name.
        parameters, simulator: names of the arguments that are parameters of the task and of the
            simulator; an empty value leaves the parameter to the robot's files.
    """
    robot = Robot.load(given['robot'], given['config'])
    made = make_task(
        task, robot, _table(given, task) | _values(given, parameters) | _mapping(given)
    )
    given = _with_start(given, task, made)
    _check(given, task, made)
    period_ns = read_fields(Stepping, robot.parameters('simulator')).period_ns
    moving = given['start'] == 'moving'
    error = model_error_of(given['plant_error'], 'plant_error', robot.model)
    scene = simulator_of(made, error, moving, period_ns) | _values(given, simulator)
    if given['controller'] == 'external' and error != ModelError():
        described = temporary_folder() / f'{robot.name}.urdf'  # the controller must not know it
        described.write_text(robot.model.description)
        scene['described'] = str(described)
    return _nodes(given, task, made, error, scene, _model_error(given, robot))


def law_of(given: Mapping[str, str], task: str) -> str:
    """Return the law of the arguments `law` and `controller`; without them one that suits a task.

    Raises:
        ArmError: two laws, or an unknown one.
    """
    law = law_word(given)
    if law:
        return law
    robot = Robot.load(given['robot'], given['config'])
    made = make_task(task, robot, _table(given, task) | _mapping(given))
    return suitable_law(made)


def run_designed(given: Mapping[str, str]) -> list[object]:
    """Return the arm's nodes, paused, and a task, under a law designed as in a comparison.

    `given` are the values of the arguments of `task.launch.py`.
    """
    over_topics = extension('arm_sim.designs', 'over_topics')  # imports every law
    robot = Robot.load(given['robot'], given['config'])
    loaded = over_topics.experiment_of(
        given, robot, _table(given, given['task']) | _mapping(given)
    )
    case = loaded.experiment
    given = _with_start(given, case.task, loaded.task)
    simulator = over_topics.simulator_parameters(loaded, given['start'] == 'moving')
    controller = over_topics.controller_parameters(loaded) | _model_error(given, robot)
    given = {**given, 'controller': loaded.law_name}
    _check(given, given['task'], loaded.task)
    # The limits in the robot's file hold for the gains in that file, not for this design.
    design = f'{case.law}, designed for {case.natural_frequency:g} rad/s'
    return _nodes(given, case.task, loaded.task, case.error, simulator, controller, design)


def _nodes(
    given: Mapping[str, str],
    task: str,
    made: Task,
    error: ModelError,
    simulator: Mapping[str, object],
    controller: Mapping[str, object],
    design: str = '',
) -> list[object]:
    names = ('controller', 'start', 'engine', 'mode', 'output_dir')
    repeated = ('passes', 'learning_cutoff')
    stepping = ('timestep', 'control_decimation')
    law, level, mode = (given[name] for name in ('controller', 'feedforward', 'mode'))
    if law == 'external' and given['passes'] != '1':
        raise ArmError(
            f'passes is {given["passes"]}; with controller {law!r} only 1 is allowed, since '
            f'task {task!r} learns from each pass by a law of this package'
        )
    read_fields(TaskNodeParameters, _values(given, repeated))
    check_folder(given['output_dir'])
    space = namespace_of(given)
    files = made.robot.parameters('simulator')
    parameters: dict[str, object] = {
        **robot_parameters(given['robot'], made.robot.model, files),
        **{name: given[name] for name in names},
        'record': RECORD[given['record']],
        **_values(given, repeated),
        'feedforward': controller.get('feedforward', design or feedforward_of(law, level, mode)),
        **{name: controller[name] for name in stepping if name in controller},
    }
    simulated = files | dict(simulator)
    if integrator := given['integrator'] or simulated.get('integrator'):
        parameters['integrator'] = integrator
    if errors := errors_of(given):
        parameters['errors'] = ParameterValue(errors, value_type=str)
    if error.of_geometry:
        parameters['length_scale'] = as_ros_value(error.length_scale)
    if faults := given['faults'] or files.get('faults'):
        parameters['faults'] = ParameterValue(faults, value_type=str)
    for field in parameter_fields(made.Parameters):
        value = as_ros_value(getattr(made.parameters, field.name, None))
        if value not in (None, []) and not isinstance(value, Mapping):
            parameters[field.name] = value
    return [
        # A gripper that the task has no goals for is held by the law of the arm, as in the loop.
        *arm_nodes(
            given,
            {**simulator, 'start_paused': True},
            controller,
            made.asks_ik,
            recorder=False,
            gripper_controller=bool(made.gripper) or law == 'external',
        ),
        task_node(task, [config_file(given['robot'], given['config'], space), parameters], space),
    ]


def _with_start(given: Mapping[str, str], task: str, made: Task) -> dict[str, str]:
    """Return the arguments with a start: where none is given, one that the mode allows.

    Raises:
        ArmError: an arm that is to start in motion, in real time.
    """
    is_realtime = given['mode'] == 'realtime'
    start = given['start'] or ('rest' if is_realtime else 'moving')
    if is_realtime and start == 'moving' and made.start.v.any():
        raise ArmError(
            f'start is moving and mode is realtime: the arm of task {task!r} would move '
            'before its goal comes; allowed: start:=rest, or mode:=lockstep'
        )
    return {**given, 'start': start}


def _check(given: Mapping[str, str], task: str, made: Task) -> None:
    """Refuse a law or a scene that a task cannot have.

    Raises:
        ArmError: names the argument, and what to give in its place.
    """
    law, scene = given['controller'], given.get('scene', '')
    if law != 'external':
        kind = law_class(law) if law in law_names() else None
        own = made.robot.parameters('simulator') | {'engine': given['engine']}
        own |= _values(given, ['integrator'])
        check_law(made, task, law, kind, own)
    if scene and made.simulator.get('scene') not in (None, scene):
        raise ArmError(f'task {task!r} has a scene of its own; leave scene:={scene} out')
    if scene and not scene.endswith('.xml'):
        brought = {each.name for each in read_objects(made.simulator.get('objects', ''))}
        for name in brought & {each.name for each in read_scene(scene)}:
            raise ArmError(
                f'task {task!r} brings {name!r}, and so does the scene: leave scene:={scene} out'
            )


def _table(given: Mapping[str, str], task: str) -> dict[str, object]:
    """Return the argument `table` for a task that keeps clear of the table."""
    known = {each.name for each in parameter_fields(task_class(task).Parameters)}
    return _values(given, known & {'table'})


def _model_error(given: Mapping[str, str], robot: Robot) -> dict[str, object]:
    """Return the controller's parameters for the argument `model_error`."""
    error = model_error_of(given['model_error'], 'model_error', robot.model)
    if error != ModelError() and given['controller'] in ('none', 'external'):
        raise ArmError(
            'model_error changes the model of a controller of this package; '
            f'controller {given["controller"]!r} has none'
        )
    return {f'{error.prefix}{name}': as_ros_value(value) for name, value in changed(error).items()}


def _values(given: Mapping[str, str], names: Iterable[str]) -> dict[str, object]:
    return {name: yaml_value(name, given[name]) for name in names if given[name]}


def _mapping(given: Mapping[str, str]) -> dict[str, object]:
    """Return the values of the argument `parameters`, where the launch file has that."""
    values = yaml_value('parameters', given.get('parameters', ''))
    found: dict[str, object] = {}
    for name, value in mapping('parameters', values).items():
        items = value.items() if isinstance(value, dict) else [(None, value)]
        found |= {f'{name}.{key}' if key else name: item for key, item in items}
    return found
