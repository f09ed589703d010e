"""The second stage of holding a pose with voltages: PosePID with `d` zero."""

from arm_controllers.laws.pose_pid import PosePID


class PosePI(PosePID):
    """PosePID under the name of its published second stage; with `d` zero."""
