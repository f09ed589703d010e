"""Ways to join an arm and a gripper to one robot: a function and a file each."""

from arm_dynamics.plugins import PluginRegistry

JOINED = PluginRegistry('way to join a gripper', __name__, __name__)
