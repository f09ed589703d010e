"""The physics engines: what each offers the simulator, and the parameters that all share."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_controllers.measurement import Measurement
from arm_dynamics.actuators import (
    ACTUATORS,
    ActuatorParameters,
    MeanEffort,
    one_or_each,
    servo_gains,
)
from arm_dynamics.checks import ArmError, Array, finite
from arm_dynamics.link_loads import External, LinkLoads
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import PerJoint, Stepping, parameter
from arm_dynamics.plugins import PluginRegistry, is_foreign
from arm_dynamics.surroundings import Surroundings
from arm_sim.devices import DeviceParameters, Devices, Setup
from arm_sim.simulation.contact_state import ContactState
from arm_sim.simulation.integration import CONTINUOUS
from arm_sim.simulation.mjcf_parts import MjcfParts
from arm_sim.simulation.mujoco_parts import PARTS
from arm_sim.simulation.scene_state import SceneState

# What `joint_commands` holds for each actuator; the actuator for what a law commands.
COMMAND_INTERFACE = {
    'servo': 'position',
    'velocity': 'velocity',
    'torque': 'effort',
    'voltage': 'voltage',
}
ACTUATOR_FOR = {interface: actuator for actuator, interface in COMMAND_INTERFACE.items()}


@dataclass(frozen=True)
class PlantParameters(ActuatorParameters, Stepping, Surroundings, DeviceParameters):
    """Actuators, stepping, surroundings and devices of the simulated arm, which is the model.

    Attributes:
        follows_positions: whether the arm comes to rest at a commanded position by itself.
    """

    follows_positions: ClassVar[bool] = False
    initial_positions: PerJoint = parameter(
        (), 'positions at reset [rad | m]; empty: nearest to zero in limits'
    )
    integrator: str = parameter(
        CONTINUOUS, "integration method of the engine; 'continuous': between two control instants"
        ' the arm moves as a continuous arm; another one takes one step per timestep',
    )  # fmt: skip
    contacts: bool = parameter(
        False, 'if true, links touch each other, the floor and the table (engine mujoco)'
    )
    srdf: str = parameter(
        '', 'SRDF file whose disable_collisions name links that do not touch each other; empty:'
        ' a file with the name of the URDF, next to it',
    )  # fmt: skip
    scene: str = parameter(
        '', 'objects that the links touch: name of a shipped scene, YAML file or MJCF (.xml);'
        ' empty: none (engine mujoco)',
    )  # fmt: skip
    objects: str = parameter(
        '', 'objects in addition to the scene: a YAML list as in a scene; empty: none'
        ' (engine mujoco)',
    )  # fmt: skip
    contact_stiffness: float = parameter(
        0.0, 'stiffness of a contact point of links, floor and table [N/m]; 0: as stiff as the'
        ' engine allows, without a stated number', name='contact.stiffness', min=0, max=1e9,
    )  # fmt: skip
    contact_damping: float = parameter(
        0.0, 'damping of a contact point of links, floor and table [N.s/m]',
        name='contact.damping', min=0, max=1e7,
    )  # fmt: skip
    contact_friction: float = parameter(
        1.0, 'Coulomb friction coefficient of links, floor and table [1]',
        name='contact.friction', min=0, max=10,
    )  # fmt: skip

    @property
    def touching(self) -> str:
        """The parameter by which links can touch something, as text; '' without one."""
        if self.contacts:
            return 'contacts is true'
        if self.scene:
            return f'scene is {self.scene!r}'
        return 'objects are given' if self.objects else ''

    def servo_gains(self, model: RobotModel) -> tuple[Array, Array]:
        """Return servo_kp, servo_kd (n,), as arrays; raises ArmError as `servo_gains` does."""
        names = model.joint_names
        return servo_gains(self.actuators(names), self.servo_kp, self.servo_kd, names)

    def effort_limit(self, model: RobotModel) -> Array:
        """Return what the actuators can give (n,) [N.m | N]; infinite without `effort_limits`."""
        return model.effort_limit if self.effort_limits else np.full(model.nv, np.inf)


class Plant:
    """A simulated arm with its drives and sensors. Arrays are (n,), in the order of `joint_names`.

    An engine is built as plant(model, plant.Parameters(...)); parameters of another engine serve
    as well. Its constructor sets q, v, effort and resets. It steps by `act`.

    Attributes:
        joint_names: the moving joints.
        command_interfaces: of each joint: 'position', 'velocity', 'effort' or 'voltage'.
        command_interface: that of all joints; where they differ, `command_interfaces`.
        parameters: see PlantParameters.
        takes_goals: whether it contains a law, so that the simulator takes trajectory goals for it
            where no controller commands.
        actuator_kinds: kinds of actuators that its joints can have.
        has_contacts: whether its links can touch something.
        devices: drives, sensors, faults and all else that is no physics.
        link_motion: see LinkLoads; None: no device needs it.
        motors: position and velocity of the motors (n,), seen at the joints; views.
        sensed: position and velocity at the encoders; views.
        arms: leading axes of all arrays; () for one arm.
        wrenches: the external wrenches now, (6,) by frame.
        q, v: the present state [rad | m], [rad/s | m/s]; views, valid until the next step.
        effort: torque that acted over the last control period, of a continuous arm its mean
            [N.m | N]; a view as well.
        measured: the state as the sensors report it, read-only.
        beyond: whether the state has left what the engine models.
        scene: the objects around the arm.
        contacts: what its links touch.
        mjcf: sensors and actuators of an MJCF that no controller commands.
        seed: of drives and sensors from the next reset on; None: the seeds of the parameters.
        notes: facts that a user should know, a line each.
    """

    Parameters: ClassVar[type[PlantParameters]] = PlantParameters
    takes_goals = False
    actuator_kinds = frozenset(ACTUATORS) - {'voltage'}
    has_contacts = False
    arms: tuple[int, ...] = ()
    beyond: bool | NDArray[np.bool_] = False
    seed: int | None = None
    motors: tuple[Array, Array]
    sensed: tuple[Array, Array]
    link_motion: LinkLoads | None = None
    _mean_effort: MeanEffort | None = None
    q: Array
    v: Array
    effort: Array
    measured: Measurement

    def __init_subclass__(cls) -> None:
        if is_foreign(cls):
            from arm_sim.simulation.foreign_plant import look_at

            look_at(cls)

    def __init__(self, model: RobotModel, parameters: PlantParameters):
        if not isinstance(parameters, self.Parameters):
            parameters = self.Parameters(**vars(parameters))
        if parameters.touching and not self.has_contacts:
            raise ArmError(f'{parameters.touching}; only engine mujoco has contacts')
        self._set_up([model], [parameters])

    def _set_up(self, models: Sequence[RobotModel], each: Sequence[PlantParameters]) -> None:
        """Take the first model or all, and parameters of each; make drives, joints, sensors."""
        self.parameters: PlantParameters = each[0]
        model = models[0]
        self.joint_names = model.joint_names
        actuators = self.parameters.actuators(model.joint_names)
        self.command_interfaces = tuple(COMMAND_INTERFACE[each] for each in actuators)
        self.command_interface = one_or_each(self.command_interfaces)
        self.notes = model.notes
        self._model = model
        if model.mjcf:
            self.notes += self._notes_on_mjcf(model)
        self.wrenches: dict[str, Array] = {}
        self.scene, self.mjcf = SceneState(), MjcfParts()
        self.contacts = ContactState(self.arms)
        self.devices = Devices(Setup(self, models, each, self.parameters.period_ns * 1e-9))
        # The velocity before the last integration step, where devices need the acceleration.
        self._before: Array | None = None
        if self.devices.needs_motion:
            self._before = np.zeros((*self.arms, model.nv))
            self.link_motion = self.devices.link_motion(models)

    @property
    def has_damping(self) -> bool:
        """Whether the engine takes a damping of the joints while it runs, see `set_damping`."""
        return type(self).set_damping is not Plant.set_damping

    def _views(self) -> None:
        """Let motors and encoders be those of rigid joints, where no device has other ones."""
        for name in ('motors', 'sensed'):
            vars(self).setdefault(name, (self.q, self.v))

    def _notes_on_mjcf(self, model: RobotModel) -> tuple[str, ...]:
        """Return notes on a model from an MJCF; raise ArmError where its URDF misses a spring."""
        PARTS.load('mjcf')(model).check_convertible()
        return ('the URDF of the MJCF is simulated; engine mujoco simulates the MJCF',)

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to state q, v (rest by default) and forget everything else."""
        self._set_wrenches({})
        self.q[:] = q
        self.v[:] = 0.0 if v is None else v
        self.effort[:] = 0.0
        self._views()
        if self.link_motion is not None:
            self._update_motion(self.link_motion, np.zeros_like(self.v), None)
        self.measured = self.devices.reset(self.seed, Measurement(*self.sensed)).read_only()

    def continue_from(self, before: 'Plant') -> None:
        """Take over state, wrenches and devices of another plant of the arm."""
        self.reset(before.q, before.v)
        for frame, wrench in before.wrenches.items():
            self.apply_wrench(frame, wrench)
        self.devices.continue_from(before.devices)
        readings = before.measured
        if not self.devices.changes_joint_readings:
            readings = readings._replace(q=self.sensed[0], v=self.sensed[1])
        self.measured = readings.read_only()

    def step(self, command: Array) -> None:
        """Send `command` (n,) to the drives, which act on the joints over one control period.

        A control period has `control_decimation` integration steps.
        """
        self._hold(self.devices.sent(command))

    def brake(self, command: Array) -> None:
        """Hold `command` (n,) over one period, without delay or compensation of the drives."""
        self.devices.braked()
        self._hold(command)

    def _hold(self, command: Array) -> None:
        """Let a command (n,) of the drives act over one period, then read all sensors."""
        devices = self.devices
        devices.act(command, self._act)
        if self.link_motion is not None and self._before is not None:
            a = self._acceleration(self._before)
            self._update_motion(self.link_motion, a, self.external_forces())
        if devices.has_readings:
            self.measured = devices.read(Measurement(*self.sensed)).read_only()

    def _act(self, command: Array) -> None:
        """Hold `command` (n,) on the joints over one period; find the mean effort."""
        if self._mean_effort is None:
            self.act(command)
            return
        start = self._mean_effort.start(self.q, self.v)
        self.act(command)
        self.effort[:] = self._mean_effort.of(command, start, self.q, self.v)

    def _acceleration(self, before: Array) -> Array:
        """Return dv/dt (n,) at the end of a period; `before`: v before the last step."""
        return (self.v - before) / self.integration_step

    def _update_motion(self, motion: LinkLoads, a: Array, external: External | None) -> None:
        n = a.shape[-1]
        q, v, a = (np.ascontiguousarray(each).reshape(-1, n) for each in (self.q, self.v, a))
        motion.update(q, v, a, external)

    def act(self, command: Array) -> None:
        """Hold `command` (n,) on the joints over one control period.

        With drive trains: hold torques on the links over one step of the joints.
        """
        raise NotImplementedError

    def set_damping(self, damping: Array) -> None:
        """Damp the joints by `damping` (n,) [N.m.s/rad | N.s/m] from now on, implicitly."""
        raise NotImplementedError

    def sensed_rows(self) -> tuple[Array, Array]:
        """Return position and velocity at the encoders with a row per arm (N, n)."""
        n = len(self.joint_names)
        q, v = self.sensed
        return q.reshape(-1, n), v.reshape(-1, n)

    @property
    def integration_step(self) -> float:
        """The integration step [s]."""
        return self.parameters.timestep / self.parameters.joint_substeps

    def external_forces(self) -> External | None:
        """Return what acted on the links in the last integration step; None: nothing.

        Pushes, here; engines with contacts add them.
        """
        if not self.wrenches:
            return None
        rows, place = self.sensed_rows()[0], self._model.forward_kinematics
        found = np.empty((len(rows), len(self.wrenches), 6))
        for k, (frame, wrench) in enumerate(self.wrenches.items()):
            found[:, k] = wrench
            origins = np.array([place(q, frame).translation for q in rows])
            found[:, k, 3:] += np.cross(origins, found[:, k, :3])
        return External(tuple(self.wrenches), found)

    def apply_wrench(self, frame: str, wrench: ArrayLike) -> None:
        """Apply a wrench to a frame until the next call for this frame.

        Args:
            frame: name of a link.
            wrench: (6,) force [N] and torque [N.m] at the frame's origin, in base-aligned axes;
                zeros end it. Of N arms also (N, 6).
        """
        self._model.frame_id(frame)
        shape = (6,) if np.ndim(wrench) == 1 else (*self.arms, 6)
        wrenches = {**self.wrenches, frame: finite(f'wrench on {frame!r}', wrench, shape)}
        self._set_wrenches({name: each for name, each in wrenches.items() if each.any()})

    def _set_wrenches(self, wrenches: dict[str, Array]) -> None:
        self.wrenches = wrenches

    def mass_matrix(self) -> Array:
        """Return M(q) + armature (n x n) as the engine has it."""
        return self._model.mass_matrix(self.q)

    def joint_friction(self) -> tuple[Array, Array]:
        """Return damping (n,) and Coulomb friction (n,) of the joints as the engine has them."""
        return self._model.damping, self._model.friction

    def bias_torque(self) -> Array:
        """Return C(q, v) v + g(q) (n,) as the engine has it."""
        return self._model.bias_torque(self.q, self.v)


# An engine is a file of arm_sim/engines with a class MyEnginePlant, or an entry point. Its module
# is imported when the engine is used: each needs libraries that the others do without.
ENGINES = PluginRegistry(
    'engine', 'arm_sim.engines', 'arm_sim.engines', base=Plant, suffix='Plant'
)
engine_names = ENGINES.names  # returns the names of all engines, sorted; imports none
plant_class = ENGINES.load  # returns the class of an engine; ArmError: there is no such engine

# The engines with rigid-body dynamics of this package, which tests compare with each other.
RIGID_BODY_ENGINES = ('mujoco', 'analytical')


def engine_classes(names: Iterable[str]) -> dict[str, type[Plant]]:
    """Return the classes of engines by name, without those that cannot be imported."""
    found = {}
    for name in names:
        with suppress(ArmError):
            found[name] = plant_class(name)
    return found
