"""RViz beside an arm's nodes."""

from arm_sim.launching.arguments import switch
from arm_sim.launching.companions import LaunchedArm
from arm_tools.view.ros.tools import rviz

ARGUMENTS = {'graph': {'rviz': switch('whether RViz shows the arm with config/arm.rviz')}}


def processes(arm: LaunchedArm) -> list[object]:
    """Return RViz where requested, or a log line where it is missing."""
    return [rviz(arm.base_frame, arm.space)] if arm.given['rviz'] == 'true' else []
