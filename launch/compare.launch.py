"""The same tasks under every law, over topics, one run after the other, and one table."""

from arm_lab.experiments.compared_laws import compared_laws
from arm_sim.launching.arguments import argument, description, shared
from arm_sim.launching.comparison import comparison
from arm_sim.simulation.plant import RIGID_BODY_ENGINES
from arm_sim.tasks import task_names
from arm_tools.view.ros.view_launch import view

MANY = 'separated by commas'
ARGUMENTS = (
    argument('robots', 'planar_3r', f'names of robots or paths of their files, {MANY}'),
    argument('tasks', 'sinusoid', f'names of tasks, {MANY}, or all: {", ".join(task_names())}'),
    argument('laws', 'all', f'control laws, {MANY}, or all: {", ".join(compared_laws())}'),
    argument(
        'engine', 'mujoco', f'physics engines, {MANY}, or all: {", ".join(RIGID_BODY_ENGINES)}'
    ),
    *shared('config', 'scene', output_dir='comparison'),
)


def compare(given: dict[str, str]) -> list:
    """Return the command that launches task after task."""
    names = {name: given[name] for name in ('robots', 'tasks', 'laws')}
    return comparison(given, view(given), engines=given['engine'], over='topics', **names)


generate_launch_description = description(ARGUMENTS, compare)
