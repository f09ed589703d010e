"""Error of each law over one model error: the arm differs from the model of the law."""

from arm_dynamics.parameters import Stepping
from arm_lab.experiments.sweeps import SWEEPS
from arm_sim.launching.arguments import argument, description, of_parameters, shared
from arm_sim.launching.comparison import comparison
from arm_sim.tasks import task_names
from arm_tools.view.ros.view_launch import view

ARGUMENTS = (
    *shared('robot'),
    argument('task', 'sinusoid', 'task that the arm performs', list(task_names())),
    *of_parameters(Stepping, timestep='0.001'),
    argument(
        'sweep',
        'mass_scale',
        'model error, drive parameter or frequency that varies from run to run',
        sorted(SWEEPS),
    ),
    argument(
        'values',
        '',
        'values of the sweep, separated by commas; for errors: payload=0.5, ...; empty: '
        'default values',
    ),
    argument('laws', 'all', 'names of control laws, separated by commas, or all'),
    *shared('engine'),
    argument(
        'over',
        'loop',
        'loop: lock-step without ROS, in seconds; topics: nodes of ROS, with one launch per run',
        ['loop', 'topics'],
    ),
    *shared('config', 'scene', output_dir='mismatch_output'),
)


def mismatch(given: dict[str, str]) -> list:
    """Return the command that sweeps."""
    names = {name: given[name] for name in ('laws', 'sweep', 'values', 'over', 'timestep')}
    case = {'robots': given['robot'], 'tasks': given['task'], 'engines': given['engine']}
    return comparison(given, view(given), **case, **names)


generate_launch_description = description(ARGUMENTS, mismatch)
