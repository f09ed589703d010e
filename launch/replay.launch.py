"""Plays a recording: `ros2 launch arm_sim replay.launch.py file:=recording.mcap`."""

from arm_sim.launching.arguments import argument, description, shared
from arm_sim.launching.extras import replay

ARGUMENTS = (
    argument('file', '', 'path of an MCAP file, or of a folder with MCAP files'),
    argument('speed', '1.0', 'recorded seconds per second of the wall clock [1]; 0: paused'),
    argument('seek', '0.0', 'recorded time at which the replay begins [s]'),
    *shared('viewer', 'namespace'),
)

generate_launch_description = description(ARGUMENTS, replay)
