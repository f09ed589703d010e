"""What every engine offers the simulator, and the parameters that all engines share."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.arrays import Array
from arm_dynamics.checks import per_joint
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import PerJoint, Stepping, parameter, with_arrays

# What `joint_commands` holds for each actuator.
COMMAND_INTERFACE = {'servo': 'position', 'torque': 'effort', 'voltage': 'voltage'}


@dataclass(frozen=True)
class PlantParameters(Stepping):
    """Actuators and stepping of the simulated arm; the arm itself is the model."""

    actuator: str = parameter(
        'servo',
        "'servo' (tau = servo_kp (u - q) - servo_kd v), 'torque', or 'voltage' (DC motor)",
        one_of=tuple(COMMAND_INTERFACE),
    )
    servo_kp: PerJoint = parameter((2000.0,), 'position gain of the servo [N.m/rad]', min=0)
    servo_kd: PerJoint = parameter((400.0,), 'velocity gain of the servo [N.m.s/rad]', min=0)
    effort_limits: bool = parameter(True, "enforce the URDF's effort limits")
    integrator: str = parameter('implicitfast', "the engine's name for it")

    def servo_gains(self, model: RobotModel) -> tuple[Array, Array]:
        """Return kp, kd (n,), as arrays; a servo's kp must be above zero."""
        p, names = with_arrays(self, model.joint_names), model.joint_names
        per_joint('servo_kp', p.servo_kp, names, 0.0, exclusive=self.actuator == 'servo')
        return p.servo_kp, p.servo_kd

    def effort_limit(self, model: RobotModel) -> Array:
        """Return what the actuators can give (n,) [N.m | N]; infinite without `effort_limits`."""
        return model.effort_limit if self.effort_limits else np.full(model.nv, np.inf)


class Plant(Protocol):
    """A simulated arm. Arrays are (n,), in the order of `joint_names`.

    Attributes:
        joint_names: the moving joints.
        command_interface: 'position', 'effort' or 'voltage'.
        parameters: see PlantParameters.
        takes_goals: whether it moves by a control law of its own, so that the simulator takes
            trajectory goals for it where no controller commands.
        q, v: the present state [rad | m], [rad/s | m/s]; views, valid until the next step.
        effort: torque applied in the last integration step [N.m | N]; a view as well.
    """

    joint_names: tuple[str, ...]
    command_interface: str
    parameters: PlantParameters
    takes_goals: ClassVar[bool]
    q: Array
    v: Array
    effort: Array

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to state q, v (rest by default) and forget everything else."""

    def step(self, command: Array) -> None:
        """Hold `command` over one control period (`control_decimation` integration steps)."""

    def apply_wrench(self, frame: str, wrench: ArrayLike) -> None:
        """Push on a frame until told otherwise.

        Args:
            frame: name of a link.
            wrench: (6,) force [N] and torque [N.m] at the frame's origin, in base-aligned axes;
                zeros end it.
        """

    def mass_matrix(self) -> Array:
        """Return M(q) + armature (n x n) as the engine has it."""

    def joint_friction(self) -> tuple[Array, Array]:
        """Return damping (n,) and Coulomb friction (n,) of the joints as the engine has them."""

    def bias_torque(self) -> Array:
        """Return C(q, v) v + g(q) (n,) as the engine has it."""
