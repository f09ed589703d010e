"""A sinusoid in joint space under any controller, also on an arm with model error."""

from arm_dynamics.checks import ArmError
from arm_sim.launching.arguments import argument, description, shared
from arm_sim.launching.comparison import comparison
from arm_sim.launching.needs import Need
from arm_sim.launching.tasks import run_task, task_arguments
from arm_tools.view.ros.view_launch import view

PARAMETERS = ('amplitude', 'frequency', 'cycles', 'limit')
ARGUMENTS = (
    *shared(robot='planar_3r', controller='pd_feedforward'),
    *shared(
        'engine',
        'integrator',
        'mode',
        'feedforward',
        'policy',
        'config',
        'viewer',
        'plot',
        'rviz',
        'start',
    ),
    *shared('composed', 'record', 'scene'),
    *task_arguments('sinusoid', *PARAMETERS[1:3], amplitude='', limit='0.5'),  # the published bar
    *shared('plant_error', 'model_error'),
    argument(
        'sweep',
        'none',
        'instead of one run, a sweep of the frequency from 0.1 to 5 Hz for every law; loop: '
        'without ROS, in seconds; topics: nodes of ROS, with one launch per run',
        ['none', 'loop', 'topics'],
    ),
    *shared(output_dir='sinusoid_output'),
)


_OF_ONE_RUN = (
    'controller', 'integrator', 'mode', 'feedforward', 'policy', 'viewer', 'plot', 'rviz',
    'start', 'composed', 'record', *PARAMETERS,
)  # fmt: skip
NEEDS = (Need(_OF_ONE_RUN, lambda given: given['sweep'] == 'none', 'sweep:=none, one run'),)


def sinusoid(given: dict[str, str]) -> list:
    """Return the arm's nodes, paused, and the task; or the command that sweeps."""
    if given['sweep'] == 'none':
        return run_task(given, 'sinusoid', PARAMETERS)
    for name in ('plant_error', 'model_error'):
        if given[name] != '{}':
            raise ArmError(
                f'{name} holds for one run, not for a sweep; model_mismatch.launch.py sweeps it'
            )
    options = {'robots': given['robot'], 'engines': given['engine'], 'over': given['sweep']}
    return comparison(given, view(given), sweep='frequency', **options)


generate_launch_description = description(ARGUMENTS, sinusoid, NEEDS)
