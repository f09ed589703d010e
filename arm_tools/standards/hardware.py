"""The simulated arm as ros2_control's tools see hardware: joints and their interfaces."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arm_controllers.laws import law_class
from arm_controllers.parameter_file import read_parameter_file
from arm_dynamics.actuators import ActuatorParameters, actuators_of
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import JointWords, Stepping, like, parameter
from arm_dynamics.robots import find_urdf
from arm_sim.simulation.plant import COMMAND_INTERFACE

SIMULATOR = 'simulator'
_STATES = ('position', 'velocity', 'effort')


@dataclass(frozen=True)
class HardwareParameters(Stepping):
    """Parameters of the controller_manager: those of the simulator that it serves."""

    robot: str = parameter('ur5e', "the simulator's robot: name, or path of a URDF or MJCF")
    mode: str = parameter(
        'lockstep',
        "the simulator's time base: 'lockstep' or 'realtime'",
        one_of=('lockstep', 'realtime'),
    )
    actuator: JointWords = like(ActuatorParameters, 'actuator')
    core: int = parameter(-1, 'CPU core of the controllers that are loaded; -1: any core')
    config: str = parameter('', "parameter file that overrides the robot's own")
    joints: tuple[str, ...] = parameter(
        (), 'joints of the arm, where a gripper controller has the others; empty: all'
    )


class Hardware:
    """The command and state interfaces of an arm, such as `joint/position`.

    Attributes:
        parameters: of the simulator.
        offers: the command interfaces of the arm.
        states: the state interfaces of the arm.
        rate: control periods per second.
    """

    def __init__(self, parameters: HardwareParameters):
        """Read the joints from the robot's URDF, and the parameter file.

        Raises:
            ArmError: as `RobotModel`, `actuators_of` and `read_parameter_file` do.
        """
        self.parameters = parameters
        self._joint_names = RobotModel.from_urdf(find_urdf(parameters.robot)).joint_names
        actuators = actuators_of(parameters.actuator, self._joint_names)
        pairs = zip(self._joint_names, actuators, strict=True)
        self.offers = tuple(f'{joint}/{COMMAND_INTERFACE[own]}' for joint, own in pairs)
        self.states = tuple(f'{joint}/{kind}' for joint in self._joint_names for kind in _STATES)
        self.rate = round(1e9 / parameters.period_ns)
        file = parameters.config
        self._sections = read_parameter_file(Path(file)) if file else {}

    def required_by(self, controller: str) -> tuple[str, ...]:
        """Return the command interfaces of a controller, for the joints in its parameter file.

        Without joints in the file: for those of the arm, or of the gripper. The interfaces are
        those of its law, else those of the arm.
        """
        law, section = controller.removesuffix('_controller'), self._sections.get(controller, {})
        joints = section.get('joints', self._usual_joints(controller))
        with suppress(ArmError):  # a foreign controller, or a plugin that cannot be imported
            interface = law_class(law).command_interface
            return tuple(f'{joint}/{interface}' for joint in joints)
        return tuple(each for each in self.offers if each.rpartition('/')[0] in joints)

    def _usual_joints(self, controller: str) -> tuple[str, ...]:
        arm = self.parameters.joints or self._joint_names
        if controller == 'gripper_controller' and self.parameters.joints:
            return tuple(name for name in self._joint_names if name not in arm)
        return tuple(arm)
