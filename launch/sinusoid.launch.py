"""A sinusoid in joint space under any controller, on an arm that may differ from its model."""

from arm_dynamics.checks import ArmError
from arm_sim.launching import comparison
from arm_sim.launching.arguments import argument, description, shared
from arm_sim.launching.tasks import run_task, task_arguments

PARAMETERS = ('amplitude', 'frequency', 'cycles', 'limit')
ARGUMENTS = (
    *shared(robot='planar_3r', controller='pd_feedforward'),
    *shared('engine', 'mode', 'feedforward', 'config', 'viewer', 'plot', 'rviz', 'start'),
    *shared('composed', 'record'),
    *task_arguments('sinusoid', *PARAMETERS[1:3], amplitude='', limit='0.5'),  # the published bar
    *shared('plant_error', 'model_error'),
    argument(
        'sweep',
        'none',
        'error over frequency (0.1 to 5 Hz) of every law instead: in the loop without ROS, in '
        'seconds, or over topics, one launch per run',
        ['none', 'loop', 'topics'],
    ),
    *shared(output_dir='sinusoid_output'),
)


def sinusoid(given: dict[str, str]) -> list:
    """Return the arm's nodes, paused, and the task that moves them, or the tool that sweeps."""
    if given['sweep'] == 'none':
        return run_task(given, 'sinusoid', PARAMETERS)
    for name in ('plant_error', 'model_error'):
        if given[name] != '{}':
            raise ArmError(
                f'{name} is for one run, not a sweep; model_mismatch.launch.py sweeps it'
            )
    options = {'robots': given['robot'], 'engines': given['engine'], 'over': given['sweep']}
    return comparison(given, sweep='frequency', **options)


generate_launch_description = description(ARGUMENTS, sinusoid)
