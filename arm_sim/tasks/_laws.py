"""Which law a task needs."""

from arm_controllers.laws import LAWS, Law
from arm_dynamics.checks import ArmError
from arm_sim.tasks._task import Task


def suitable_law(task: Task) -> str:
    """Return the name of a law that suits a task, where none is given."""
    return 'computed_torque' if task.wrench is None else 'hybrid_force_motion'


def suits(task: Task, law: type[Law] | None) -> bool:
    """Return whether a task means something under a law; None: what is no law."""
    return task.wrench is None or (law is not None and bool(law.wrench_goal))


def check_law(task: Task, of_task: str, name: str, law: type[Law] | None) -> None:
    """Refuse a law under which a task means nothing, both with their names; None: it is no law.

    Raises:
        ArmError: names laws that the task can have.
    """
    if suits(task, law):
        return
    able = ', '.join(name for name, each in LAWS.load_all().items() if each.wrench_goal)
    raise ArmError(
        f'task {of_task!r} needs a law that follows forces, and {name!r} does not: '
        f'law:=hybrid_force_motion, or another of {able}; a law of yours sets wrench_goal'
    )
