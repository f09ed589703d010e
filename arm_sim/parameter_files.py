"""The parameter files of a robot, laid over each other, parameter by parameter.

    config/<robot>.yaml <- the user's own file

For a URDF `arm.urdf` that is not shipped, `arm.arm_sim.yaml` in its folder replaces the first.
The files of an arm and of its gripper are joined: each joint has the numbers of its own file.

Each is a ROS parameter file, as `ros2 param dump` writes it. A later file overrides earlier ones,
even with its `/**` the section of a node. Within a file the section of a node overrides `/**`.
"""

from collections import ChainMap
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from arm_controllers.parameter_file import SHARED, Sections, read_parameter_file, sections_text
from arm_dynamics.checks import ArmError, per_joint
from arm_dynamics.descriptions.conversion import parameter_file
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import ParameterValues
from arm_dynamics.robots import RobotArgument, gripper_urdf, share_folder, urdf_of
from arm_dynamics.temporary_folder import temporary_folder


def files_of(robot: str, config: str | Path = '') -> list[Path]:
    """Return the parameter files of a robot; later files override earlier ones.

    A robot called <robot>_<variant>, such as ur5e_menagerie, has <robot>.yaml before its own.

    Args:
        robot: name of a shipped robot, or another one, which may have a file next to its URDF.
        config: the user's own file; '': none.
    """
    words = RobotArgument.of(robot)
    files = _own_files(words)
    if config:
        if not Path(config).is_file():
            raise ArmError(f'config {str(config)!r} is not a file')
        files.append(Path(config))
    if words.tip_frame:
        files.append(_tool_file(words.tip_frame))
    return files


def _own_files(words: RobotArgument) -> list[Path]:
    """Return the parameter files of a robot, without those of the user."""
    files: list[Path] = []
    if words.is_shipped:
        parts = words.name.split('_')
        names = ['_'.join(parts[: k + 1]) for k in range(len(parts))]
        files = [share_folder() / 'config' / f'{name}.yaml' for name in names]
    else:
        with suppress(ArmError):  # reading its model refuses it
            words = words.joined
            files = [_joined_file(words) if words.gripper else parameter_file(urdf_of(words))]
    return [file for file in files if file.is_file()]


_PER_JOINT = ('armature', 'damping', 'friction', 'servo_kp', 'servo_kd', 'initial_positions')


@cache
def _joined_file(words: RobotArgument) -> Path:
    """Return the parameter file of an arm with a gripper: numbers per joint of both.

    What one of the two files lacks is the joined URDF's; servo gains that one lacks are left out.
    """
    both, arm = RobotModel(urdf_of(words)), RobotModel(urdf_of(words.arm)).joint_names
    of_gripper = tuple(name for name in both.joint_names if name not in arm)
    sections = merged(_own_files(words.arm))
    own = merged(filter(Path.is_file, [parameter_file(gripper_urdf(words.gripper))]))
    usual = {name: getattr(both, name) for name in _PER_JOINT[:3]}
    usual['initial_positions'] = both.neutral()
    for name in _PER_JOINT:
        values = dict(zip(both.joint_names, usual.get(name, [None] * both.nv), strict=True))
        for part, joints in ((sections, arm), (own, of_gripper)):
            given = parameters_of(part, 'simulator').get(name)
            if given is not None and joints:
                values |= dict(zip(joints, per_joint(name, given, joints).tolist(), strict=True))
            for section in part.values():
                section.pop(name, None)
        numbers = [values[joint] for joint in both.joint_names]
        if None not in numbers:
            node = 'simulator' if name == 'initial_positions' else SHARED
            sections.setdefault(node, {})[name] = [float(each) for each in numbers]
    for node, parameters in own.items():
        sections.setdefault(node, {}).update(parameters)
    sections[SHARED].pop('robot', None)
    path = temporary_folder() / f'{words.label}.arm_sim.yaml'
    path.write_text(sections_text(sections))
    return path


@cache
def _tool_file(tip_frame: str) -> Path:
    """Return a file that makes a link the tool."""
    file = temporary_folder() / 'tip_frame.yaml'
    file.write_text(sections_text({SHARED: {'tool_frame': tip_frame}}))
    return file


def as_arguments(files: Iterable[Path]) -> list[str]:
    """Return the ROS arguments that load the files, for after `--ros-args`."""
    return [word for file in files for word in ('--params-file', str(file))]


def merged(files: Iterable[Path]) -> Sections:
    """Return the parameters of all files together; raises as `read_parameter_file`."""
    sections: Sections = {SHARED: {}}
    for file in files:
        own = read_parameter_file(file)
        for name in own.get(SHARED, {}):
            for earlier in sections.values():
                earlier.pop(name, None)
        for node, values in own.items():
            sections.setdefault(node, {}).update(values)
    return sections


def parameters_of(sections: Sections, *nodes: str) -> ParameterValues:
    """Return the parameters for nodes; a later node's section overrides an earlier one's."""
    return dict(ChainMap(*(sections.get(node, {}) for node in (*reversed(nodes), SHARED))))
