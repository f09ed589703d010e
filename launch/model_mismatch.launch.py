"""Error of each law over one model error: the arm differs from the model of the law."""

from arm_sim.experiments.sweeps import SWEEPS
from arm_sim.launching import comparison
from arm_sim.launching.arguments import argument, description, shared
from arm_sim.tasks import task_names

ARGUMENTS = (
    *shared('robot'),
    argument('task', 'sinusoid', 'task to run', list(task_names())),
    argument('timestep', '0.001', 'integration step and control period [s]'),
    argument('sweep', 'mass_scale', 'quantity to vary', sorted(SWEEPS)),
    argument(
        'values',
        '',
        'values, separated by commas; empty: default ones; for errors: payload=0.5, ...',
    ),
    argument('laws', 'all', 'control laws, separated by commas, or all'),
    *shared('engine'),
    argument(
        'over',
        'loop',
        'loop: lock-step without ROS, takes seconds; topics: nodes, one launch per run',
        ['loop', 'topics'],
    ),
    *shared('config', output_dir='mismatch_output'),
)


def mismatch(given: dict[str, str]) -> list:
    """Return the command that sweeps."""
    names = {name: given[name] for name in ('laws', 'sweep', 'values', 'over', 'timestep')}
    case = {'robots': given['robot'], 'tasks': given['task'], 'engines': given['engine']}
    return comparison(given, **case, **names)


generate_launch_description = description(ARGUMENTS, mismatch)
