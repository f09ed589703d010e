"""A motion model as the engine: an arm and its controller of low fidelity, in one node.

Send goals to /simulator/follow_joint_trajectory; `joint_states` shows how the model moves.
"""

from arm_dynamics.published.motion_models import MOTION_TYPES
from arm_sim.ros.launch_arguments import argument, description, shared
from arm_sim.ros.task_launch import run_arm, run_task

SIMULATOR = ('motion_type', 'natural_frequency', 'damping_ratio', 'settling_time', 'overshoot')
ARGUMENTS = (
    *shared('robot', 'mode', output_dir='motion_models_output'),
    argument('motion_type', 'computed_torque', 'fidelity of the motion model', list(MOTION_TYPES)),
    argument('natural_frequency', '20.0', 'of the error dynamics [rad/s]'),
    argument('damping_ratio', '1.0', 'likewise'),
    argument('settling_time', '0.0', 'instead of the frequency [s]; 0: not'),
    argument('overshoot', '0.0', 'share of a step, with settling_time'),
    argument(
        'task',
        'sinusoid',
        'sinusoid: follow one, report, end; none: wait for goals',
        ['sinusoid', 'none'],
    ),
)


def motion_models(given: dict[str, str]) -> list:
    """Return the motion model and the task."""
    given |= {'engine': 'motion_model', 'controller': 'none', 'start': 'rest'}
    if given['task'] == 'none':
        return run_arm(given, SIMULATOR)
    return run_task(given, 'sinusoid', simulator=SIMULATOR)


generate_launch_description = description(ARGUMENTS, motion_models)
