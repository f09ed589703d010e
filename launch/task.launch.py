"""Any task on any robot, under a law designed for the robot or with the gains of its file."""

from arm_controllers.laws import law_class, law_names
from arm_dynamics.parameters import Stepping
from arm_lab.experiments.compared_laws import compared_laws
from arm_sim.launching.arguments import (
    ARM,
    CONTROLLERS,
    argument,
    description,
    number_of,
    of_parameters,
    shared,
)
from arm_sim.launching.needs import Need, sees_table
from arm_sim.launching.tasks import law_of, run_designed, run_task
from arm_sim.tasks import task_class, task_names

ARGUMENTS = (
    argument('task', 'sinusoid', 'task that the arm performs', list(task_names())),
    argument(
        'law',
        '',
        'control law that commands the arm; external: a node of yours commands the arm; empty: '
        'computed_torque, or hybrid_force_motion where the task needs a force',
        ['', *dict.fromkeys([*compared_laws(), *CONTROLLERS])],
    ),
    argument(
        'controller',
        '',
        "another word for `law`, with the gains of the robot's file where `gains` is empty",
        ['', *dict.fromkeys([*compared_laws(), *CONTROLLERS])],
    ),
    argument(
        'gains',
        '',
        "gains of the law: designed for natural_frequency, or from the robot's file; empty: "
        'designed, where the law has a design',
        ['', 'designed', 'file'],
    ),
    *of_parameters(Stepping, timestep='0.001'),
    argument(
        'natural_frequency', '20.0', 'natural frequency that the law is designed for [rad/s]'
    ),
    argument(
        'frequency', '0.0', "frequency of the task sinusoid under `law` [Hz]; 0: the robot's own"
    ),
    argument(
        'parameters',
        '{}',
        'parameters of the task, e.g. "{cycles: 3}"; the others are in the robot\'s file',
    ),
    *shared(*(name for name in ARM if name != 'controller'), 'start', 'output_dir'),
    *shared('plant_error', 'model_error', 'passes', 'learning_cutoff', 'record'),
)


def _is_policy(law: str) -> bool:
    return law in law_names() and law_class(law).evaluation.of_file


def _law(given: dict[str, str]) -> tuple[str, bool]:
    """Return the law, and whether it is designed: else its gains are of the robot's file."""
    law = law_of(given, given['task'])
    label = law not in CONTROLLERS  # a variant of a law, which is designed only
    designed = law in compared_laws() or (not label and _is_policy(law))
    usual = 'designed' if label or (designed and not given['controller']) else 'file'
    return law, (given['gains'] or usual) == 'designed'


def _is_designed(given: dict[str, str]) -> bool:
    return _law(given)[1]


def _has_natural_frequency(given: dict[str, str]) -> bool:
    return number_of(given, 'natural_frequency') == 0 or _is_designed(given)  # 0: of the file


def _has_frequency(given: dict[str, str]) -> bool:
    return given['task'] == 'sinusoid' and _is_designed(given)


def _has_table(given: dict[str, str]) -> bool:
    return hasattr(task_class(given['task']).Parameters, 'table') or sees_table(given)


NEEDS = (
    Need(('timestep',), _is_designed, 'gains:=designed'),
    Need(('natural_frequency',), _has_natural_frequency, 'gains:=designed'),
    Need(('frequency',), _has_frequency, 'task:=sinusoid and gains:=designed'),
    Need(('table',), _has_table, 'contacts:=true, view, viewer, camera or task:=cube'),
)


def task(given: dict[str, str]) -> list:
    """Return simulator, paused, controller and task."""
    law, designed = _law(given)
    if not designed:
        return run_task({**given, 'controller': law}, given['task'])
    if _is_policy(law) and given['policy']:
        law = f'{law}:{given["policy"]}'
    return run_designed({**given, 'law': law})


generate_launch_description = description(ARGUMENTS, task, NEEDS)
