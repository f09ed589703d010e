"""A page in the browser for any node that publishes joint_states and robot_description.

The arm may be real or simulated by another program: `ros2 launch arm_sim view.launch.py`.
"""

from arm_sim.launching.arguments import argument, description, shared
from arm_tools.view.ros.view_launch import view

ARGUMENTS = (
    *shared('namespace', view='true'),
    argument(
        'tip_frame',
        '',
        'name of the link whose path is drawn; empty: the last link of the longest chain',
    ),
)

generate_launch_description = description(ARGUMENTS, view)
