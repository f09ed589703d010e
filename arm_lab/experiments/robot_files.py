"""A robot with its parameter file, whose names are known without the nodes that have them."""

from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from multiprocessing import parent_process
from pathlib import Path

from arm_controllers.drive_convention import DriveConvention
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_file import SHARED, read_parameter_file
from arm_controllers.parameter_values import parameter_fields
from arm_dynamics.checks import ArmError, say_once, some_of, unknown
from arm_dynamics.model_error import ModelError
from arm_dynamics.robots import ArmParameters
from arm_sim.registered import OF_MANY, nodes
from arm_sim.robot import Robot
from arm_sim.simulation.plant import engine_classes, engine_names
from arm_sim.tasks import task_classes

_CLOSE = 0.8  # likeness of a name and what is meant, as long and with the same beginning [1]


def load_robot(name: str, config: str = '', plain: bool = False) -> Robot:
    """Return a robot with a parameter file.

    `plain`: the plant takes nothing of the file, which a line says.

    Raises:
        ArmError: as `Robot.load`; no node is called like a section of the file, a parameter is
            called almost like one that there is, or it is of a node's own arm.
    """
    robot = Robot.load(name, config)
    sections = read_parameter_file(Path(config)) if config else {}
    of_laws = (f'{law}_controller' for law in law_names())
    of_tasks = (f'{task}_task' for task in task_classes())
    names = {*nodes(), *of_laws, *of_tasks, 'comparison_task'} - {*OF_MANY}
    for section, values in sections.items():
        if section != SHARED and section not in names:
            raise unknown(f'node in {config}:', section, names)
        for each in values:
            if is_misspelt(each):
                raise unknown(f'parameter of {section} in {config}:', each, known_names())
            if section == 'simulator' and each in OF_ARM:
                raise ArmError(
                    f'{config}: {each!r} of simulator is for launch files: without ROS the '
                    f"arm's is in {SHARED}, and plant_error has what the law does not know"
                )
    unused = {*sections.get('simulator', {})} - {'initial_positions'}  # which `Robot.load` uses
    if plain and unused and not parent_process():  # a worker's parent has said so
        say_once(
            f'{config}: not used of simulator: {some_of(sorted(unused))}: give drives, joints, '
            'sensors, or --timestep 0, with which the simulator is that of the file'
        )
    return robot


OF_ARM = [each.name for each in parameter_fields(ArmParameters) if each.name != 'robot']


def is_misspelt(name: str) -> bool:
    """Return whether a name is almost one that is known; nodes have others, unknown here."""
    alike = [x for x in known_names() if x[:1] == name[:1] and abs(len(x) - len(name)) < 2]
    return name not in alike and bool(get_close_matches(name, alike, 1, _CLOSE))


@cache
def known_names() -> tuple[str, ...]:
    """Return the names of parameters of arms, engines, laws, goals and tasks, sorted."""
    return tuple(sorted({*_known_names()}))


def _known_names() -> Iterator[str]:
    kinds: list[type] = [ArmParameters, DriveConvention, FollowerParameters]
    kinds += [engine.Parameters for engine in engine_classes(engine_names()).values()]
    kinds += [task.Parameters for task in task_classes().values()]
    for law in law_names():
        with suppress(ArmError):  # a plugin that cannot be imported
            kinds.append(law_class(law).Parameters)
    prefixed = (ModelError, 'model_error.'), (GuardParameters, GuardParameters.prefix)
    for kind, prefix in (*((kind, '') for kind in kinds), *prefixed):
        for field in parameter_fields(kind, prefix):
            yield from field.names or [field.name]
