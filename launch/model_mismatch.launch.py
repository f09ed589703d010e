"""The arm is not the one that the laws know: error over one mismatch, law by law."""

from arm_sim.comparison.sweeps import SWEEPS
from arm_sim.launching import comparison
from arm_sim.launching.arguments import argument, description, shared

ARGUMENTS = (
    *shared('robot'),
    argument('sweep', 'mass_scale', 'what is varied', sorted(SWEEPS)),
    argument('values', '', 'its values, separated by commas; empty: usual ones'),
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
    names = {name: given[name] for name in ('laws', 'sweep', 'values', 'over')}
    robot = {'robots': given['robot'], 'engines': given['engine']}
    return comparison(given, **robot, **names)


generate_launch_description = description(ARGUMENTS, mismatch)
