"""The node of the cameras beside an arm's nodes."""

from pathlib import Path

from arm_sim.launching.arguments import Shared
from arm_sim.launching.companions import LaunchedArm
from arm_sim.launching.processes import node_process

ARGUMENTS = {
    'physics': {'camera': Shared('', 'path of a YAML file that lists cameras; empty: none')}
}


def processes(arm: LaunchedArm) -> list[object]:
    """Return the node of the cameras, where there are some; its end does not end the launch."""
    if not arm.given['camera']:
        return []
    from arm_tools.view.cameras import read_cameras  # loads MuJoCo

    file = Path(arm.given['camera']).expanduser().absolute()
    read_cameras(file)
    own = {'cameras': str(file), 'mode': arm.given['mode']}
    return [node_process('camera', [arm.config, arm.table, own], arm.space, may_end=True)]
