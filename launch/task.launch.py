"""Any task on any robot, under a law designed for the robot or with the gains of its file."""

from arm_dynamics.parameters import Stepping
from arm_lab.experiments.compared_laws import compared_laws
from arm_sim.launching.arguments import (
    ARM,
    CONTROLLERS,
    argument,
    description,
    of_parameters,
    shared,
)
from arm_sim.launching.tasks import run_designed, run_task
from arm_sim.tasks import task_names

ARGUMENTS = (
    argument('task', 'sinusoid', 'task that the arm performs', list(task_names())),
    argument(
        'law',
        'computed_torque',
        f'control law, designed for natural_frequency: {", ".join(compared_laws())}',
    ),
    argument(
        'controller',
        '',
        "control law with the parameters of the robot's file, instead of `law`; external: a "
        'node of yours commands the arm; empty: `law`',
        ['', *CONTROLLERS],
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


def task(given: dict[str, str]) -> list:
    """Return simulator, paused, controller and task."""
    return run_task(given, given['task']) if given['controller'] else run_designed(given)


generate_launch_description = description(ARGUMENTS, task)
