"""The arm picks up a drawn block, and puts it down at another place."""

from arm_sim.launching.arguments import description, shared
from arm_sim.launching.tasks import run_task, task_arguments

PARAMETERS = ('number', 'seed', 'max_effort')
ARGUMENTS = (
    *shared(robot='ur5e', gripper='parallel', controller='computed_torque'),
    *shared(
        'gripper_frame', 'engine', 'mode', 'feedforward', 'policy', 'config', 'viewer', 'rviz'
    ),
    *shared('start'),
    *shared('composed', 'record', 'scene'),
    *task_arguments('pick_and_place', *PARAMETERS),
    *shared(output_dir='pick_and_place_output'),
)


def pick_and_place(given: dict[str, str]) -> list:
    """Return the nodes of the arm and of its gripper, paused, and the task."""
    return run_task(given, 'pick_and_place', PARAMETERS)


generate_launch_description = description(ARGUMENTS, pick_and_place)
