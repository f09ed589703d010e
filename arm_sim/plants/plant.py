"""What every engine offers the simulator, and the parameters that all engines share."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_dynamics.checks import in_range, one_of, per_joint
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel

Array = NDArray[np.float64]

# What `joint_commands` holds for each actuator.
COMMAND_INTERFACE = {'servo': 'position', 'torque': 'effort', 'voltage': 'voltage'}


@dataclass(frozen=True)
class PlantParameters:
    """Actuators and stepping of the simulated arm; the arm itself is the URDF.

    Numbers a joint are one number for all joints or one a joint; an empty `damping` or `friction`
    is the URDF's <dynamics>.

    Attributes:
        actuator: 'servo' (tau = servo_kp (u - q) - servo_kd v), 'torque', or 'voltage' (DC motor).
        servo_kp, servo_kd: gains of the servo [N.m/rad], [N.m.s/rad].
        armature: rotor inertia seen at the joint [kg m^2 | kg].
        damping: viscous friction [N.m.s/rad | N.s/m].
        friction: Coulomb friction [N.m | N].
        effort_limits: enforce the URDF's effort limits.
        timestep: integration step [s], a whole number of nanoseconds.
        control_decimation: integration steps a control period.
        integrator: the engine's name for it.
    """

    actuator: str = 'servo'
    servo_kp: tuple[float, ...] = (2000.0,)
    servo_kd: tuple[float, ...] = (400.0,)
    armature: tuple[float, ...] = (0.0,)
    damping: tuple[float, ...] = ()
    friction: tuple[float, ...] = ()
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


@dataclass(frozen=True)
class JointSide:
    """PlantParameters resolved for one arm: read-only arrays (n,), units as there."""

    servo_kp: Array
    servo_kd: Array
    armature: Array
    damping: Array
    friction: Array
    effort_limit: Array

    @classmethod
    def of(cls, model: RobotModel, parameters: PlantParameters) -> 'JointSide':
        """Resolve for `model`. Raises ArmError for counts and values that are not allowed."""
        names = model.joint_names

        def resolve(name: str, urdf: Array | None = None, exclusive: bool = False) -> Array:
            values = getattr(parameters, name)
            if urdf is not None and len(values) == 0:
                values = urdf
            return per_joint(name, values, names, minimum=0.0, exclusive=exclusive)

        limit = model.effort_limit if parameters.effort_limits else np.full(model.nv, np.inf)
        return cls(
            servo_kp=resolve('servo_kp', exclusive=parameters.actuator == 'servo'),
            servo_kd=resolve('servo_kd'),
            armature=resolve('armature'),
            damping=resolve('damping', model.damping),
            friction=resolve('friction', model.friction),
            effort_limit=limit,
        )


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

    def bias_torque(self) -> Array:
        """Return C(q, v) v + g(q) (n,) as the engine has it."""
