"""Error of each law over one model error: the arm differs from the model of the law."""

from arm_sim.experiments.sweeps import SWEEPS
from arm_sim.launching.arguments import argument, description, shared
from arm_sim.launching.extras import comparison
from arm_sim.tasks import task_names

ARGUMENTS = (
    *shared('robot'),
    argument('task', 'sinusoid', 'task that the arm performs', list(task_names())),
    argument('timestep', '0.001', 'integration step and control period [s]'),
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
    return comparison(given, **case, **names)


generate_launch_description = description(ARGUMENTS, mismatch)
