"""One task of the comparison under one law, over the real nodes."""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument

from arm_sim.comparison.laws import compared_laws
from arm_sim.comparison.over_topics import (
    case_of,
    controller_parameters,
    law_of,
    simulator_parameters,
)
from arm_sim.launching import (
    arm_node,
    config_file,
    controller_node,
    description_of,
    task_node,
    turns,
)
from arm_sim.plants.engines import RIGID_BODY_ENGINES
from arm_sim.tasks.comparison_tasks import TASKS, Robot, make_task

ARGUMENTS = (
    DeclareLaunchArgument('robot', default_value='ur5e', description='robot, or path of a URDF'),
    DeclareLaunchArgument(
        'task', default_value='sinusoid', choices=list(TASKS), description='what to follow'
    ),
    DeclareLaunchArgument(
        'law',
        default_value='computed_torque',
        choices=list(compared_laws()),
        description='by whom',
    ),
    DeclareLaunchArgument(
        'engine',
        default_value='mujoco',
        choices=list(RIGID_BODY_ENGINES),
        description='physics engine',
    ),
    DeclareLaunchArgument(
        'timestep', default_value='0.001', description='integration step and control period [s]'
    ),
    DeclareLaunchArgument(
        'natural_frequency', default_value='20.0', description='the law is designed for [rad/s]'
    ),
    DeclareLaunchArgument(
        'frequency', default_value='0.0', description="of the sinusoid [Hz]; 0: the robot's own"
    ),
    DeclareLaunchArgument(
        'error',
        default_value='{}',
        description='how the arm differs from the model, e.g. "{payload: 2.0, mass_scale: [1.3]}"',
    ),
    DeclareLaunchArgument(
        'output_dir', default_value='task_output', description='folder for the record'
    ),
)


def task(context: LaunchContext) -> list:
    """Return simulator, paused, controller and task."""
    given = context.launch_configurations
    case = case_of(given)
    robot = Robot.load(case.robot)
    made = make_task(case.task, robot, case.frequency)
    config = config_file(case.robot, '')
    law = law_of(case)
    told = {name: getattr(case, name) for name in ('robot', 'task', 'frequency', 'timestep')}
    told |= {'controller': f'{law}_controller', 'output_dir': given['output_dir']}
    return [
        arm_node('simulator', [config, simulator_parameters(case, robot, made) | turns()]),
        controller_node(law, [config, controller_parameters(case, robot) | turns()]),
        task_node('comparison_task', [config, told]),
    ]


def generate_launch_description() -> LaunchDescription:
    """Bring up the arm and one task of the comparison."""
    return description_of(ARGUMENTS, task)
