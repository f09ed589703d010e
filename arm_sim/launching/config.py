"""What nodes are told of a robot: its parameters as one file, and what follows from its words."""

from functools import cache
from pathlib import Path

import yaml

from arm_controllers.parameter_file import SHARED
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import RobotArgument, find_urdf
from arm_dynamics.temporary_folder import temporary_folder
from arm_sim.parameter_files import files_of, merged
from arm_sim.robot import Robot


def feedforward_of(controller: str, feedforward: str, mode: str) -> str:
    """Return the servo's feedforward level ('' for other laws), with 'best' resolved."""
    if controller != 'servo':
        return ''
    if feedforward == 'best':
        return 'discrete' if mode == 'lockstep' else 'inverse_dynamics'
    return feedforward


@cache
def config_file(robot: str, config: str, namespace: str = '', law: str = '') -> str:
    """Return a file with what the robot's files say, and gains where they say none.

    It is written for nodes in a namespace, '' or '/left'; `law`: one of them, '': none.
    """
    file = temporary_folder() / 'parameters.yaml'
    sections = merged(files_of(robot, config))
    if not RobotArgument.of(robot).is_shipped:
        sections = Robot.load(robot, config).sections_for(law)
    if config:
        from arm_sim.launching.known_parameters import check_parameter_file  # imports all

        check_parameter_file(Path(config), RobotModel.from_urdf(find_urdf(robot)).joint_names)
    told = {
        name if name == SHARED else f'{namespace}/{name}': {'ros__parameters': values}
        for name, values in sections.items()
    }
    file.write_text(yaml.safe_dump(told))
    return str(file)


def robot_parameter(robot: str) -> str:
    """Return the parameter `robot` of nodes: a shipped robot's name, or the path of a URDF."""
    words = RobotArgument.of(robot)
    return words.name if words.is_shipped else str(find_urdf(robot))
