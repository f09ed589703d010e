"""The parameter files of a robot, laid over each other, parameter by parameter.

    config/default.yaml <- config/<robot>.yaml <- the user's own file

Each is a ROS parameter file, as `ros2 param dump` writes it too. What a later file says counts,
even in its `/**` over an earlier file's section of a node; within a file the node's section does.
"""

from collections import ChainMap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from arm_controllers.parameter_file import SHARED, Sections, read_parameter_file
from arm_dynamics.checks import ArmError
from arm_dynamics.robots import robot_names, share_folder


def files_of(robot: str, config: str | Path = '') -> list[Path]:
    """Return the parameter files of a robot, the last one strongest.

    A robot called <robot>_<variant>, such as ur5e_menagerie, has <robot>.yaml beneath its own.

    Args:
        robot: name of a shipped robot, which may have a file, or path of a URDF, which has none.
        config: the user's own file, which must be there; '': none.
    """
    names = ['default']
    if robot in robot_names():
        parts = robot.split('_')
        names += ['_'.join(parts[: k + 1]) for k in range(len(parts))]
    files = [share_folder() / 'config' / f'{name}.yaml' for name in names]
    files = [file for file in files if file.is_file()]
    if config:
        if not Path(config).is_file():
            raise ArmError(f'config {str(config)!r} is not a file')
        files.append(Path(config))
    return files


def as_arguments(files: Iterable[Path]) -> list[str]:
    """Return what gives the files to a node: `ros2 run arm_sim simulator --ros-args <these>`."""
    return [word for file in files for word in ('--params-file', str(file))]


def merged(files: Iterable[Path]) -> Sections:
    """Return what the files say together. Refuses what `read_parameter_file` refuses."""
    sections: Sections = {SHARED: {}}
    for file in files:
        said = read_parameter_file(file)
        for name in said.get(SHARED, {}):
            for earlier in sections.values():
                earlier.pop(name, None)
        for node, values in said.items():
            sections.setdefault(node, {}).update(values)
    return sections


def parameters_of(sections: Sections, *nodes: str) -> dict[str, Any]:
    """Return what the sections say to nodes, the last one strongest."""
    return dict(ChainMap(*(sections.get(node, {}) for node in (*reversed(nodes), SHARED))))
