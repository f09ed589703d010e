"""Tasks by name: one file each in this folder, or a plugin of the group `arm_sim.tasks`.

A file `my_task.py` with a class `MyTask(Task)` is a task of that name. The loop without ROS and
the task node run the same object; `Task` says which hooks it may fill, `TaskReport` those of its
report.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from arm_controllers.parameter_values import parameter_fields, read_fields
from arm_dynamics.checks import unknown
from arm_dynamics.model_error import ModelError
from arm_dynamics.plugins import PluginRegistry
from arm_sim.robot import Robot
from arm_sim.tasks._evaluation import TaskEvaluation
from arm_sim.tasks._report import Run, TaskReport
from arm_sim.tasks._task import Task

__all__ = [
    'TASKS', 'Run', 'Task', 'TaskEvaluation', 'TaskReport', 'compared_tasks', 'make_task',
    'simulator_of', 'task_class', 'task_classes', 'task_names',
]  # fmt: skip

TASKS = PluginRegistry('task', __name__, 'arm_sim.tasks', ('Parameters', 'reference'))


def task_names() -> tuple[str, ...]:
    """Return the names of all tasks, sorted; no task is imported."""
    return TASKS.names()


def task_class(name: str) -> Any:
    """Return a task's class, to be built as task(robot, task.Parameters(...)).

    Raises:
        ArmError: no such task, or a plugin that cannot be imported.
    """
    return TASKS.load(name)


task_classes = TASKS.load_all  # returns all tasks by name


def compared_tasks() -> tuple[str, ...]:
    """Return the names of the tasks that laws are compared on, in order."""
    places = {name: task.evaluation.compared for name, task in task_classes().items()}
    compared = [(place, name) for name, place in places.items() if place is not None]
    return tuple(name for _, name in sorted(compared))


def make_task(name: str, robot: Robot, given: Mapping[str, object] = MappingProxyType({})) -> Any:
    """Return a task for this robot; `given` parameters replace those in the robot's files.

    Raises:
        ArmError: no such task, a value that is not allowed, or the robot cannot do it.
    """
    task = task_class(name)
    known = [field.name for field in parameter_fields(task.Parameters)]
    for each in given:
        if each.partition('.')[0] not in known:
            raise unknown(f'parameter of task {name!r}:', each, known)
    values = robot.parameters(*task.sections, f'{name}_task') | dict(given)
    return task(robot, read_fields(task.Parameters, values))


def simulator_of(task: Task, error: ModelError, moving: bool, period_ns: int) -> dict[str, Any]:
    """Return the parameters of the simulator for a task, on an arm with a model error.

    `moving`: the arm starts on the reference, else at the robot's own start.
    """
    from arm_sim.tasks._fitting import check  # of launch files, and of no node

    check(task)
    parameters = task.robot.with_error(error) | dict(task.simulator)
    if task.payload:
        parameters |= {'payload': task.payload}
    if task.drop_at is not None:
        start_ns = 0 if moving else task.goal_from(task.robot.start, period_ns)[1]
        periods = round((start_ns + task.drop_at * 1e9) / period_ns)
        parameters |= {'payload_end': periods * period_ns * 1e-9}
    if moving:
        parameters |= {'initial_positions': task.start.q.tolist()}
        parameters |= {'initial_velocities': task.start.v.tolist()}
    return parameters
