"""Which law a task needs."""

from collections.abc import Mapping

from arm_controllers.laws import LAWS, Law
from arm_dynamics.checks import ArmError
from arm_sim.simulation.driving_laws import described, drives
from arm_sim.tasks._task import Task


def suitable_law(task: Task) -> str:
    """Return the name of a law that suits a task, where none is given."""
    return 'computed_torque' if task.wrench is None else 'hybrid_force_motion'


def suits(task: Task, law: type[Law] | None) -> bool:
    """Return whether a task means something under a law; None: what is no law."""
    return task.wrench is None or (law is not None and bool(law.wrench_goal))


def check_law(
    task: Task, of_task: str, name: str, law: type[Law] | None, simulator: Mapping[str, object]
) -> None:
    """Refuse a law under which a task means nothing, both with their names; None: it is no law.

    `simulator`: parameters of the simulator.

    Raises:
        ArmError: names laws that the task can have on this arm.
    """
    if task.wrench is None:
        return
    able = {each: kind for each, kind in LAWS.load_all().items() if kind.wrench_goal}
    able_here = [each for each, kind in able.items() if drives(kind, simulator)]
    if not able_here:
        raise ArmError(
            f'task {of_task!r} needs a law that follows forces ({", ".join(able)}); '
            f'{described(task.robot.name, simulator)} takes none of their commands: another '
            'robot, such as robot:=ur5e engine:=mujoco'
        )
    if law is None or not suits(task, law) or not drives(law, simulator):
        best = 'hybrid_force_motion' if 'hybrid_force_motion' in able_here else able_here[0]
        raise ArmError(
            f'task {of_task!r} needs a law that follows forces, and {name!r} does not: '
            f'law:={best}, or another of {", ".join(able_here)}; a law of yours sets wrench_goal'
        )
