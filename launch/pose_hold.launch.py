"""The published five-joint arm with DC motors holds a pose; J equals the model's prediction."""

from arm_sim.launching.arguments import description, shared
from arm_sim.launching.tasks import run_task, task_arguments

PARAMETERS = ('target', 'duration')
ARGUMENTS = (
    *shared('config', 'composed', 'record', controller='pose_pid', output_dir='pose_hold_output'),
    *task_arguments('pose_hold', 'duration', target='[0.0, -1.1, 0.3, 0.0, 0.0]'),
)


def pose_hold(given: dict[str, str]) -> list:
    """Return simulator, controller and task."""
    given |= {'robot': 'five_joint_arm', 'engine': 'analytical'}
    return run_task(given, 'pose_hold', PARAMETERS)


generate_launch_description = description(ARGUMENTS, pose_hold)
