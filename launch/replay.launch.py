"""Plays a recording: `ros2 launch arm_sim replay.launch.py file:=recording.mcap`."""

from pathlib import Path

from launch_ros.parameter_descriptions import ParameterValue

from arm_sim.launching.arguments import argument, description, namespace_of, number_of, shared
from arm_sim.launching.processes import node_process
from arm_tools.view.ros.view_launch import view

ARGUMENTS = (
    argument('file', '', 'path of an MCAP file, or of a folder with MCAP files'),
    argument('speed', '1.0', 'recorded seconds per second of the wall clock [1]; 0: paused'),
    argument('seek', '0.0', 'recorded time at which the replay begins [s]'),
    *shared('viewer', 'namespace'),
)


def replay(given: dict[str, str]) -> list:
    """Return the player of a recording, with the viewer and the page where requested."""
    file = str(Path(given['file']).expanduser().absolute())
    parameters = {
        'file': ParameterValue(file, value_type=str),
        **{name: float(number_of(given, name)) for name in ('speed', 'seek')},
    }
    space = namespace_of(given)
    found = [node_process('replay', [parameters], space, succeeds=True)]
    if given['viewer'] == 'true':
        found.append(node_process('viewer', [], space, may_end=True))
    return found + view(given)


generate_launch_description = description(ARGUMENTS, replay)
