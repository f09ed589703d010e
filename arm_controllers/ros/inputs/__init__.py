"""What laws and goals need besides joint states, an input each; the first such law loads it."""

from arm_dynamics.plugins import PluginRegistry

INPUTS = PluginRegistry('input of a controller', __name__, __name__, suffix='Input')
