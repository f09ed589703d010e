"""What few tasks need of other nodes: a file each, loaded with the first such task."""

from arm_dynamics.plugins import PluginRegistry

CLIENTS = PluginRegistry('client of tasks', __name__, __name__)
