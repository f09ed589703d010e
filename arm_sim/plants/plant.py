"""What every engine offers the simulator, and the parameters that all engines share."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.arrays import Array
from arm_dynamics.checks import in_range, one_of, per_joint
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel

# What `joint_commands` holds for each actuator.
COMMAND_INTERFACE = {'servo': 'position', 'torque': 'effort', 'voltage': 'voltage'}


@dataclass(frozen=True)
class PlantParameters:
    """Actuators and stepping of the simulated arm; the arm itself is the model.

    Numbers per joint are one number for all joints or one per joint.

    Attributes:
        actuator: 'servo' (tau = servo_kp (u - q) - servo_kd v), 'torque', or 'voltage' (DC motor).
        servo_kp, servo_kd: gains of the servo [N.m/rad], [N.m.s/rad].
        effort_limits: enforce the URDF's effort limits.
        timestep: integration step [s], a whole number of nanoseconds.
        control_decimation: integration steps a control period.
        integrator: the engine's name for it.
    """

    actuator: str = 'servo'
    servo_kp: tuple[float, ...] = (2000.0,)
    servo_kd: tuple[float, ...] = (400.0,)
    effort_limits: bool = True
    timestep: float = 0.002
    control_decimation: int = 1
    integrator: str = 'implicitfast'

    def __post_init__(self):
        """Raises ArmError."""
        one_of('actuator', self.actuator, tuple(COMMAND_INTERFACE))
        in_range('timestep', self.timestep, 1e-6, 0.1)
        in_range('control_decimation', self.control_decimation, 1, 1000)
        if abs(self.timestep * 1e9 - round(self.timestep * 1e9)) > 1e-6:
            raise ArmError(
                f'timestep is {self.timestep!r} s; it must be a whole number of nanoseconds'
            )

    @property
    def period_ns(self) -> int:
        """The control period [ns]."""
        return round(self.timestep * 1e9) * self.control_decimation

    def servo_gains(self, model: RobotModel) -> tuple[Array, Array]:
        """Return kp, kd (n,). Raises ArmError for counts and values that are not allowed."""
        names, servo = model.joint_names, self.actuator == 'servo'
        kp = per_joint('servo_kp', self.servo_kp, names, minimum=0.0, exclusive=servo)
        return kp, per_joint('servo_kd', self.servo_kd, names, minimum=0.0)

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
