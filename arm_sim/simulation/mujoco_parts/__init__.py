"""Parts of an arm in MuJoCo that few arms have, a file each; the first such arm loads it."""

from arm_dynamics.plugins import PluginRegistry

PARTS = PluginRegistry('part of an arm in MuJoCo', __name__, __name__)
