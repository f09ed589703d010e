"""RViz and other tools of ROS, where these are installed."""

import os
from pathlib import Path

from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
)
from launch import Action
from launch.actions import ExecuteProcess

from arm_dynamics.temporary_folder import temporary_folder
from arm_sim.launching.processes import missing


def rviz(base_frame: str, space: str = '') -> Action:
    """Return the action that starts RViz on an arm with this root link, or that logs why not.

    `space`: the namespace of the arm, '' or '/left'.
    """
    found = tool('rviz2')
    if found is None:
        return missing('rviz', 'rviz2', 'or see the arm with viewer:=true')
    display = Path(get_package_share_directory('arm_sim'), 'config', 'arm.rviz')
    own = ['--ros-args', '-p', 'use_sim_time:=true']  # the stamps of /tf are simulated time
    if space:
        text = display.read_text()
        display = temporary_folder() / 'arm.rviz'
        named = text.replace('/robot_description', f'{space}/robot_description')
        named = named.replace('/simulator/objects', f'{space}/simulator/objects')
        of_links = 'Name: RobotModel\n'
        display.write_text(named.replace(of_links, f'{of_links}      TF Prefix: {space[1:]}\n'))
        base_frame = f'{space[1:]}/{base_frame}'
    arguments = ['-d', str(display), '-f', base_frame]
    return ExecuteProcess(cmd=[str(found), *arguments, *own], name='rviz2', output='screen')


def tool(package: str) -> Path | None:
    """Return a package's executable of the same name, as `ros2 run` finds it, or None."""
    try:
        found = Path(get_package_prefix(package), 'lib', package, package)
    except PackageNotFoundError:
        return None
    return found if found.is_file() and os.access(found, os.X_OK) else None
