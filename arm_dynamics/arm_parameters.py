"""What nodes and files say of an arm, and the model that this makes."""

from dataclasses import dataclass

from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_dynamics.robots import find_urdf


@dataclass(frozen=True)
class ArmParameters(Parameters):
    """The arm; plant and controllers read the same."""

    robot: str = parameter('ur5e', 'name of a shipped robot, or path of a URDF file')
    gravity: tuple[float, ...] = parameter((0.0, 0.0, -9.81), 'in the base frame [m/s^2]')
    armature: PerJoint = parameter(
        (0.0,), 'rotor inertia seen at the joint [kg m^2 | kg]', min=0.0
    )
    damping: PerJoint = parameter(
        (), "viscous friction [N.m.s/rad | N.s/m]; empty: the URDF's", min=0.0
    )
    friction: PerJoint = parameter((), "Coulomb friction [N.m | N]; empty: the URDF's", min=0.0)

    def model(self) -> RobotModel:
        """Return the model. Refuses what `RobotModel` refuses."""
        joints = (self.armature, self.damping, self.friction)
        return RobotModel(find_urdf(self.robot), None, self.gravity, *joints)
