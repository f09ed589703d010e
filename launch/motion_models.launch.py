"""A motion model as the engine: an arm and its controller of low fidelity, in one node.

Send goals to /simulator/follow_joint_trajectory; `joint_states` shows how the model moves.
"""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument

from arm_dynamics.published.motion_models import MOTION_TYPES
from arm_sim.launching import arm_node, config_file, description_of, task_node

ARGUMENTS = (
    DeclareLaunchArgument('robot', default_value='ur5e', description='robot, or path of a URDF'),
    DeclareLaunchArgument(
        'motion_type',
        default_value='computed_torque',
        choices=list(MOTION_TYPES),
        description='fidelity of the motion model',
    ),
    DeclareLaunchArgument(
        'natural_frequency', default_value='20.0', description='of the error dynamics [rad/s]'
    ),
    DeclareLaunchArgument('damping_ratio', default_value='1.0', description='likewise'),
    DeclareLaunchArgument(
        'settling_time', default_value='0.0', description='instead of the frequency [s]; 0: not'
    ),
    DeclareLaunchArgument(
        'overshoot', default_value='0.0', description='share of a step, with settling_time'
    ),
    DeclareLaunchArgument(
        'task',
        default_value='sinusoid',
        choices=['sinusoid', 'none'],
        description='sinusoid: follow one, report, end; none: wait for goals',
    ),
    DeclareLaunchArgument(
        'mode', default_value='lockstep', choices=['lockstep', 'realtime'], description='of time'
    ),
    DeclareLaunchArgument(
        'output_dir', default_value='motion_models_output', description='folder for the report'
    ),
)


def motion_models(context: LaunchContext) -> list:
    """Return the motion model and the task."""
    given = context.launch_configurations
    robot, mode = given['robot'], given['mode']
    config = config_file(robot, '')
    names = ('natural_frequency', 'damping_ratio', 'settling_time', 'overshoot')
    model = {name: [float(given[name])] for name in names}
    simulator = {
        **model,
        'robot': robot,
        'engine': 'motion_model',
        'actuator': 'servo',
        'mode': mode,
        'motion_type': given['motion_type'],
        'start_paused': given['task'] != 'none',
    }
    nodes = [arm_node('simulator', [config, simulator])]
    if given['task'] == 'sinusoid':
        task = {'robot': robot, 'controller': 'none', 'output_dir': given['output_dir']}
        nodes.append(task_node('sinusoid_task', [config, task]))
    return nodes


def generate_launch_description() -> LaunchDescription:
    """Bring up a motion model."""
    return description_of(ARGUMENTS, motion_models)
