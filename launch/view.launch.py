"""A page in the browser beside whatever publishes joint_states and robot_description.

The arm may be anybody's, simulated or not: `ros2 launch arm_sim view.launch.py`.
"""

from arm_sim.launching import view
from arm_sim.launching.arguments import argument, description, shared

ARGUMENTS = (
    *shared('namespace', view='true'),
    argument(
        'tip_frame', '', 'the link whose path is drawn; empty: the last of the longest chain'
    ),
)

generate_launch_description = description(ARGUMENTS, view)
