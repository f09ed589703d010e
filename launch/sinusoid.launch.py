"""A sinusoid in joint space under any controller, on an arm that may differ from its model."""

from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument

from arm_controllers.parameter_values import read_fields
from arm_controllers.reference import Reference
from arm_controllers.sinusoid import Sinusoid
from arm_dynamics.arm_parameters import ArmParameters
from arm_dynamics.checks import per_joint
from arm_sim.comparison.over_topics import model_error_of
from arm_sim.launching import (
    ARM_ARGUMENTS,
    CONTROLLERS,
    arm_nodes,
    config_file,
    description_of,
    task_node,
    tool,
)
from arm_sim.parameter_files import files_of, merged, parameters_of
from arm_sim.plants.wrong_arm import wrong_arm_parameters

SINUSOID_ARGUMENTS = (
    DeclareLaunchArgument(
        'amplitude', default_value='', description='[rad | m], one or a list; from the config'
    ),
    DeclareLaunchArgument('frequency', default_value='0.5', description='[Hz]'),
    DeclareLaunchArgument(
        'start',
        default_value='moving',
        choices=['moving', 'rest'],
        description='moving: the arm starts on the sinusoid; rest: half a cycle leads to it',
    ),
    DeclareLaunchArgument('cycles', default_value='1', description='measured cycles'),
    DeclareLaunchArgument(
        'limit', default_value='0.0', description='largest RMS for exit code 0 [deg]; 0: none'
    ),
    DeclareLaunchArgument(
        'plant_error',
        default_value='{}',
        description='how the arm differs from the model, e.g. "{payload: 2.0, mass_scale: [1.3]}"',
    ),
    DeclareLaunchArgument(
        'sweep',
        default_value='none',
        choices=['none', 'loop', 'topics'],
        description='error over frequency (0.1 to 5 Hz) of every law instead: in the loop without '
        'ROS, in seconds, or over topics, a launch a run',
    ),
    DeclareLaunchArgument(
        'output_dir', default_value='sinusoid_output', description='folder for the report'
    ),
)


def sinusoid(context: LaunchContext) -> list:
    """Return the arm's nodes, paused, and the task that moves them."""
    arguments = context.launch_configurations
    robot, start = arguments['robot'], arguments['start']
    if arguments['sweep'] != 'none':
        given = ['--robots', robot, '--engines', arguments['engine'], '--sweep', 'frequency']
        given += ['--over', arguments['sweep'], '--output-dir', arguments['output_dir']]
        return [tool('compare_controllers', given)]
    config = config_file(robot, arguments['config'])
    task: dict[str, Any] = {'cycles': int(arguments['cycles'])}
    task |= {name: float(arguments[name]) for name in ('frequency', 'limit')}
    task |= {name: arguments[name] for name in ('robot', 'start', 'controller', 'output_dir')}
    told = parameters_of(merged(files_of(robot, arguments['config'])), 'sinusoid_task')
    amplitude = told.get('amplitude', [0.2])
    if arguments['amplitude']:
        amplitude = yaml.safe_load(arguments['amplitude'])
    task['amplitude'] = amplitude

    model = read_fields(ArmParameters, {**told, 'robot': robot}).model()
    error = model_error_of(arguments['plant_error'])
    simulator = wrong_arm_parameters(model, error)
    simulator['start_paused'] = True
    if start == 'moving':
        reference = Reference(model.nv)
        full = per_joint('amplitude', amplitude, model.joint_names)
        Sinusoid(full, task['frequency']).evaluate(0.0, reference)
        simulator['initial_velocities'] = reference.v.tolist()
    nodes = arm_nodes(context, simulator, inverse_kinematics=False)
    return [*nodes, task_node('sinusoid_task', [config, task])]


def generate_launch_description() -> LaunchDescription:
    """Bring up the arm and the sinusoid task."""
    return description_of(
        [
            DeclareLaunchArgument(
                'robot', default_value='planar_3r', description='shipped robot, or path of a URDF'
            ),
            DeclareLaunchArgument(
                'controller',
                default_value='pd_feedforward',
                choices=CONTROLLERS,
                description='control law; pd_feedforward is the published one',
            ),
            *(a for a in ARM_ARGUMENTS if a.name not in ('robot', 'controller')),
            *SINUSOID_ARGUMENTS,
        ],
        sinusoid,
    )
