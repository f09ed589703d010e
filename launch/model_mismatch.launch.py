"""The arm is not the one that the laws know: error over one mismatch, law by law."""

from arm_sim.experiments.sweeps import SWEEPS
from arm_sim.launching import comparison
from arm_sim.launching.arguments import argument, description, shared
from arm_sim.tasks import task_names

ARGUMENTS = (
    *shared('robot'),
    argument('task', 'sinusoid', 'what to do', list(task_names())),
    argument('timestep', '0.001', 'step and control period [s]'),
    argument('sweep', 'mass_scale', 'what is varied', sorted(SWEEPS)),
    argument('values', '', 'separated by commas; empty: usual ones; of errors: payload=0.5, ...'),
    argument('laws', 'all', 'separated by commas'),
    *shared('engine'),
    argument(
        'over',
        'loop',
        'loop: lock-step without ROS, in seconds; topics: real nodes, one launch per run',
        ['loop', 'topics'],
    ),
    *shared('config', output_dir='mismatch_output'),
)


def mismatch(given: dict[str, str]) -> list:
    """Return the tool that sweeps."""
    names = {name: given[name] for name in ('laws', 'sweep', 'values', 'over', 'timestep')}
    case = {'robots': given['robot'], 'tasks': given['task'], 'engines': given['engine']}
    return comparison(given, **case, **names)


generate_launch_description = description(ARGUMENTS, mismatch)
