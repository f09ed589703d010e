"""The same tasks under every law over the real nodes, one after the other, and one table."""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument

from arm_sim.comparison.laws import compared_laws
from arm_sim.launching import description_of, tool
from arm_sim.tasks.comparison_tasks import TASKS

MANY = 'one or more, separated by commas'
ARGUMENTS = (
    DeclareLaunchArgument(
        'robots', default_value='planar_3r', description=f'robots, or paths of URDFs, {MANY}'
    ),
    DeclareLaunchArgument(
        'tasks', default_value='sinusoid', description=f'{MANY}, or all: {", ".join(TASKS)}'
    ),
    DeclareLaunchArgument(
        'laws', default_value='all', description=f'{MANY}, or all: {", ".join(compared_laws())}'
    ),
    DeclareLaunchArgument(
        'engine', default_value='mujoco', description=f'{MANY}, or all: mujoco, analytical'
    ),
    DeclareLaunchArgument(
        'output_dir', default_value='comparison', description='folder for table and picture'
    ),
)


def compare(context: LaunchContext) -> list:
    """Return the tool that launches task after task."""
    given = context.launch_configurations
    arguments = [f'--engines={given["engine"]}']
    arguments += [f'--{name}={given[name]}' for name in ('robots', 'tasks', 'laws')]
    arguments += ['--over', 'topics', '--output-dir', given['output_dir']]
    return [tool('compare_controllers', arguments)]


def generate_launch_description() -> LaunchDescription:
    """Compare over topics."""
    return description_of(ARGUMENTS, compare)
