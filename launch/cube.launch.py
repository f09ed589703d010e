"""The main job: a UR5e draws a cube over ROS 2 topics and says how well."""

from launch import LaunchDescription

from arm_sim.ros.launch_arguments import ARM, description, shared
from arm_sim.ros.task_launch import run_task, task_arguments

PARAMETERS = ('path', 'center', 'side', 'edge_time')


def generate_launch_description() -> LaunchDescription:
    """Bring up the arm and the cube task."""
    arguments = [*shared(*ARM, output_dir='cube_output'), *task_arguments('cube', *PARAMETERS)]
    return description(
        arguments, lambda given: run_task({**given, 'start': 'rest'}, 'cube', PARAMETERS)
    )
