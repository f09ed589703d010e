"""The window beside an arm's nodes."""

from arm_sim.launching.arguments import switch
from arm_sim.launching.companions import LaunchedArm
from arm_sim.launching.processes import node_process

ARGUMENTS = {'everyday': {'viewer': switch('whether a window shows the arm; needs a display')}}


def processes(arm: LaunchedArm) -> list[object]:
    """Return the viewer where requested."""
    if arm.given['viewer'] != 'true':
        return []
    return [node_process('viewer', [arm.config, arm.table], arm.space, may_end=True)]
