"""A sinusoid in joint space under any controller, on an arm that may differ from its model."""

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from arm_controllers.laws import LAWS, law_class
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf
from arm_sim.launching import (
    ARM_ARGUMENTS,
    arm_node,
    config_file,
    feedforward_of,
    task_node,
)

# The plant's actuator for what a law commands.
ACTUATOR = {'position': 'servo', 'effort': 'torque', 'voltage': 'voltage'}

SINUSOID_ARGUMENTS = (
    DeclareLaunchArgument(
        'amplitude', default_value='', description='[rad | m], one or a list; from the config'
    ),
    DeclareLaunchArgument('frequency', default_value='0.5', description='[Hz]'),
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
        'output_dir', default_value='sinusoid_output', description='folder for the report'
    ),
)


def wrong_arm(robot: str, text: str) -> str:
    """Return the URDF that the plant gets: the robot's own, or one with the error in it."""
    fields = yaml.safe_load(text) or {}
    allowed = ModelError.__dataclass_fields__
    unknown = set(fields) - set(allowed)
    if unknown:
        raise RuntimeError(f'plant_error has no {unknown}; it has {", ".join(allowed)}')
    error = ModelError(**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})
    if error.is_none:
        return robot
    path = Path(mkdtemp(prefix='arm_sim_')) / f'{Path(robot).stem}.urdf'
    path.write_text(with_error(RobotModel.from_urdf(find_urdf(robot)), error).urdf)
    return str(path)


def sinusoid(context: LaunchContext) -> list:
    """Return the arm's nodes, paused, and the task that moves them."""
    arguments = context.launch_configurations
    robot = arguments['robot']
    task: dict[str, Any] = {'cycles': int(arguments['cycles'])}
    task |= {name: float(arguments[name]) for name in ('frequency', 'limit')}
    if arguments['amplitude']:
        task['amplitude'] = yaml.safe_load(arguments['amplitude'])
    task |= {name: arguments[name] for name in ('robot', 'controller', 'output_dir')}
    config = config_file(robot, arguments['config'])
    controller, mode = arguments['controller'], arguments['mode']
    law = {'robot': robot, 'autostart': True, 'mode': mode}
    if controller == 'servo':
        law['feedforward'] = feedforward_of(controller, arguments['feedforward'], mode)
    simulator = {
        'robot': wrong_arm(robot, arguments['plant_error']),
        'engine': arguments['engine'],
        'mode': mode,
        'actuator': ACTUATOR[law_class(controller).command_interface],
        'start_paused': True,
        'viewer': arguments['viewer'] == 'true',
    }
    return [
        arm_node('simulator', [config, simulator]),
        arm_node(f'{controller}_controller', [config, law]),
        task_node('sinusoid_task', [config, task]),
    ]


def generate_launch_description() -> LaunchDescription:
    """Bring up the arm and the sinusoid task."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'robot', default_value='planar_3r', description='shipped robot, or path of a URDF'
            ),
            DeclareLaunchArgument(
                'controller',
                default_value='pd_feedforward',
                choices=sorted(LAWS),
                description='control law; pd_feedforward is the published one',
            ),
            *(a for a in ARM_ARGUMENTS if a.name not in ('robot', 'controller')),
            *SINUSOID_ARGUMENTS,
            OpaqueFunction(function=sinusoid),
        ]
    )
