"""The main job: a UR5e draws a cube over ROS 2 topics and reports its errors."""

from arm_sim.launching.arguments import ARM, description, shared
from arm_sim.launching.tasks import run_task, task_arguments

PARAMETERS = ('path', 'center', 'side', 'edge_time')
ARGUMENTS = (
    *shared(*ARM, 'plant_error', 'model_error', 'passes', 'learning_cutoff', 'record'),
    *shared(output_dir='cube_output'),
    *task_arguments('cube', *PARAMETERS),
)


def cube(given: dict[str, str]) -> list:
    """Return the arm's nodes, paused, and the task."""
    return run_task({**given, 'start': 'rest'}, 'cube', PARAMETERS)


generate_launch_description = description(ARGUMENTS, cube)
