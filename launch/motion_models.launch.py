"""A motion model as the engine: a simple model of an arm and its controller in one node.

Send goals to /simulator/follow_joint_trajectory; `joint_states` shows how the model moves.
"""

from arm_lab.published.motion_model_plant import MotionModelParameters
from arm_sim.launching.arguments import argument, description, of_parameters, shared
from arm_sim.launching.needs import Need
from arm_sim.launching.tasks import run_arm, run_task

SIMULATOR = (
    'motion_type',
    'natural_frequency',
    'damping_ratio',
    'settling_time',
    'overshoot',
    'kp',
    'kd',
)
# An empty argument leaves the value of the robot's files.
ARGUMENTS = (
    *shared('robot', 'config', output_dir='motion_models_output'),
    argument(
        'mode',
        '',
        'lockstep: simulated time runs as fast as the machine allows; realtime: simulated time '
        'follows the wall clock; empty: realtime with task:=none, otherwise lockstep',
        ['', 'lockstep', 'realtime'],
    ),
    *of_parameters(MotionModelParameters, 'motion_type', **dict.fromkeys(SIMULATOR[1:], '')),
    argument(
        'task',
        'sinusoid',
        'sinusoid: the model follows a sinusoid and ends; none: the model waits for goals',
        ['sinusoid', 'none'],
    ),
)


def _in_joint_space(given: dict[str, str]) -> bool:
    return given['motion_type'] != 'task_space' and not given['kp']


NEEDS = (
    Need(('output_dir',), lambda given: given['task'] != 'none', 'task:=sinusoid'),
    Need(
        ('natural_frequency', 'damping_ratio'),
        lambda given: _in_joint_space(given) and not given['settling_time'],
        'a motion_type in joint space, without kp and settling_time',
    ),
    Need(('settling_time',), _in_joint_space, 'a motion_type in joint space, without kp'),
    Need(
        ('overshoot',),
        lambda given: _in_joint_space(given) and bool(given['settling_time']),
        'settling_time:=TIME in joint space',
    ),
)


def motion_models(given: dict[str, str]) -> list:
    """Return the motion model and the task."""
    given |= {'engine': 'motion_model', 'controller': 'none', 'start': 'rest'}
    given['mode'] = given['mode'] or ('realtime' if given['task'] == 'none' else 'lockstep')
    if given['task'] == 'none':
        return run_arm(given, SIMULATOR)
    return run_task(given, 'sinusoid', simulator=SIMULATOR)


generate_launch_description = description(ARGUMENTS, motion_models, NEEDS)
