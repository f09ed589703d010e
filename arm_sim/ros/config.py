"""The parameters of a robot for its nodes: one file, and values that follow from arguments."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from arm_controllers.parameter_file import SHARED, Sections, sections_text
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
def sections_of(robot: str, config: str, law: str = '') -> Sections:
    """Return the sections of the robot's files, with gains where they lack."""
    if RobotArgument.of(robot).is_shipped:
        return merged(files_of(robot, config))
    return Robot.load(robot, config).sections_for(law)


@cache
def config_file(robot: str, config: str, namespace: str = '', law: str = '') -> str:
    """Return a parameter file with the values of the robot's files, and gains where they lack.

    Args:
        robot, config: values of these arguments.
        namespace: of the nodes, '' or '/left'.
        law: of the controller; '': there is none.
    """
    file = temporary_folder() / 'parameters.yaml'
    sections = sections_of(robot, config, law)
    if config:
        from arm_sim.ros.known_parameters import check_parameter_file  # imports every node

        check_parameter_file(Path(config), RobotModel.from_urdf(find_urdf(robot)).joint_names)
    written = {x if x == SHARED else f'{namespace}/{x}': own for x, own in sections.items()}
    file.write_text(sections_text(written))
    return str(file)


def robot_parameter(robot: str) -> str:
    """Return the parameter `robot` of nodes: a shipped robot's name, or the path of a URDF."""
    parts = RobotArgument.of(robot)
    return parts.name if parts.is_shipped else str(find_urdf(robot))


def robot_parameters(robot: str, model: RobotModel, files: Mapping[str, object]) -> dict[str, str]:
    """Return `robot` and, with a gripper, `tool_frame`, unless the robot's `files` name one.

    The SRDF of an arm with a gripper names the frame between the fingers; the URDF in a recording
    does not.
    """
    named = bool(RobotArgument.of(robot).gripper) and 'tool_frame' not in files
    return {'robot': robot_parameter(robot)} | ({'tool_frame': model.tip_frame} if named else {})
