"""What nodes and files say of an arm, and the model that this makes."""

from dataclasses import dataclass

from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf


@dataclass(frozen=True)
class ArmParameters:
    """The arm; plant and controllers read the same.

    Attributes:
        robot: name of a shipped robot, or path of a URDF file.
        gravity: in the base frame [m/s^2].
        armature: rotor inertia seen at the joint [kg m^2 | kg].
        damping: viscous friction [N.m.s/rad | N.s/m]; empty: the URDF's.
        friction: Coulomb friction [N.m | N]; empty: the URDF's.
    """

    robot: str = 'ur5e'
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    armature: tuple[float, ...] = (0.0,)
    damping: tuple[float, ...] = ()
    friction: tuple[float, ...] = ()

    def model(self) -> RobotModel:
        """Return the model. Refuses what `RobotModel` refuses."""
        joints = (self.armature, self.damping, self.friction)
        return RobotModel(find_urdf(self.robot), None, self.gravity, *joints)
