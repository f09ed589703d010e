"""The first stage of holding a pose with voltages: PosePID with `i` and `d` zero."""

from arm_controllers.laws.pose_pid import PosePID


class PoseP(PosePID):
    """PosePID under the name of its published first stage; with `i` and `d` zero."""
