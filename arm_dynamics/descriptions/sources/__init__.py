"""Robots that are not shipped, by name: a file each, or an entry point.

The group is `arm_dynamics.robot_sources`. Each is a function of a name that returns the file of a
robot and arguments for its xacro, or None.
"""

from arm_dynamics.plugins import PluginRegistry

SOURCES = PluginRegistry('source of robots', __name__, 'arm_dynamics.robot_sources')
