"""What launch files share: arguments, an arm's nodes, tasks, other processes, the shutdown."""

from arm_sim.launching.arm import arm_nodes
from arm_sim.launching.config import config_file, feedforward_of, robot_parameter
from arm_sim.launching.extras import comparison, replay, view
from arm_sim.launching.processes import task_node

__all__ = [
    'arm_nodes',
    'comparison',
    'config_file',
    'feedforward_of',
    'replay',
    'robot_parameter',
    'task_node',
    'view',
]
