"""The arm and the tip frame that a node works with."""

from dataclasses import dataclass

from arm_dynamics.descriptions.reduced_model import reduced_model
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, parameter
from arm_dynamics.robots import RobotArgument, find_urdf


@dataclass(frozen=True)
class TipParameters(Parameters):
    """An arm and its tip frame."""

    robot: str = parameter('ur5e', 'robot name, or path of a URDF, xacro or MJCF')
    tool_frame: str = parameter('', 'tool link; empty: end of the longest chain')
    tip_frame: str = parameter('', "default tip frame; empty: the model's tool frame")
    joints: tuple[str, ...] = parameter(
        (), 'names of the joints that move the tip; the others are fixed; empty: all of the robot'
    )

    def model(self) -> RobotModel:
        """Return the arm's model with that tip as its tool frame; raises as `RobotModel`."""
        tip_frame = self.tip_frame or self.tool_frame or RobotArgument.of(self.robot).tip_frame
        arm = RobotModel.from_urdf(find_urdf(self.robot), tip_frame or None)
        return reduced_model(arm, self.joints) if self.joints else arm
